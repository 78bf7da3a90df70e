package load

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locbench/internal/bench"
	"locbench/internal/goruntime"
	"locbench/internal/hdr"
)

func TestMain(m *testing.M) {
	if os.Getenv(serverEnv) != "" {
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	if words := os.Getenv(clientEnv); words != "" {
		if err := client(words); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	goruntime.Start(0) // as every process that drives load
	goleak.VerifyTestMain(m)
}

// portableEnv makes all tests run the portable loop.
const portableEnv = "LOCBENCH_LOAD_TEST_PORTABLE"

// Both loops keep the same promises: whatever is tested of the one that this system chooses holds
// for the portable one.
func TestPortableLoop(t *testing.T) {
	if os.Getenv(portableEnv) != "" {
		t.Skip("this is the portable loop")
	}
	if runtime.GOOS != "linux" {
		t.Skip("this system has no other loop")
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestRun|^TestOpenLoop|^TestHooks|^TestOnEnd|^TestLastWindow|^TestOpenLoop|^TestArrivals|^TestRate|^TestStall|^TestBodies|^TestChecking|^TestConnections|^TestKept")
	command.Env = append(os.Environ(), portableEnv+"=1")
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// epollEnv makes all tests keep to epoll.
const epollEnv = "LOCBENCH_LOAD_TEST_EPOLL"

// The faster loop keeps them with io_uring and with epoll.
func TestEpollLoop(t *testing.T) {
	if os.Getenv(epollEnv) != "" || os.Getenv(portableEnv) != "" {
		t.Skip("this is another loop")
	}
	if err := HasLoop(LoopRing); err != nil {
		t.Skip("SKIP: without io_uring all tests are of epoll: ", err)
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestRun|^TestConnections|^TestKept|^TestHostile|^TestLatency")
	command.Env = append(os.Environ(), epollEnv+"=1")
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// chosen is e with the loop that is tested.
func chosen(e Engine) Engine {
	e.Epoll = e.Epoll || os.Getenv(epollEnv) != ""
	e.Portable = e.Portable || os.Getenv(portableEnv) != ""
	return e
}

// plan is a plain plan for tests: GET /city?id=… over n connections.
func plan(url string, connections int, duration time.Duration) Plan {
	return Plan{
		BaseURL:  url,
		Step:     bench.Step{Name: fmt.Sprint(connections, " connections"), Connections: connections, Duration: duration},
		Requests: []bench.Request{{Name: "get", Path: "/city?id={id}", ExpectStatus: 200}},
		IDs:      []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
		Timeout:  5 * time.Second,
		Seed:     1,
	}
}

// run puts p on its server and checks what holds for every result.
func run(t *testing.T, e Engine, p Plan) bench.Load {
	t.Helper()
	e = chosen(e)
	var got []bench.Window
	l, err := e.Run(t.Context(), p, func(w bench.Window) { got = append(got, w) })
	if err != nil {
		t.Fatal(err)
	}
	consistent(t, l, got)
	if l.Sent != l.AllSucceeded()+l.FailedTotal() {
		t.Errorf("%d sent, but %d + %d + %d succeeded and %d failed", l.Sent, l.Lead, l.Succeeded, l.Drain, l.FailedTotal())
	}
	return l
}

// consistent checks that the parts of a result agree.
func consistent(t *testing.T, l bench.Load, got []bench.Window) {
	t.Helper()
	var succeeded, bytes, failed int64
	end := time.Duration(0)
	for i, w := range l.Windows {
		succeeded += w.Succeeded
		bytes += w.Bytes
		for _, n := range w.Failed {
			failed += n
		}
		if w.Start != end || w.Drain {
			t.Errorf("window %d starts at %s, the one before ended at %s", i, w.Start, end)
		}
		end = w.Start + w.Length
	}
	if end != l.Elapsed {
		t.Errorf("the windows end at %s, the interval at %s", end, l.Elapsed)
	}
	if succeeded != l.Succeeded || bytes != l.Bytes || failed > l.FailedTotal() {
		t.Errorf("windows have %d successes, %d bytes, %d failures; the step %d, %d, %d", succeeded, bytes, failed, l.Succeeded, l.Bytes, l.FailedTotal())
	}
	if fmt.Sprint(got) != fmt.Sprint(l.Windows) {
		t.Errorf("reported windows %v, kept %v", got, l.Windows)
	}
	if l.Latency.Count != l.Succeeded || l.Timeouts.Count != l.Failed[bench.ErrTimeout] || l.Timeouts.Count+l.Failures.Count != l.FailedTotal() {
		t.Errorf("%d latencies of %d successes, %d of time-outs and %d of others in %v",
			l.Latency.Count, l.Succeeded, l.Timeouts.Count, l.Failures.Count, l.Failed)
	}
	for _, latencies := range []bench.Latencies{l.Latency, l.Timeouts, l.Failures} {
		if _, err := hdr.Decode(latencies); err != nil {
			t.Error(err)
		}
	}
	for kind := range l.Failed {
		if l.Examples[kind] == "" {
			t.Errorf("no example of %q", kind)
		}
	}
}

// counting is a server that counts its answers by status and its connections.
type counting struct {
	*httptest.Server
	mu          sync.Mutex
	statuses    map[int]int64
	connections atomic.Int64
}

func newCounting(t *testing.T, handler func(w http.ResponseWriter, r *http.Request) (status int)) *counting {
	t.Helper()
	c := &counting{statuses: map[int]int64{}}
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := handler(w, r)
		c.mu.Lock()
		c.statuses[status]++
		c.mu.Unlock()
	}))
	c.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			c.connections.Add(1)
		}
	}
	c.Start()
	t.Cleanup(c.Close)
	return c
}

func (c *counting) count(status int) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.statuses[status]
}

