package load

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/load/fast"
	"github.com/locbench/locbench/internal/testenv"
)

// driver is one way to drive load.
type driver struct {
	name   string
	engine Engine
}

// loops returns all drivers, with the names of Load.Loop.
func loops() []driver {
	return []driver{
		{bench.LoopRing, Engine{Name: bench.EngineFast}}, {bench.LoopEpoll, Engine{Name: bench.EngineEpoll}},
		{bench.LoopVegeta, Engine{Name: bench.EngineVegeta}},
	}
}

// hasLoop returns why this machine cannot run a loop; nil if it can.
func hasLoop(name string) error {
	if name == bench.LoopVegeta {
		return nil
	}
	return fast.Has(name == bench.LoopRing)
}

// eachLoop runs a test with each loop that this system has: all give the same guarantees.
func eachLoop(t *testing.T, test func(t *testing.T, e Engine)) {
	t.Helper()
	eachOf(t, loops(), test)
}

// eachOpenLoop is eachLoop for open loops, which do not use io_uring.
func eachOpenLoop(t *testing.T, test func(t *testing.T, e Engine)) {
	t.Helper()
	eachOf(t, loops()[1:], test)
}

// eachWay is eachLoop and eachOpenLoop, for what holds in both.
func eachWay(t *testing.T, test func(t *testing.T, e Engine, open bool)) {
	t.Helper()
	for _, open := range []bool{false, true} {
		t.Run(map[bool]string{false: "closed", true: "open"}[open], func(t *testing.T) {
			all := loops()
			if open {
				all = all[1:]
			}
			eachOf(t, all, func(t *testing.T, e Engine) { test(t, e, open) })
		})
	}
}

func eachOf(t *testing.T, all []driver, test func(t *testing.T, e Engine)) {
	t.Helper()
	for _, d := range all {
		t.Run(d.name, func(t *testing.T) {
			loop, _, _ := strings.Cut(d.name, " ")
			if err := hasLoop(loop); err != nil {
				t.Skip("SKIP: ", err)
			}
			test(t, d.engine)
		})
	}
}

// plan returns a plain plan for tests: GET /city?id=… over n connections.
func plan(url string, connections int, duration time.Duration) Plan {
	return Plan{
		BaseURL:  url,
		Step:     bench.Step{Name: fmt.Sprint(connections, " connections"), Connections: connections, Duration: duration},
		Requests: []bench.Request{{Name: "get", Path: "/city?id={id}", ExpectStatus: 200}},
		IDs:      []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
		Timeout:  30 * time.Second, // longer than any machine stall
		Seed:     1,
	}
}

// counted returns a plan of a closed loop that ends with its requests.
func counted(url string, connections int, requests int64) Plan {
	p := plan(url, connections, time.Hour)
	p.Step.MaxRequests = requests
	return p
}

// openPlan returns a plan with a rate over at most the given number of connections.
func openPlan(url string, rate float64, most int, duration time.Duration) Plan {
	p := plan(url, 0, duration)
	p.Step = bench.Step{Name: "open", Rate: rate, MaxConnections: most, Duration: duration}
	return p
}

// openCounted returns a plan of an open loop that ends with its requests.
func openCounted(url string, rate float64, most int, requests int64) Plan {
	p := openPlan(url, rate, most, time.Hour)
	p.Step.MaxRequests = requests
	return p
}

// run runs p and checks what holds for every result.
func run(t testing.TB, e Engine, p Plan) bench.Load {
	t.Helper()
	var got []bench.Window
	e.patience, e.litter = time.Minute, true // longer than any machine stall
	l, err := e.Run(t.Context(), p, func(w bench.Window) { got = append(got, w) })
	testenv.OK(t, err)
	consistent(t, l, got)
	if l.Sent != l.Ended() {
		t.Errorf("%d sent, but %d + %d + %d succeeded, %d failed and %d were rejected", l.Sent, l.Lead, l.Succeeded, l.Drain, l.FailedTotal(), l.Rejected.Total())
	}
	return l
}

