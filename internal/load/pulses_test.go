package load

import (
	"context"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locbench/internal/bench"
)

// used is a contender that uses half a CPU while it is asked, and idle CPUs while it is not.
func used(asked *atomic.Int64, idle float64) func() (time.Duration, bool) {
	var last time.Time
	var cpu, seen int64
	return func() (time.Duration, bool) {
		now, n := time.Now(), asked.Load()
		if !last.IsZero() {
			cpus := idle
			if n > seen {
				cpus = .5
			}
			cpu += int64(cpus * float64(now.Sub(last)))
		}
		last, seen = now, n
		return time.Duration(cpu), true
	}
}

// runPulsed runs a plan in bursts, whose windows have to follow each other, and to be those that
// were reported.
func runPulsed(t testing.TB, e Engine, p Plan) bench.Load {
	t.Helper()
	var got []bench.Window
	l, err := e.Run(context.Background(), p, func(w bench.Window) { got = append(got, w) })
	if err != nil {
		t.Fatal(err)
	}
	var inWindows int64
	for i, w := range l.Windows {
		inWindows += w.Succeeded
		if i > 0 && w.Start < l.Windows[i-1].Start+l.Windows[i-1].Length {
			t.Errorf("window %d begins at %s and is %s long, the one before has ended at %s", i, w.Start, w.Length, l.Windows[i-1].Start+l.Windows[i-1].Length)
		}
	}
	if inWindows != l.Succeeded || !reflect.DeepEqual(got, l.Windows) {
		t.Errorf("%d of %d successes are in the windows, %d of %d windows were reported", inWindows, l.Succeeded, len(got), len(l.Windows))
	}
	return l
}

// A step in bursts: nothing is in flight in the rests, the connections stay, the figures are of the
// bursts, and the windows have gaps.
func TestPulses(t *testing.T) {
	const burst, rest, window = 200 * time.Millisecond, 150 * time.Millisecond, 100 * time.Millisecond
	for name, step := range map[string]bench.Step{"closed": {Connections: 4}, "open": {Rate: 400}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := steady(t, 1100*time.Microsecond)
				p := plan(virtualURL, 4, 0)
				p.Step = step
				p.Step.Duration, p.Step.Pulses = 800*time.Millisecond, &bench.Pulses{Burst: burst, Rest: rest}
				began, ended := 0, 0
				p.OnStart, p.OnEnd = func() { began++ }, func() { ended++ }
				cpu := used(&c.asked, .25)
				p.CPU = func() (time.Duration, bool) {
					if n := c.atWork.Load(); n != 0 && began == ended {
						t.Errorf("%d requests in flight in a rest", n)
					}
					return cpu()
				}
				e := c.engine()
				e.Window = window
				l := runPulsed(t, e, p)
				if began != 3 || ended != began || l.Rests == nil || l.Rests.Count != 2 || l.Rests.Time != 2*rest {
					t.Fatalf("%d bursts begun, %d ended, rests %+v", began, ended, l.Rests)
				}
				if cpus, ok := l.Rests.CPUs(); !ok || math.Abs(cpus-.25) > .001 {
					t.Errorf("%.2f CPUs in rests of %s, %v", cpus, l.Rests.Time, ok)
				}
				// The third burst ends with the step, whose duration the lead-ins count for, too.
				if l.AllSucceeded() != c.count() || l.FailedTotal() != 0 || l.Elapsed <= 2*burst || l.Elapsed > 800*time.Millisecond-2*rest {
					t.Errorf("%d succeeded in %s, the contender answered %d", l.Succeeded, l.Elapsed, c.count())
				}
				if n := c.connections.Load(); step.Rate == 0 && n != 4 {
					t.Errorf("%d connections were opened", n)
				}
				gaps := 0
				for i, w := range l.Windows {
					if i > 0 && w.Start-l.Windows[i-1].Start-l.Windows[i-1].Length >= rest {
						gaps++
					}
				}
				if gaps != 2 {
					t.Errorf("%d gaps between %d bursts", gaps, began)
				}
			})
		})
	}
}

// A step that waits until it has settled ends then, with a rest in it.
func TestSettle_EndsTheStep(t *testing.T) {
	const window = 100 * time.Millisecond
	for name, step := range map[string]bench.Step{"closed": {Connections: 4}, "open": {Rate: 200}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := steady(t, 5*time.Millisecond)
				p := plan(virtualURL, 0, 0)
				p.Step = step
				p.Step.Duration, p.Step.Settle = time.Minute, true
				e := c.engine()
				e.Window = window
				l := runPulsed(t, e, p)
				if l.Settled < (leastLook+1)*window || l.Settled > (leastLook+3)*window || l.Rests == nil || l.Rests.Count != 1 || l.Rests.CPU != nil {
					t.Errorf("settled after %s with the rests %+v, %q", l.Settled, l.Rests, l.Warnings)
				}
				if last := l.Windows[len(l.Windows)-1]; len(l.Windows) != leastLook || last.Start+last.Length != l.Settled {
					t.Errorf("settled after %s, and %d windows of which the last begins at %s", l.Settled, len(l.Windows), last.Start)
				}
			})
		})
	}
}

