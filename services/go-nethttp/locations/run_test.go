package locations

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestConfigFromEnv(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want string // "port store accesslog", or part of the error
	}{
		{map[string]string{"ELASTICSEARCH_URL": "http://es:9200"}, "8080 http://es:9200 true"},
		{map[string]string{"ELASTICSEARCH_URL": "https://u:p@es/path/", "PORT": "0", "ACCESS_LOG": "off"}, "0 https://u:p@es/path/ false"},
		{map[string]string{"ELASTICSEARCH_URL": "http://es", "ACCESS_LOG": "on"}, "8080 http://es true"},
		{map[string]string{}, "ELASTICSEARCH_URL is not set"},
		{map[string]string{"ELASTICSEARCH_URL": "es:9200"}, "ELASTICSEARCH_URL is malformed"},
		{map[string]string{"ELASTICSEARCH_URL": "ftp://es"}, "ELASTICSEARCH_URL is malformed"},
		{map[string]string{"ELASTICSEARCH_URL": "http://:9200"}, "ELASTICSEARCH_URL is malformed"},
		{map[string]string{"ELASTICSEARCH_URL": "http://%zz"}, "ELASTICSEARCH_URL is malformed"},
		{map[string]string{"ELASTICSEARCH_URL": "http://es", "PORT": "eighty"}, `PORT is "eighty"`},
		{map[string]string{"ELASTICSEARCH_URL": "http://es", "PORT": "65536"}, `PORT is "65536"`},
		{map[string]string{"ELASTICSEARCH_URL": "http://es", "PORT": "-1"}, `PORT is "-1"`},
		{map[string]string{"ELASTICSEARCH_URL": "http://es", "LISTEN": "myhost"}, `LISTEN is "myhost"`},
	} {
		cfg, err := ConfigFromEnv(func(k string) string { return tt.env[k] }, io.Discard)
		got := fmt.Sprintf("%d %s %t", cfg.Port, cfg.Store, cfg.AccessLog)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%v: %s, want %s", tt.env, got, tt.want)
		}
	}
}

// running is a service between its start and its stop.
type running struct {
	base string
	log  *logBuffer
	stop context.CancelFunc
	end  chan error
}

func start(t *testing.T, store string, accessLog bool) *running {
	t.Helper()
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{log: new(logBuffer), stop: cancel, end: make(chan error, 1)}
	go func() { r.end <- Run(ctx, Config{Store: u, AccessLog: accessLog, Log: r.log}) }()
	port := regexp.MustCompile(`listening on port (\d+),`)
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		if m := port.FindStringSubmatch(r.log.String()); m != nil {
			r.base = "http://127.0.0.1:" + m[1]
			return r
		}
		if time.Now().After(deadline) {
			t.Fatalf("not started: %s", r.log)
		}
	}
}

func (r *running) stopped(t *testing.T) {
	t.Helper()
	r.stop()
	if err := <-r.end; err != nil {
		t.Errorf("Run: %v", err)
	}
}

// TestMalformedRequests asks what net/http answers by itself; a text that looks so within an answer stays as it is.
func TestMalformedRequests(t *testing.T) {
	s := start(t, newFakeElastic(t).URL, false)
	defer s.stopped(t)
	for _, request := range []string{"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", "garbage\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		var told struct{ Message string }
		err = json.NewDecoder(resp.Body).Decode(&told)
		if err != nil || resp.StatusCode != 400 || resp.Header.Get("Content-Type") != "application/json" || !strings.HasPrefix(told.Message, "request: 400 Bad Request") {
			t.Errorf("%q: %s %v %+v, %v", request, resp.Status, resp.Header, told, err)
		}
	}
	other := "HTTP/1.1 400 Bad Request\r\nDate: today\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\nx"
	here, there := net.Pipe()
	go func() {
		defer here.Close()
		(&malformedConn{here}).Write([]byte(other))
	}()
	if got, err := io.ReadAll(there); err != nil || string(got) != other {
		t.Errorf("another answer has become %q, %v", got, err)
	}
}

