package load

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// An interleaved step: nothing is in flight during the slices of others, connections stay open, and
// results are of the slices alone.
func TestInterleaving(t *testing.T) {
	const rest = 50 * ms
	for name, step := range map[string]bench.Step{"closed": {Connections: 4}, "open": {Rate: 400}} {
		t.Run(name, func(t *testing.T) {
			inAllLoops(t, after(1100*time.Microsecond), func(t *testing.T, e Engine, s *server, exact bool) {
				p := plan(s.url, 0, 0)
				p.Step, p.Step.Duration, e.Window = step, 440*ms, 200*ms
				given, began, ended := 0, 0, 0
				p.Interleave = &interleaving{length: 100 * ms, fitting: true, next: func() {
					given++
					before := s.asked.Load()
					time.Sleep(rest)
					if n := s.atWork.Load(); n != 0 || s.asked.Load() != before {
						t.Errorf("%d requests in flight during the slice of another step, %d came", n, s.asked.Load()-before)
					}
				}}
				p.OnStart, p.OnEnd = func() { began++ }, func() { ended++ }
				took := time.Now()
				l := run(t, e, p)
				real := s.elapsed(took) - time.Duration(given)*rest
				testenv.Check(t, began == given+1 && ended == began, "%d slices given away, %d begun and %d ended", given, began, ended)
				testenv.Check(t, l.LeadIn > 0 && l.LeadIn+l.Elapsed <= real && l.Wall > 0 && l.Wall <= real, "%s of %s", l.LeadIn, real)
				holds(t, l, s, "answered=all failed=0 sent=all ok>0 warn.reopened=0")
				if step.Open() {
					holds(t, l, s, "elapsed=440 planned>0")
				} else {
					holds(t, l, s, "connections=4")
				}
				if exact {
					testenv.Equal(t, given, 3, "slices given away") // the last one takes in the rest
					testenv.Check(t, !step.Open() || scheduled(l) >= 172 && scheduled(l) <= 180, "%d scheduled", scheduled(l))
					holds(t, l, s, "windows=2 elapsed>=418 elapsed<=440 wall<=445 min>=1")
					steadyFlight(t, l, s, exact)
				}
			})
		})
	}
}

// A step that ends during the slice of another one ends without another slice.
func TestInterleavingEndsWithTheContext(t *testing.T) {
	inAllLoops(t, after(ms), func(t *testing.T, e Engine, s *server, exact bool) {
		ctx, end := context.WithCancelCause(t.Context())
		p := plan(s.url, 2, time.Minute)
		given := 0
		p.Interleave = &interleaving{length: 20 * ms, next: func() {
			if given++; given == 3 {
				end(errEnough)
			}
		}}
		l := runUntil(ctx, t, e, p)
		testenv.Equal(t, given, 3, "slices given away")
		if holds(t, l, s, "answered=all ok>0"); exact {
			holds(t, l, s, "elapsed=64.5")
		}
	})
}

// A request that outlasts a slice of an open loop is in no quantile; a closed loop counts it.
func TestInterleavedDrain(t *testing.T) {
	straggles := func(_ *server, n, _ int64) act {
		if n == 100 {
			return act{wait: 1500 * ms}
		}
		return act{wait: 5 * ms}
	}
	for _, of := range []struct {
		step         bench.Step
		want, warned string
	}{
		{bench.Step{Connections: 4}, "drain=0 drainmax=0 max~1500 warn.slow_drain=0", ""},
		{bench.Step{Rate: 400}, "drain>=1 drainmax~1500 max<1500", "successes ended after their slices and took up to 1.50 s: p99 and max (5.0"},
	} {
		inVirtualTime(t, straggles, func(t *testing.T, e Engine, s *server) {
			p := plan(s.url, 0, 0)
			p.Step, p.Step.Duration, p.Interleave = of.step, 500*ms, &interleaving{length: 250 * ms, next: func() {}}
			l := run(t, e, p)
			holds(t, l, s, of.want)
			testenv.Contains(t, l.Warnings.Join("|"), of.warned)
		})
	}
}

