package load

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/fast"
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

// eachWay is eachLoop and eachLoop, for what holds in both.
func eachWay(t *testing.T, test func(t *testing.T, e Engine, open bool)) {
	t.Helper()
	for _, open := range []bool{false, true} {
		t.Run(map[bool]string{false: "closed", true: "open"}[open], func(t *testing.T) {
			eachLoop(t, func(t *testing.T, e Engine) { test(t, e, open) })
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