func TestRunStopsGracefully(t *testing.T) {
	s := start(t, newFakeElastic(t).URL, true)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			resp, err := client.Get(s.base + "/v1/benchmark?delay=300")
			if err != nil {
				t.Errorf("a request in flight: %v", err)
				return
			}
			defer resp.Body.Close()
			if body, err := io.ReadAll(resp.Body); resp.StatusCode != 200 || len(body) != 0 || err != nil {
				t.Errorf("%s %q %v", resp.Status, body, err)
			}
		})
	}
	time.Sleep(100 * time.Millisecond) // they are in flight
	s.stopped(t)
	wg.Wait()
	if n := strings.Count(s.log.String(), " GET /v1/benchmark?delay=300 200 "); n != 5 {
		t.Errorf("%d of 5 requests logged in\n%s", n, s.log)
	}
	if !strings.HasSuffix(s.log.String(), " stopped\n") {
		t.Errorf("logged %s", s.log)
	}
	if _, err := client.Get(s.base + "/"); err == nil {
		t.Error("it still answers")
	}
}

func TestRunWithoutRequestLog(t *testing.T) {
	s := start(t, newFakeElastic(t).URL, false)
	resp, err := http.Get(s.base + "/canary")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	s.stopped(t)
	if strings.Contains(s.log.String(), "canary") {
		t.Errorf("logged %s", s.log)
	}
}

func TestRunDoesNotStart(t *testing.T) {
	elastic := newFakeElastic(t)
	taken, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	run := func(t *testing.T, store string, port int) string {
		u, err := url.Parse(store)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Second, fmt.Errorf("the test waited long enough"))
		defer cancel()
		var log logBuffer
		err = Run(ctx, Config{Store: u, Port: port, Log: &log})
		if err == nil {
			t.Fatal("no error")
		}
		if log.String() != "" {
			t.Errorf("logged %s", log.String())
		}
		return err.Error()
	}
	t.Run("nobody listens there", func(t *testing.T) {
		gone := newFakeElastic(t)
		gone.Close()
		got := run(t, strings.Replace(gone.URL, "http://", "http://user:secret@", 1), 0)
		if !strings.Contains(got, "reach Elasticsearch at http://user:xxxxx@127.0.0.1:") || !strings.Contains(got, "connection refused") || strings.Contains(got, "secret") {
			t.Error(got)
		}
	})
	t.Run("it is no Elasticsearch that wants us", func(t *testing.T) {
		refuses := newFakeElastic(t)
		refuses.breaks(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) })
		if got := run(t, refuses.URL, 0); !strings.Contains(got, "GET /: status 401") {
			t.Error(got)
		}
	})
	t.Run("the port is taken", func(t *testing.T) {
		if got := run(t, elastic.URL, taken.Addr().(*net.TCPAddr).Port); !strings.Contains(got, "address already in use") {
			t.Error(got)
		}
	})
	t.Run("it hangs", func(t *testing.T) {
		hangs, done := newFakeElastic(t), make(chan struct{})
		defer close(done)
		hangs.breaks(func(http.ResponseWriter, *http.Request) { <-done })
		u, _ := url.Parse(hangs.URL)
		ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, fmt.Errorf("out of patience"))
		defer cancel()
		if err := Run(ctx, Config{Store: u, Log: io.Discard}); err == nil || !strings.Contains(err.Error(), "out of patience") {
			t.Error(err)
		}
	})
}

// Connections to the store are kept: a second burst of requests opens none.
func TestStoreConnectionsAreKept(t *testing.T) {
	elastic := newFakeElastic(t)
	s := start(t, elastic.URL, false)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 200}}
	defer client.CloseIdleConnections()
	burst := func() int {
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				resp, err := client.Get(s.base + "/city/v1/get?id=1&language=cs")
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				if body, _ := io.ReadAll(resp.Body); string(body) != praha {
					t.Errorf("%s %s", resp.Status, body)
				}
			})
		}
		wg.Wait()
		_, _, conns := elastic.asked()
		return conns
	}
	// All must be in flight at the same time once, so that there are as many connections as requests.
	gate := make(chan struct{})
	elastic.breaks(func(w http.ResponseWriter, r *http.Request) {
		<-gate
		elastic.breaks(nil)
		elastic.ServeHTTP(w, r)
	})
	time.AfterFunc(300*time.Millisecond, func() { close(gate) })
	first := burst()
	for range 5 {
		if now := burst(); now > first {
			t.Errorf("%d connections after the first burst, %d after another", first, now)
		}
	}
	s.stopped(t)
}
