package load

import (
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