func hello(w http.ResponseWriter, _ *http.Request) int {
	io.WriteString(w, "hello")
	return 200
}

func TestRunCountsWhatTheServerAnswered(t *testing.T) {
	for _, connections := range []int{1, 2, 16, 200, 2048} {
		t.Run(fmt.Sprint(connections), func(t *testing.T) {
			// The server's ends of the connections are in this process, too.
			if err := CheckLimits(2 * connections); err != nil {
				t.Skip(err)
			}
			server := newCounting(t, hello)
			l := run(t, Engine{}, plan(server.URL, connections, 300*time.Millisecond))
			// The server may still answer a request whose time was over: on a machine that stalls
			// one connection can wait for ten seconds.
			late := l.FailedTotal()
			if n := server.count(200); l.AllSucceeded() > n || l.AllSucceeded()+late < n || l.Failed[bench.ErrTimeout] != late || l.Succeeded == 0 {
				t.Errorf("%d succeeded (%d in the lead-in, %d in the interval, %d in the drain), %d cut off, failed %v; the server answered %d", l.AllSucceeded(), l.Lead, l.Succeeded, l.Drain, l.Cut, l.Failed, server.count(200))
			}
			if l.Bytes != 5*l.Succeeded {
				t.Errorf("%d bytes in %d answers of 5", l.Bytes, l.Succeeded)
			}
			// A machine that stalls may not get round to all connections in so short a step.
			if n := server.connections.Load(); n > int64(connections) || n < int64(connections) && l.Sent >= int64(connections) {
				t.Errorf("%d connections for %d requests, want %d", n, l.Sent, connections)
			}
			if l.Elapsed != 300*time.Millisecond || l.Started.IsZero() || l.ClientCPU <= 0 || l.Scheduled != l.Sent {
				t.Errorf("elapsed %s, started %s, client CPU %s, scheduled %d, sent %d", l.Elapsed, l.Started, l.ClientCPU, l.Scheduled, l.Sent)
			}
		})
	}
}

func TestRunTellsErrorsFromSuccesses(t *testing.T) {
	var n atomic.Int64
	followed := false
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		if r.URL.Path == "/followed" {
			followed = true
		}
		status := []int{200, 404, 200, 503, 302, 200, 204}[n.Add(1)%7]
		if status == 302 {
			w.Header().Set("Location", "/followed")
		}
		w.WriteHeader(status)
		if status != 204 {
			fmt.Fprintf(w, "status\x1b[31m %d", status)
		}
		return status
	})
	l := run(t, Engine{}, plan(server.URL, 8, 300*time.Millisecond))
	if l.AllSucceeded() != server.count(200) {
		t.Errorf("%d succeeded, the server answered %d", l.Succeeded, server.count(200))
	}
	for status, kind := range map[int]bench.ErrorKind{404: "4xx", 503: "5xx", 302: "3xx", 204: "2xx"} {
		if l.Failed[kind] != server.count(status) || l.Failed[kind] == 0 {
			t.Errorf("%d of kind %s, the server answered %d", l.Failed[kind], kind, server.count(status))
		}
	}
	if followed {
		t.Error("followed a redirect")
	}
	if got, want := l.Examples["5xx"], "503 Service Unavailable status [31m 503"; got != want {
		t.Errorf("example %q, want %q", got, want)
	}
	if n := server.connections.Load(); n != 8 {
		t.Errorf("%d connections: unwanted answers must not close them", n)
	}
}

