package load

import (
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// Requests are sent exactly when they are scheduled, at the given rate.
func TestOpenSchedule_IsKept(t *testing.T) {
	for name, step := range map[string]bench.Step{
		"constant": {Rate: 1000},
		"slow":     {Rate: 1000. / 7},
		"ramp":     {Rate: 500, RampTo: 1500},
		"wave":     {Rate: 1000, Wave: &bench.Wave{Amplitude: 500, Period: 250 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := steady(t, 3*time.Millisecond)
				e := c.engine()
				e.Window = 100 * time.Millisecond
				step.Duration = 700 * time.Millisecond
				p := openPlan(virtualURL, 0, 0, 0)
				p.Step = step
				l := runOpen(t, e, p)
				want := step.Duration.Seconds() * step.Rate
				if step.RampTo > 0 {
					want = step.Duration.Seconds() * (step.Rate + step.RampTo) / 2
				}
				if step.Wave != nil {
					want += step.Wave.Amplitude * .25 / (2 * math.Pi) * (1 - math.Cos(2*math.Pi*.7/.25))
				}
				if n := float64(scheduled(l)); math.Abs(n-want) > 1 {
					t.Errorf("%g were scheduled in the interval, want %g", n, want)
				}
				if l.AllSucceeded() != l.Scheduled || l.AllSucceeded() != c.count() || l.Dropped+l.Late+l.WaitedForConnection != 0 {
					t.Errorf("%d succeeded of %d, the contender answered %d; failed %v, dropped %d, late %d", l.AllSucceeded(), l.Scheduled, c.count(), l.Failed, l.Dropped, l.Late)
				}
				if l.Lag.Max > 0 || l.Elapsed != step.Duration || l.Latency.Max.Round(10*time.Microsecond) != 3*time.Millisecond {
					t.Errorf("up to %s late, %s from the scheduled time, elapsed %s", l.Lag.Max, l.Latency.Max, l.Elapsed)
				}
			})
		})
	}
}

// The current window is reported four times a second, as it grows.
func TestParts_OfAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPlan(virtualURL, 1000, 0, 2*time.Second)
		var parts []bench.Window
		p.OnPart = func(w bench.Window) { parts = append(parts, w) }
		l := runOpen(t, steady(t, time.Millisecond).engine(), p)
		if len(parts) != 6 || len(l.Windows) != 2 {
			t.Fatalf("parts %+v of %d windows", parts, len(l.Windows))
		}
		for i, w := range parts {
			want := bench.Window{Start: time.Duration(i/3) * time.Second, Length: time.Duration(i%3+1) * time.Second / 4}
			if n := float64(w.Succeeded); w.Start != want.Start || w.Length != want.Length || math.Abs(n-1000*want.Length.Seconds()) > 5 {
				t.Errorf("part %d: %d succeeded from %s in %s", i, w.Succeeded, w.Start, w.Length)
			}
		}
	})
}

// A request scheduled a moment before the end is sent, though the client wakes up for it after the
// end.
func TestOpenLoop_LateClientSendsTheLastRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := steady(t, 3*time.Millisecond)
		e := c.engine()
		e.sleep = func(d time.Duration) { time.Sleep(d + 300*time.Microsecond) }
		p := openPlan(virtualURL, 20000, 1000, 500*time.Millisecond)
		l := runOpen(t, e, p)
		if l.Scheduled < 10000 || l.AllSucceeded() != l.Scheduled || l.Dropped != 0 {
			t.Errorf("%d succeeded of %d, dropped %d", l.AllSucceeded(), l.Scheduled, l.Dropped)
		}
	})
}

