package ready

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locbench/internal/bench"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// instance is the part of an instance that Wait looks at.
type instance struct {
	bench.Instance
	url     string
	started time.Time
	exited  chan struct{}
	exit    *bench.Exit
	logs    []bench.LogLine
}

func (i *instance) BaseURL() string          { return i.url }
func (i *instance) Info() bench.InstanceInfo { return bench.InstanceInfo{StartedAt: i.started} }
func (i *instance) Exited() <-chan struct{}  { return i.exited }
func (i *instance) Exit() *bench.Exit        { return i.exit }
func (i *instance) Logs() []bench.LogLine    { return i.logs }

func TestAnyAnswerCounts(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.RequestURI() != "/health?x=1" {
			t.Errorf("asked for %s", r.URL.RequestURI())
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer s.Close()
	for _, path := range []string{"/health?x=1", "health?x=1"} {
		i := &instance{url: s.URL, started: time.Now().Add(-time.Hour), exited: make(chan struct{})}
		d, err := Wait(t.Context(), i, path, 10*time.Second, nil)
		if err != nil || d < time.Hour || d > time.Hour+time.Minute {
			t.Errorf("%v, %v; want an hour from its start", d, err)
		}
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("asked %d times, want once each", n)
	}
	redirect := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:1/", http.StatusFound))
	defer redirect.Close()
	if _, err := Wait(t.Context(), &instance{url: redirect.URL, exited: make(chan struct{})}, "/", 10*time.Second, nil); err != nil {
		t.Errorf("a redirect is an answer: %v", err)
	}
}

func TestLateListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	started := time.Now()
	served := make(chan struct{})
	var server http.Server
	go func() {
		defer close(served)
		time.Sleep(100 * time.Millisecond)
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Error(err)
			return
		}
		server.Serve(l)
	}()
	d, err := Wait(t.Context(), &instance{url: "http://" + addr, started: started, exited: make(chan struct{})}, "/", 20*time.Second, nil)
	if err != nil || d < 100*time.Millisecond {
		t.Errorf("%v, %v", d, err)
	}
	server.Close()
	<-served
}

func TestTimeout(t *testing.T) {
	hangs, err := net.Listen("tcp", "127.0.0.1:0") // accepts by its backlog and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer hangs.Close()
	resets := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer resets.Close()
	for url, want := range map[string]string{
		"http://127.0.0.1:1":               "last answer of GET /: connection refused",
		"http://" + hangs.Addr().String():  "last answer of GET /: none",
		resets.URL:                         "last answer of GET /: connection closed without an answer",
		"http://name.invalid\x1b[31m:bad/": "last answer of GET /: ",
		"http://127.0.0.1:0":               "last answer of GET /: ",
	} {
		t.Run(url, func(t *testing.T) {
			began := time.Now()
			_, err := Wait(t.Context(), &instance{url: url, exited: make(chan struct{})}, "/", 150*time.Millisecond, nil)
			if err == nil || !strings.Contains(err.Error(), "not ready after 150ms: "+want) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%q: %v, want %q", url, err, want)
			}
			if time.Since(began) > 4*time.Second {
				t.Errorf("%q: the time-out took %v", url, time.Since(began))
			}
		})
	}
}

func TestExit(t *testing.T) {
	started := time.Now().Add(-120 * time.Millisecond)
	logs := []bench.LogLine{{Text: "first"}}
	for n := range 20 {
		logs = append(logs, bench.LogLine{Text: fmt.Sprintf("line %d\x1b[31m", n)})
	}
	i := &instance{
		url: "http://127.0.0.1:1", started: started, exited: make(chan struct{}), logs: logs,
		exit: &bench.Exit{Code: 3, At: started.Add(120 * time.Millisecond)},
	}
	close(i.exited)
	_, err := Wait(t.Context(), i, "/", time.Minute, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "exited: exit code 3 after 120ms; last log lines:\n  line 12") ||
		!strings.HasSuffix(err.Error(), "line 19␛[31m") {
		t.Errorf("%v", err)
	}
	i.logs, i.exit = nil, &bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true, At: started}
	if _, err := Wait(t.Context(), i, "/", time.Minute, nil); err == nil || err.Error() != "exited: killed by SIGKILL (out of memory) after 0s; it wrote no log" {
		t.Errorf("%v", err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	if _, err := Wait(ctx, &instance{url: "http://127.0.0.1:1", exited: make(chan struct{})}, "/", time.Minute, nil); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}