// One that becomes ever faster, or is too short, ends with its duration, and says so.
func TestSettle_EndsWithTheDuration(t *testing.T) {
	const window = 100 * time.Millisecond
	for _, test := range []struct {
		name    string
		windows time.Duration
		delay   func(n int64) time.Duration
		want    string
	}{
		{"ever faster", 25, func(n int64) time.Duration { return time.Duration(20e6 * math.Exp(-float64(n)/1200)) }, "not settled within 2.5s"},
		{"too short", 5, func(int64) time.Duration { return 5 * time.Millisecond }, "not settled: 500ms are too short to tell, it takes 1.8s at least"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newContender(t, test.delay).engine()
				e.Window = window
				p := plan(virtualURL, 8, test.windows*window)
				p.Step.Settle = true
				if l := runPulsed(t, e, p); l.Settled != 0 || !strings.Contains(l.Warnings.Join("\n"), test.want) {
					t.Errorf("settled after %s, %q", l.Settled, l.Warnings)
				}
			})
		})
	}
}

// A service that is faster only after a rest is not called settled before it; and the rest goes on
// until the service does nothing any more.
func TestSettle_AfterTheRestThatMakesFaster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const window, compiles = 100 * time.Millisecond, 350 * time.Millisecond
		var last atomic.Int64 // ns, of the end of an answer
		var fast atomic.Bool
		c := newContender(t, func(int64) time.Duration {
			now := time.Now().UnixNano()
			if before := last.Load(); before > 0 && now-before > int64(compiles) {
				fast.Store(true)
			}
			d := 10 * time.Millisecond
			if fast.Load() {
				d = 5 * time.Millisecond
			}
			last.Store(now + int64(d))
			return d
		})
		p := plan(virtualURL, 4, time.Minute)
		p.Step.Settle = true
		var at time.Time
		var cpu time.Duration
		p.CPU = func() (time.Duration, bool) {
			now := time.Now()
			if !at.IsZero() && !fast.Load() && now.UnixNano()-last.Load() < int64(compiles) {
				cpu += now.Sub(at)
			}
			at = now
			return cpu, true
		}
		e := c.engine()
		e.Window = window
		l := runPulsed(t, e, p)
		if !fast.Load() || l.Settled == 0 || l.Rests.Time < compiles {
			t.Fatalf("fast %v, settled after %s, rests %+v, %q", fast.Load(), l.Settled, l.Rests, l.Warnings)
		}
		slow := 0
		for _, w := range l.Windows {
			if w.Throughput() < 500 {
				slow++
			}
		}
		if slow != firstRest {
			t.Errorf("settled after %s, though %d of %d windows were slow", l.Settled, slow, len(l.Windows))
		}
	})
}

func TestPulsesEndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithTimeout(t.Context(), 250*time.Millisecond)
		defer end()
		p := plan(virtualURL, 2, time.Minute)
		p.Step.Pulses = &bench.Pulses{Burst: 100 * time.Millisecond, Rest: 30 * time.Second}
		began := time.Now()
		l, err := steady(t, time.Millisecond).engine().Run(ctx, p, nil)
		if err == nil || time.Since(began) != 250*time.Millisecond || l.Succeeded == 0 || l.Rests == nil || l.Rests.Count != 1 {
			t.Errorf("%v after %s, %d succeeded, %+v", err, time.Since(began), l.Succeeded, l.Rests)
		}
	})
}

func TestPulsesRefuse(t *testing.T) {
	two := &bench.Pulses{Burst: time.Second, Rest: time.Second}
	for _, step := range []bench.Step{
		{Connections: 8, RampFrom: 2, Duration: time.Second, Pulses: two},
		{Rate: 10, RampTo: 20, Duration: time.Second, Pulses: two},
		{Arrivals: &bench.Arrivals{Users: 1, Over: time.Second, Requests: 1}, Duration: time.Second, Settle: true},
		{Connections: 1, MaxRequests: 5, Duration: time.Second, Settle: true},
		{Connections: 1, Duration: time.Second, Pulses: &bench.Pulses{Rest: time.Second}},
	} {
		p := plan("http://127.0.0.1:1", 1, 0)
		p.Step = step
		if _, err := (Engine{}).Run(context.Background(), p, nil); err == nil || !strings.Contains(err.Error(), "in bursts") {
			t.Errorf("%+v: %v", step, err)
		}
	}
}