func TestRunCompletesWhatIsInFlightAtTheEnd(t *testing.T) {
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		time.Sleep(120 * time.Millisecond)
		return hello(w, r)
	})
	l := run(t, Engine{}, plan(server.URL, 10, 300*time.Millisecond))
	if l.AllSucceeded() != server.count(200) || l.Drain == 0 || l.Drain > 10 || l.Lead < 10 || l.Backlog < 1 || l.Backlog > l.Drain {
		t.Errorf("%d + %d + %d succeeded, backlog %d, the server answered %d", l.Lead, l.Succeeded, l.Drain, l.Backlog, server.count(200))
	}
	// Two or three answers of each of 10 connections lie in 300 ms.
	if l.Elapsed != 300*time.Millisecond || l.Succeeded > 30 {
		t.Errorf("%d succeeded in %s", l.Succeeded, l.Elapsed)
	}
}

func TestRunIsNotStretchedByAStraggler(t *testing.T) {
	var n atomic.Int64
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		if n.Add(1) == 25 {
			time.Sleep(2 * time.Second)
		} else {
			time.Sleep(5 * time.Millisecond)
		}
		return hello(w, r)
	})
	l := run(t, Engine{}, plan(server.URL, 20, 300*time.Millisecond))
	if l.AllSucceeded() != server.count(200) || l.Elapsed != 300*time.Millisecond || l.Latency.Max >= 2*time.Second || l.Drain == 0 {
		t.Errorf("%d + %d + %d succeeded, the server answered %d; elapsed %s, the longest took %s",
			l.Lead, l.Succeeded, l.Drain, server.count(200), l.Elapsed, l.Latency.Max)
	}
}

func TestRunEndsWithItsRequests(t *testing.T) {
	for _, max := range []int64{1, 3, 1000} {
		server := newCounting(t, hello)
		p := plan(server.URL, 4, time.Minute)
		p.Step.MaxRequests = max
		l := run(t, Engine{}, p)
		if l.Sent != max || l.Succeeded != max || server.count(200) != max {
			t.Errorf("at most %d requests: %d sent, %d succeeded, the server answered %d", max, l.Sent, l.Succeeded, server.count(200))
		}
		if l.Elapsed <= 0 || l.Elapsed > 30*time.Second {
			t.Errorf("elapsed %s", l.Elapsed)
		}
		if n := server.connections.Load(); n != min(max, 4) {
			t.Errorf("%d connections for %d requests", n, max)
		}
	}
}

func TestRunKeepsAnswersOfOneMegabyte(t *testing.T) {
	body := strings.Repeat("x", 1<<20)
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		io.WriteString(w, body)
		return 200
	})
	l := run(t, Engine{}, plan(server.URL, 4, 300*time.Millisecond))
	if l.AllSucceeded() != server.count(200) || l.Bytes != l.Succeeded<<20 || l.Succeeded == 0 {
		t.Errorf("%d succeeded with %d bytes, the server answered %d", l.Succeeded, l.Bytes, server.count(200))
	}
}

func TestRunSpeaksTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hello(w, r) }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the handshakes that fail here are meant to
	server.StartTLS()
	defer server.Close()
	p := plan(server.URL, 2, 200*time.Millisecond)
	trusted := Engine{TLS: server.Client().Transport.(*http.Transport).TLSClientConfig}
	if l := run(t, trusted, p); l.Succeeded == 0 || len(l.Failed) > 0 {
		t.Errorf("%d succeeded, failed: %v %v", l.Succeeded, l.Failed, l.Examples)
	}
	if l := run(t, Engine{}, p); l.Succeeded != 0 || !strings.Contains(l.Examples[bench.ErrOther], "certificate") {
		t.Errorf("%d succeeded with an unknown certificate, failed: %v %v", l.Succeeded, l.Failed, l.Examples)
	}
}

func TestRunDoesNotWaitForItsListener(t *testing.T) {
	server := newCounting(t, hello)
	var calls int
	l, err := chosen(Engine{Window: 20 * time.Millisecond}).Run(t.Context(), plan(server.URL, 2, time.Second), func(bench.Window) {
		calls++
		if calls > 1 {
			return
		}
		// The listener holds on until the load has gone on for a while.
		before := server.count(200)
		for deadline := time.Now().Add(10 * time.Second); server.count(200) < before+100; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Error("the listener held up the load")
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if calls != len(l.Windows) || calls < 2 {
		t.Errorf("%d calls for %d windows", calls, len(l.Windows))
	}
}
