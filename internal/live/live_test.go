package live

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"locbench/internal/bench"
	"locbench/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a server under test.
type site struct {
	address string
	network *testenv.Memory
	client  *http.Client
	stop    context.CancelFunc
	ended   chan error
	events  chan []bench.Record
	drawn   atomic.Int64
}

// start starts one in memory, so that time can be virtual.
func start(t *testing.T) *site {
	t.Helper()
	l := testenv.NewMemory()
	transport := &http.Transport{DialContext: l.DialContext}
	ctx, cancel := context.WithCancel(t.Context())
	s := &site{address: l.Addr().String(), network: l, client: &http.Client{Transport: transport}, stop: cancel, ended: make(chan error, 1), events: make(chan []bench.Record)}
	go func() {
		s.ended <- Serve(ctx, Options{
			Listener: l,
			Render:   func() ([]byte, error) { return fmt.Appendf(nil, "page %d", s.drawn.Add(1)), nil },
			Follow: func(ctx context.Context, _ int64, handle func([]bench.Record) error) error {
				for {
					select {
					case <-ctx.Done():
						return ctx.Err()
					case batch := <-s.events:
						if err := handle(batch); err != nil {
							return err
						}
					}
				}
			},
			Running: func() bool { return false },
		})
	}()
	t.Cleanup(func() {
		cancel()
		transport.CloseIdleConnections()
		select {
		case err := <-s.ended:
			if err != nil {
				t.Errorf("the server ended with %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the server does not end")
		}
	})
	return s
}

// ask sends exactly these bytes and returns the status line and the rest of the answer.
func (s *site) ask(t *testing.T, request string) (status, rest string) {
	t.Helper()
	c, err := s.network.DialContext(t.Context(), "tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	defer writing.Wait()
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	writing.Go(func() { _, _ = io.WriteString(c, request) }) // the answer may come before all of it is read
	r := bufio.NewReader(c)
	status, _ = r.ReadString('\n')
	data, _ := io.ReadAll(io.LimitReader(r, 1<<20))
	return strings.TrimSpace(status), string(data)
}

func TestHostileRequests(t *testing.T) {
	address := testenv.NewMemory().Addr().String()
	_, port, _ := net.SplitHostPort(address)
	get := func(path, host string, more ...string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + strings.Join(more, "") + "\r\n"
	}
	for what, c := range map[string]struct{ request, want string }{
		"the shell":                 {get("/", address), "200"},
		"the report":                {get("/report", address), "200"},
		"by name":                   {get("/report", "LocalHost:"+port), "200"},
		"typed into a browser":      {get("/", address, "Sec-Fetch-Site: none\r\n"), "200"},
		"only its head":             {"HEAD /report HTTP/1.1\r\nHost: " + address + "\r\nConnection: close\r\n\r\n", "200"},
		"another name":              {get("/", "evil.example:"+port), "421"},
		"the right name elsewhere":  {get("/", "127.0.0.1:1"), "421"},
		"without its port":          {get("/", "127.0.0.1"), "421"},
		"a name that begins alike":  {get("/", address+".evil.example"), "421"},
		"no name":                   {"GET / HTTP/1.0\r\n\r\n", "421"},
		"as of a proxy":             {get("http://evil.example/report", address), "421"},
		"from another site":         {get("/report", address, "Sec-Fetch-Site: cross-site\r\n"), "403"},
		"from another port":         {get("/events", address, "Sec-Fetch-Site: same-site\r\n"), "403"},
		"writing":                   {"POST /report HTTP/1.1\r\nHost: " + address + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "405"},
		"deleting":                  {"DELETE / HTTP/1.1\r\nHost: " + address + "\r\nConnection: close\r\n\r\n", "405"},
		"a tunnel":                  {"CONNECT evil.example:443 HTTP/1.1\r\nHost: " + address + "\r\nConnection: close\r\n\r\n", "421"},
		"out of the folder":         {get("/../../etc/passwd", address), "404"},
		"out of it, encoded":        {get("/report/%2e%2e/run.json", address), "404"},
		"a file of it":              {get("/run.json", address), "404"},
		"a folder":                  {get("/report/", address), "404"},
		"two slashes":               {get("//report", address), "404"},
		"a long header":             {get("/", address, "X: "+strings.Repeat("x", 64<<10)+"\r\n"), "431"},
		"no request":                {"\x16\x03\x01\x02\x00\r\n\r\n", "400"},
		"two lengths of a request":  {get("/", address, "Content-Length: 1\r\nContent-Length: 2\r\n"), "400"},
		"a name in a second header": {get("/", address, "Host: evil.example\r\n"), "400"},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t)
				status, rest := s.ask(t, c.request)
				if !strings.Contains(status, " "+c.want) {
					t.Errorf("%s: %q, want %s", what, status, c.want)
				}
				if strings.HasPrefix(c.want, "2") || c.want == "404" {
					for _, want := range []string{"Content-Security-Policy: ", "X-Content-Type-Options: nosniff", "Cross-Origin-Resource-Policy: same-origin", "X-Frame-Options: ", "Cache-Control: no-store"} {
						if !strings.Contains(rest, want) {
							t.Errorf("%s: no %q in the answer", what, want)
						}
					}
				}
				if strings.Contains(rest, "root:") || strings.Contains(rest, "Access-Control") {
					t.Errorf("%s: %.200s", what, rest)
				}
			})
		})
	}
}

