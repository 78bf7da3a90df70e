package load

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestOpenLoopSendsWhatIsScheduled(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]bench.Step{
		"constant": {Rate: 1000},
		"ramp":     {Rate: 500, RampTo: 1500},
		"wave":     {Rate: 1000, Wave: &bench.Wave{Amplitude: 500, Period: 250 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			eachOpenLoop(t, func(t *testing.T, e Engine) {
				server := newCounting(t, hello)
				p := openCounted(server.URL, 0, 0, 200)
				step.Duration, step.MaxRequests = p.Step.Duration, p.Step.MaxRequests
				p.Step = step
				l := runOpen(t, e, p)
				server.answered(t, 200, 200)
				if l.Scheduled != 200 || l.Sent != 200 || l.Succeeded != 200 || scheduled(l) != 200 || l.WaitedForConnection != 0 {
					t.Errorf("%d succeeded of %d scheduled, %d sent; failed %v, dropped %d, held %d", l.Succeeded, l.Scheduled, l.Sent, l.Failed, l.Dropped, l.WaitedForConnection)
				}
				if l.MaxOpenConnections < 1 || int64(l.MaxOpenConnections) > server.connections.Load() {
					t.Errorf("%d connections in use of %d", l.MaxOpenConnections, server.connections.Load())
				}
			})
		})
	}
}

func TestOpenLoopOpensConnectionsForAStall(t *testing.T) {
	eachOpenLoop(t, func(t *testing.T, e Engine) {
		release := make(chan struct{})
		var asked atomic.Int64
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			if asked.Add(1) == 50 {
				close(release)
			}
			<-release
			return hello(w, r)
		})
		l := runOpen(t, e, openCounted(server.URL, 1000, 0, 100))
		// No request is answered before 50 have arrived.
		if l.Succeeded != 100 || l.MaxOpenConnections < 50 || l.Dropped != 0 || l.WaitedForConnection != 0 {
			t.Errorf("%d succeeded over %d connections, %d dropped, %d waited", l.Succeeded, l.MaxOpenConnections, l.Dropped, l.WaitedForConnection)
		}
	})
}

// With all connections in use requests are queued; each that was sent has been answered.
func TestOpenLoopQueuesWithoutAConnection(t *testing.T) {
	eachOpenLoop(t, func(t *testing.T, e Engine) {
		release := make(chan struct{})
		var asked atomic.Int64
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			if asked.Add(1) == 3 {
				time.AfterFunc(30*time.Millisecond, func() { close(release) })
			}
			<-release
			return hello(w, r)
		})
		l := runOpen(t, e, openCounted(server.URL, 1000, 3, 60))
		server.answered(t, 200, l.Sent)
		server.opened(t, 3)
		if l.Scheduled != 60 || l.Succeeded != l.Sent || l.Sent < 3 || l.MaxOpenConnections != 3 {
			t.Errorf("%d scheduled, %d succeeded over %d connections, %d waited, %d dropped, failed %v", l.Scheduled, l.Succeeded, l.MaxOpenConnections, l.WaitedForConnection, l.Dropped, l.Failed)
		}
	})
}

// What is still queued when sending ends is dropped, and counted as such.
func TestOpenLoopDropsTheQueueAtTheEnd(t *testing.T) {
	eachOpenLoop(t, func(t *testing.T, e Engine) {
		hang := make(chan struct{})
		var asked, polls atomic.Int64
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			asked.Add(1)
			<-hang
			return hello(w, r)
		})
		defer close(hang)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := openPlan(server.URL, 1000, 3, time.Hour)
		p.Rate = func() float64 { // called whenever the loop waits for the next request
			if polls.Add(1) >= 20 && asked.Load() == 3 {
				cancel()
			}
			return 0
		}
		e.Grace = 20 * time.Millisecond
		l, err := e.Run(ctx, p, nil)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if l.Sent != 3 || l.Cut != l.Sent || l.Dropped < 1 || l.Scheduled != l.Sent+l.Dropped {
			t.Errorf("%d scheduled, %d sent, %d cut off, %d dropped, failed %v", l.Scheduled, l.Sent, l.Cut, l.Dropped, l.Failed)
		}
		if !l.Warnings.Has(bench.WarnDropped) {
			t.Errorf("warnings %q", l.Warnings)
		}
	})
}

// The user changes a rate that would take hours into one that takes a moment.
func TestRateIsChangedLive(t *testing.T) {
	eachOpenLoop(t, func(t *testing.T, e Engine) {
		server := newCounting(t, hello)
		p := openCounted(server.URL, 0.001, 0, 120)
		p.Rate = func() float64 {
			if server.count(200) == 0 {
				return 0
			}
			return 2000
		}
		l := runOpen(t, e, p)
		server.answered(t, 200, 120)
		if l.Succeeded != 120 || l.FinalRate != 2000 || l.Windows[len(l.Windows)-1].Rate != 2000 {
			t.Errorf("%d succeeded, at last %g a second, %g in the last window", l.Succeeded, l.FinalRate, l.Windows[len(l.Windows)-1].Rate)
		}
	})
}