// Whole iterations: throughput and latency of slices are those of the server, however slow it is.
func TestSlicesAreTrue(t *testing.T) {
	const length, period, duration = 500 * ms, 100 * ms, 4 * time.Second
	for i := range 7 * 3 * 2 {
		took := []time.Duration{1, 10, 60, 90, 120, 300, 1500}[i%7] * ms
		connections, known := []int{1, 4, 16}[i/7%3], i/21 == 0
		if took == ms && connections == 16 { // takes long to simulate
			continue
		}
		t.Run(fmt.Sprintf("%s, %d connections, known %v", took, connections, known), func(t *testing.T) {
			inVirtualTime(t, after(took), func(t *testing.T, e Engine, s *server) {
				p := plan(s.url, connections, duration)
				began := time.Now()
				others := &interleaving{length: length, period: period, began: began}
				if known {
					others.slowest = took
				}
				p.Interleave = others
				l := testenv.Must(e.Run(t.Context(), p, nil))(t)
				want := float64(connections) / took.Seconds()
				if got := l.Throughput(); math.Abs(got/want-1) > .001 || (l.Latency.Mean-took).Abs() > took/1000 {
					t.Errorf("%.2f/s at %s; the server does %.2f at %s", got, l.Latency.Mean, want, took)
				}
				holds(t, l, s, "sent=all answered=all")
				testenv.Equal(t, l.Definition, bench.Iterations)
				real := time.Since(began)
				testenv.Check(t, real <= 125*duration/100, "took %s", real)
				if took <= 90*ms && l.Elapsed < 78*duration/100 { // of each slice, the period of the first iterations does not count
					t.Errorf("%s of %s count", l.Elapsed, duration)
				}
				testenv.Equal(t, others.why != "", took > duration/perSlice, "alternating: ", others.why)
			})
		})
	}
}

// A contender that uses up its quota at the beginning of each period: whole periods count, so its throughput is
// that of a plain run. Without them it would be 3% less.
func TestSlicesOfAQuota(t *testing.T) {
	const period, quota, each, duration = 100 * ms, 50 * ms, ms, 4 * time.Second
	inVirtualTime(t, nil, func(t *testing.T, e Engine, s *server) {
		began := time.Now()
		var mu sync.Mutex
		free := began
		s.script = func(*server, int64, int64) act {
			mu.Lock()
			defer mu.Unlock()
			now := time.Now()
			if free.Before(now) {
				free = now
			}
			if used := free.Sub(began) % period; used >= quota {
				free = free.Add(period - used)
			}
			free = free.Add(each)
			return act{wait: free.Sub(now)}
		}
		p := plan(s.url, 16, duration)
		p.Interleave = &interleaving{length: 500 * ms, period: period, began: began}
		l := testenv.Must(e.Run(t.Context(), p, nil))(t)
		if got, want := l.Throughput(), float64(quota)/float64(each)/period.Seconds(); math.Abs(got/want-1) > .005 {
			t.Errorf("%.1f/s, the quota allows %.1f", got, want)
		}
	})
}

// A contender that does not respond: its first iterations count once they outlast the step, and the
// others need not wait for it in slices.
func TestSliceOfAStallingContender(t *testing.T) {
	const stall, duration = 15 * time.Second, 2 * time.Second
	inVirtualTime(t, nil, func(t *testing.T, e Engine, s *server) {
		begin := time.Now()
		s.script = func(*server, int64, int64) act { return act{wait: max(ms, time.Until(begin.Add(stall)))} }
		p := timeout(plan(s.url, 8, duration), time.Minute)
		others := &interleaving{length: 500 * ms}
		p.Interleave = others
		l := testenv.Must(e.Run(t.Context(), p, nil))(t)
		holds(t, l, s, "first>=15000 max>=14850 rate<1")
		testenv.Check(t, others.why != "" && time.Since(begin) <= stall+time.Second,
			"%q after %s", others.why, time.Since(begin))
	})
}