// consistent checks that the parts of a result agree.
func consistent(t testing.TB, l bench.Load, got []bench.Window) {
	t.Helper()
	var succeeded, bytes, failed, rejected int64
	end := time.Duration(0)
	for i, w := range l.Windows {
		succeeded += w.Succeeded
		bytes += w.Bytes
		rejected += w.Rejected
		for _, n := range w.Failed {
			failed += n
		}
		if w.Start != end {
			t.Errorf("window %d starts at %s, the one before ended at %s", i, w.Start, end)
		}
		end = w.Start + w.Length
	}
	if end != l.Elapsed {
		t.Errorf("the windows end at %s, the interval at %s", end, l.Elapsed)
	}
	if rejected > l.Rejected.Total() || l.Statuses.Total() > l.Ended() || l.Statuses.Total() < l.AllSucceeded()+l.Rejected.Total() {
		t.Errorf("windows have %d rejected of %d; statuses %s of %d ended", rejected, l.Rejected.Total(), l.Statuses, l.Ended())
	}
	if succeeded != l.Succeeded || bytes != l.Bytes || failed > l.FailedTotal() {
		t.Errorf("windows have %d successes, %d bytes, %d failures; the step %d, %d, %d", succeeded, bytes, failed, l.Succeeded, l.Bytes, l.FailedTotal())
	}
	if fmt.Sprint(got) != fmt.Sprint(l.Windows) {
		t.Errorf("reported windows %v, kept %v", got, l.Windows)
	}
	if l.Latency.Count != l.Succeeded || l.Timeouts.Count != l.Failed[bench.ErrTimeout] || l.Timeouts.Count+l.Failures.Count != l.FailedTotal() {
		t.Errorf("%d latencies of %d successes, %d of timeouts and %d of others in %v",
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

// runOpen is run, and checks what holds for every complete open loop.
func runOpen(t testing.TB, e Engine, p Plan) bench.Load {
	t.Helper()
	l := run(t, e, p)
	var sent, late, dropped int64
	for _, w := range l.Windows {
		sent, late, dropped = sent+w.Sent, late+w.Late, dropped+w.Dropped
	}
	if sent > l.Sent || scheduled(l) > l.Scheduled || late > l.Late || dropped > l.Dropped {
		t.Errorf("windows have %d sent, %d scheduled, %d late, %d dropped; the step %d, %d, %d, %d", sent, scheduled(l), late, dropped, l.Sent, l.Scheduled, l.Late, l.Dropped)
	}
	if l.Scheduled != l.Sent+l.Dropped || l.Lag.Count != l.Sent || l.Late > l.Sent {
		t.Errorf("%d scheduled, %d sent (lag of %d), %d late, %d dropped", l.Scheduled, l.Sent, l.Lag.Count, l.Late, l.Dropped)
	}
	if l.Origin() != bench.FromScheduled || l.Sending.Count != l.Latency.Count || l.Sending.Mean > l.Latency.Mean {
		t.Errorf("from %s: mean %s of %d; from their sending %s of %d", l.Origin(), l.Latency.Mean, l.Latency.Count, l.Sending.Mean, l.Sending.Count)
	}
	return l
}

// scheduled returns how many requests were scheduled within the interval.
func scheduled(l bench.Load) (n int64) {
	for _, w := range l.Windows {
		n += w.Scheduled
	}
	return n
}

// above returns how many of l took longer than d.
func above(t testing.TB, l bench.Latencies, d time.Duration) (n int64) {
	t.Helper()
	h, err := hdr.Decode(l)
	testenv.OK(t, err)
	for _, bar := range h.Bars() {
		if bar.From > d {
			n += bar.Count
		}
	}
	return n
}

// counting is a server that counts its responses by status, and its connections.
type counting struct {
	*httptest.Server
	mu          sync.Mutex
	statuses    map[int]int64
	connections atomic.Int64
}

func newCounting(t testing.TB, handler func(w http.ResponseWriter, r *http.Request) (status int)) *counting {
	t.Helper()
	c := countingOf(handler)
	c.Start()
	t.Cleanup(c.Close)
	return c
}

// countingOf returns a server that is not started.
func countingOf(handler func(w http.ResponseWriter, r *http.Request) (status int)) *counting {
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
	return c
}

// count returns how many responses with a status the server has sent. It may count one after the
// client has it: see answered.
func (c *counting) count(status int) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.statuses[status]
}

// answered checks how many responses with a status the server has sent.
func (c *counting) answered(t testing.TB, status int, want int64) {
	t.Helper()
	testenv.Until(t, 30*time.Second, fmt.Sprintf("the server has counted %d responses with status %d", want, status), func() bool { return c.count(status) >= want })
	if n := c.count(status); n != want {
		t.Errorf("the server answered %d with %d, want %d", n, status, want)
	}
}

// opened checks how many connections have been opened. The server may accept one later than the
// client opens it.
func (c *counting) opened(t testing.TB, want int64) {
	t.Helper()
	testenv.Until(t, 30*time.Second, fmt.Sprintf("%d connections are accepted", want), func() bool { return c.connections.Load() >= want })
	if n := c.connections.Load(); n != want {
		t.Errorf("%d connections, want %d", n, want)
	}
}

func hello(w http.ResponseWriter, _ *http.Request) int {
	io.WriteString(w, "hello")
	return 200
}

// sleeps returns a handler that responds after a delay.
func sleeps(d time.Duration) func(http.ResponseWriter, *http.Request) int {
	return func(w http.ResponseWriter, r *http.Request) int {
		time.Sleep(d)
		return hello(w, r)
	}
}

// raw returns a server that handles connections below HTTP. serve handles one request whose head
// has been read, and returns whether the connection stays open.
func raw(t testing.TB, serve func(conn net.Conn, request string) (keep bool)) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.OK(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				r := bufio.NewReader(conn)
				for {
					var head strings.Builder
					for {
						line, err := r.ReadString('\n')
						if err != nil {
							return
						}
						if line == "\r\n" {
							break
						}
						head.WriteString(line)
					}
					if !serve(conn, head.String()) {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		wg.Wait()
	})
	return "http://" + listener.Addr().String()
}

// refusing returns an address at which no process listens: its port is that of a connection.
func refusing(t testing.TB) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.OK(t, err)
	conn, err := net.Dial("tcp", listener.Addr().String())
	testenv.OK(t, err)
	t.Cleanup(func() {
		conn.Close()
		listener.Close()
	})
	return conn.LocalAddr().String()
}

// ends records when the hooks of a plan were called.
type ends struct {
	mu     sync.Mutex
	events []string
	at     map[string]time.Time
}

func (e *ends) note(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, name)
	if e.at == nil {
		e.at = map[string]time.Time{}
	}
	e.at[name] = time.Now()
}