// A contender that stalls for one second at 1,000 requests per second is late for a thousand of
// them, whether or not the client sent any meanwhile. A request scheduled u after the beginning of
// a stall of S, and served at μ per second after it, waits for S − u + 1000 u / μ.
func TestOpenLoop_StallShowsInLatencyFromScheduled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const connections, stall, each = 8, time.Second, 2 * time.Millisecond
		var began atomic.Pointer[time.Time]
		c := newContender(t, func(int64) time.Duration {
			from := began.Load()
			if from == nil {
				return each
			}
			if since := time.Since(*from); since >= 0 && since < stall {
				return stall - since
			}
			return each
		})
		p := openPlan(virtualURL, 1000, connections, 2500*time.Millisecond)
		p.OnStart = func() { from := time.Now().Add(500 * time.Millisecond); began.Store(&from) }
		l := runOpen(t, c.engine(), p)
		if scheduled(l) != 2500 || l.AllSucceeded() != l.Scheduled || l.MaxOpenConnections != connections {
			t.Fatalf("%d scheduled, %d succeeded, %d connections, failed %v, dropped %d", scheduled(l), l.AllSucceeded(), l.MaxOpenConnections, l.Failed, l.Dropped)
		}
		const perSecond = connections / .002
		for _, d := range []time.Duration{100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, 750 * time.Millisecond} {
			want := (stall - d).Seconds() * 1000 / (1 - 1000/perSecond)
			if got := float64(above(t, l.Latency, d)); math.Abs(got-want) > 15 {
				t.Errorf("over %s: %.0f from the scheduled time, want %.0f", d, got, want)
			}
			// Only those in flight when it began have seen it.
			if n := above(t, l.Sending, d); n > connections {
				t.Errorf("over %s: %d from their sending", d, n)
			}
		}
		if l.Late < 900 || l.WaitedForConnection < 900 || !sentLate(l.Warnings, connections) {
			t.Errorf("%d late, %d waited, warnings %q", l.Late, l.WaitedForConnection, l.Warnings)
		}
	})
}

// What waits for a connection until its timeout is dropped.
func TestOpenLoop_DropsWhatCannotBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := steady(t, time.Hour)
		p := openPlan(virtualURL, 1000, 3, 600*time.Millisecond)
		p.Timeout = 250 * time.Millisecond
		l := runOpen(t, c.engine(), p)
		// Each of three connections is given up after a quarter of a second, and takes the next in
		// the queue: at 0, 250, 500 and 750 ms.
		if scheduled(l) != 600 || l.Sent != 12 || l.Failed[bench.ErrTimeout] != 12 || l.Dropped != l.Scheduled-12 || l.WaitedForConnection < l.Dropped {
			t.Errorf("%d scheduled, %d sent, %d dropped, %d waited, failed %v", l.Scheduled, l.Sent, l.Dropped, l.WaitedForConnection, l.Failed)
		}
		if !l.Warnings.Has(bench.WarnDropped) {
			t.Errorf("warnings %q", l.Warnings)
		}
	})
}

// A step of users is over when the last one has been served.
func TestArrivals_EndWithTheLastUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := steady(t, 5*time.Millisecond)
		p := plan(virtualURL, 0, time.Minute)
		p.Step = bench.Step{Name: "burst", Arrivals: &bench.Arrivals{Users: 200, Over: 300 * time.Millisecond, Requests: 3}, Duration: time.Minute}
		l := runOpen(t, c.engine(), p)
		if l.Scheduled != 600 || l.Succeeded != 600 || c.count() != 600 || c.connections.Load() != 200 {
			t.Errorf("%d scheduled, %d succeeded, the contender answered %d on %d connections", l.Scheduled, l.Succeeded, c.count(), c.connections.Load())
		}
		// The last of them comes after 298.5 ms, and gets three responses.
		if want := 298500*time.Microsecond + 3*5*time.Millisecond; l.Elapsed.Round(10*time.Microsecond) != want {
			t.Errorf("elapsed %s, want %s", l.Elapsed, want)
		}
	})
}

func TestArrivals_EndWithTheDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := steady(t, 400*time.Millisecond)
		p := plan(virtualURL, 0, time.Minute)
		p.Step = bench.Step{Arrivals: &bench.Arrivals{Users: 10, Over: 10 * time.Millisecond, Requests: 2}, MaxConnections: 4, Duration: 200 * time.Millisecond}
		l := runOpen(t, c.engine(), p)
		// Four users are in flight; their second requests, and six users, are dropped.
		if l.Scheduled != 20 || l.Sent != 4 || l.AllSucceeded() != 4 || l.Dropped != 16 {
			t.Errorf("%d scheduled, %d sent, %d succeeded, %d dropped", l.Scheduled, l.Sent, l.AllSucceeded(), l.Dropped)
		}
	})
}