// Each user has its own connection, and the step is over when all have been served.
func TestArrivals(t *testing.T) {
	eachOpenLoop(t, func(t *testing.T, e Engine) {
		server := newCounting(t, sleeps(time.Millisecond))
		p := plan(server.URL, 0, time.Hour)
		p.Step = bench.Step{Name: "burst", Arrivals: &bench.Arrivals{Users: 200, Over: 100 * time.Millisecond, Requests: 3}, Duration: time.Hour}
		l := runOpen(t, e, p)
		server.answered(t, 200, 600)
		server.opened(t, 200)
		if l.Scheduled != 600 || l.Succeeded != 600 || l.Elapsed == p.Step.Duration {
			t.Errorf("%d scheduled, %d succeeded, elapsed %s", l.Scheduled, l.Succeeded, l.Elapsed)
		}
		if l.Warnings.Has(bench.WarnReopened) {
			t.Errorf("warnings %q", l.Warnings)
		}
	})
}

func TestOpenLoopIsInterrupted(t *testing.T) {
	for name, step := range map[string]bench.Step{
		"rate":     {Rate: 1000, MaxConnections: 5, Duration: time.Hour},
		"slow":     {Rate: .1, MaxConnections: 5, Duration: time.Hour},
		"arrivals": {Arrivals: &bench.Arrivals{Users: 1000, Over: 30 * time.Second, Requests: 2}, MaxConnections: 5, Duration: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			eachOpenLoop(t, func(t *testing.T, e Engine) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				hang := make(chan struct{})
				defer close(hang)
				url := raw(t, func(net.Conn, string) bool {
					cancel() // a request is in flight
					<-hang
					return false
				})
				p := plan(url, 0, 0)
				p.Step, p.Timeout = step, time.Hour
				e.Grace = 20 * time.Millisecond
				l, err := e.Run(ctx, p, nil)
				if !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
				if l.Sent < 1 || l.Sent > 5 || l.Succeeded+l.FailedTotal() != 0 || l.Scheduled != l.Sent+l.Dropped || l.Cut != l.Sent {
					t.Errorf("%d scheduled, %d sent, %d dropped, %d succeeded, %d cut off, failed %v", l.Scheduled, l.Sent, l.Dropped, l.Succeeded, l.Cut, l.Failed)
				}
			})
		})
	}
}

func TestStepMistakes(t *testing.T) {
	wave := func(amplitude float64, period time.Duration) *bench.Wave {
		return &bench.Wave{Amplitude: amplitude, Period: period}
	}
	const whole = "cannot be interleaved"
	for _, test := range []struct {
		step bench.Step
		want string
	}{
		{bench.Step{Connections: 8, RampFrom: 2}, whole},
		{bench.Step{Rate: 10, RampTo: 20}, whole},
		{bench.Step{Arrivals: &bench.Arrivals{Users: 1, Over: time.Second, Requests: 1}}, whole},
		{bench.Step{Connections: 1, MaxRequests: 5}, whole},
		{bench.Step{Rate: 5, Connections: 5}, "either connections, a rate or arrivals"},
		{bench.Step{Rate: -1}, "rate -1: must be above 0"},
		{bench.Step{Rate: 2e6}, "rate 2e+06: must be"},
		{bench.Step{Rate: 5, RampTo: -1}, "rate -1: must be above 0"},
		{bench.Step{Rate: 5, Wave: wave(5, time.Second)}, "rate 0: must be above 0"},
		{bench.Step{Rate: 5, Wave: wave(1, 0)}, "a wave with a period"},
		{bench.Step{Rate: 5, RampTo: 6, Wave: wave(1, time.Second)}, "constant, a ramp or a wave"},
		{bench.Step{Rate: 5, MaxConnections: -1}, "at most -1 connections"},
		{bench.Step{PeakShare: .5}, "50% of peak"},
		{bench.Step{Arrivals: &bench.Arrivals{}}, "arrivals of 0 users"},
		{bench.Step{Arrivals: &bench.Arrivals{Users: 1, Over: 1, Requests: 1}, MaxRequests: 5}, "arrivals, which set the number of requests"},
	} {
		test.step.Duration = time.Second
		p := plan("http://127.0.0.1:1", 0, 0)
		if p.Step = test.step; test.want == whole {
			p.Interleave = &interleaving{length: time.Second}
		}
		testenv.Fails(t, testenv.Err(Engine{}.Run(t.Context(), p, nil)), test.want)
	}
}