func (e *ends) hook(p *Plan) {
	p.OnStart = func() { e.note("start") }
	p.OnEnd = func() { e.note("end") }
}

func (e *ends) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.events, " ")
}

// newHanging returns a server that responds after 1 ms, except to request n, which hangs until the
// client gives up.
func newHanging(t testing.TB, n int64) *counting {
	var asked atomic.Int64
	return newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		if asked.Add(1) == n {
			<-r.Context().Done()
			return 0
		}
		time.Sleep(time.Millisecond)
		return hello(w, r)
	})
}

// aboutInFlight returns the warnings about the number of requests in flight.
func aboutInFlight(all bench.Warnings) (some bench.Warnings) {
	for _, w := range all {
		_, gap := w.Values["gap_ns"]
		switch w.Kind {
		case bench.WarnClockUnsteady, bench.WarnResponsesSeenLate, bench.WarnUnstableLoad,
			bench.WarnNotKeepingUp, bench.WarnInterrupted:
			some = append(some, w)
		case bench.WarnClientBound:
			if gap {
				some = append(some, w)
			}
		}
	}
	return some
}

// sentLate reports whether a warning says that requests were late with all connections in use.
func sentLate(all bench.Warnings, connections float64) bool {
	return slices.ContainsFunc(all, func(w bench.Warning) bool {
		return w.Kind == bench.WarnLate && w.Values["connections"] == connections
	})
}