func TestListenOnLoopbackAlone(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:0", "8.8.8.8:80", "127.0.0.1", "", "127.0.0.1.evil.example:0", "[::ffff:192.0.2.1]:0"} {
		if l, err := Listen(t.Context(), address); err == nil {
			l.Close()
			t.Errorf("%q is listened on", address)
		}
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0", "127.1.2.3:0"} {
		l, err := Listen(t.Context(), address)
		if err != nil {
			t.Errorf("%q: %v", address, err)
			continue
		}
		l.Close()
	}
}

// follower opens the stream of events.
func (s *site) follower(t *testing.T) (*http.Response, *bufio.Scanner) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp, bufio.NewScanner(resp.Body)
}

// until reads lines up to one that holds the text.
func until(t *testing.T, lines *bufio.Scanner, text string) {
	t.Helper()
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return
		}
	}
	t.Fatalf("no %q before the end: %v", text, lines.Err())
}

func TestFollowersAreToldAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		_, lines := s.follower(t)
		until(t, lines, "data: 0") // the first page
		leg := bench.Leg{Contender: "a<b>\x1b", Round: 1}
		at := func(seq int64, e bench.Event) bench.Record { return bench.Record{Seq: seq, Leg: &leg, Event: e} }
		s.events <- []bench.Record{at(1, bench.LegStarted{Number: 1, Of: 2}), at(2, bench.StepStarted{Of: 3, Step: bench.Step{Name: "64 connections"}})}
		until(t, lines, `step 1 of 3: 64 connections`)
		s.events <- []bench.Record{at(3, bench.WindowClosed{Window: bench.Window{Length: time.Second, Succeeded: 1234, P50: time.Millisecond, P99: 2 * time.Millisecond}})}
		until(t, lines, `1,234 req/s, p50 1.00 ms, p99 2.00 ms`)
		s.events <- []bench.Record{at(4, bench.StepEnded{})}
		until(t, lines, "data: 1") // a new page
		if n := s.drawn.Load(); n != 0 {
			t.Errorf("the page was drawn %d times, though nobody has asked for it", n)
		}

		for range maxFollowers - 1 {
			if resp, _ := s.follower(t); resp.StatusCode != http.StatusOK {
				t.Fatalf("a follower gets %s", resp.Status)
			}
		}
		resp, _ := s.follower(t)
		if resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("one follower too many gets %s", resp.Status)
		}
		s.stop()
		until(t, lines, "event: end")
	})
}

// A page is drawn once for each state of the results, however many ask.
func TestPagesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		for range 3 {
			if _, rest := s.ask(t, "GET /report HTTP/1.1\r\nHost: "+s.address+"\r\nConnection: close\r\n\r\n"); !strings.HasSuffix(rest, "page 1") {
				t.Fatalf("%q", rest)
			}
		}
	})
}
