package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// An interleaved step: nothing is in flight during the slices of others, connections stay open, and
// results are of the slices alone.
func TestInterleaving(t *testing.T) {
	const length, rest = 100 * time.Millisecond, 50 * time.Millisecond
	for name, step := range map[string]bench.Step{"closed": {Connections: 4}, "open": {Rate: 400}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := steady(t, 1100*time.Microsecond)
				p := plan(virtualURL, 0, 0)
				step.Duration = 440 * time.Millisecond
				p.Step = step
				given, began, ended := 0, 0, 0
				p.Interleave = &interleaving{length: length, next: func() {
					given++
					before := c.count()
					time.Sleep(rest)
					if n := c.atWork.Load(); n != 0 || c.count() != before {
						t.Errorf("%d requests in flight during the slice of another step, %d answered", n, c.count()-before)
					}
				}}
				p.OnStart, p.OnEnd = func() { began++ }, func() { ended++ }
				e := c.engine()
				e.Window = 200 * time.Millisecond
				var windows []bench.Window
				took := time.Now()
				l, err := e.Run(t.Context(), p, func(w bench.Window) { windows = append(windows, w) })
				testenv.OK(t, err)
				const slices = 4 // the last one takes in the rest
				if given != slices-1 || began != slices || ended != slices {
					t.Errorf("%d slices given away, %d begun and %d ended", given, began, ended)
				}
				if step.Rate == 0 && (l.Elapsed < 95*step.Duration/100 || l.LeadIn+l.Elapsed > 101*l.Wall/100 || l.Wall > 101*step.Duration/100) {
					t.Errorf("elapsed %s, wall %s, lead-in %s", l.Elapsed, l.Wall, l.LeadIn)
				}
				if real := time.Since(took) - (slices-1)*rest; step.Rate > 0 &&
					(l.Elapsed != step.Duration || l.Wall != step.Duration || l.LeadIn <= 0 || l.LeadIn+l.Elapsed > real) {
					t.Errorf("elapsed %s, wall %s, lead-in %s of %s", l.Elapsed, l.Wall, l.LeadIn, real)
				}
				if l.AllSucceeded() != c.count() || l.Succeeded == 0 || l.FailedTotal() != 0 || l.Sent != l.AllSucceeded() || l.Latency.Count != l.Succeeded {
					t.Errorf("%d succeeded, %d failed, %d sent, %d latencies, the contender answered %d", l.Succeeded, l.FailedTotal(), l.Sent, l.Latency.Count, c.count())
				}
				if n := c.connections.Load(); step.Rate == 0 && n != 4 {
					t.Errorf("%d connections were opened", n)
				}
				if step.Rate > 0 && (scheduled(l) < 172 || scheduled(l) > 180 || l.Sending.Count != l.Succeeded || l.Lag.Count != l.Sent || l.LatencyOf != bench.FromScheduled) {
					t.Errorf("%d scheduled, %d sending times, %d lags, from %q", l.Scheduled, l.Sending.Count, l.Lag.Count, l.LatencyOf)
				}
				var inWindows int64
				at := time.Duration(0)
				for _, w := range windows {
					inWindows += w.Succeeded
					if w.Start != at || w.P50 < time.Millisecond || w.P50 > w.Max {
						t.Errorf("a window that begins at %s after one that has ended at %s: %+v", w.Start, at, w)
					}
					at = w.Start + w.Length
				}
				if len(windows) != 2 || len(windows) != len(l.Windows) || inWindows != l.Succeeded || at != l.Elapsed {
					t.Errorf("%d windows until %s with %d successes, reported %d", len(windows), at, inWindows, len(l.Windows))
				}
				if l.Warnings.Has(bench.WarnReopened) || len(aboutInFlight(l.Warnings)) > 0 {
					t.Error(l.Warnings)
				}
			})
		})
	}
}

// A step that ends during the slice of another one ends without another slice.
func TestInterleavingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := steady(t, time.Millisecond)
		ctx, end := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		p := plan(virtualURL, 2, time.Minute)
		given := 0
		p.Interleave = &interleaving{length: 20 * time.Millisecond, next: func() {
			if given++; given == 3 {
				end(gone)
			}
		}}
		l, err := c.engine().Run(ctx, p, nil)
		if !errors.Is(err, gone) || given != 3 {
			t.Fatalf("%v after %d slices", err, given)
		}
		if l.AllSucceeded() != c.count() || l.Succeeded == 0 || l.Elapsed != 64500*time.Microsecond {
			t.Errorf("%d succeeded in %s, the contender answered %d", l.Succeeded, l.Elapsed, c.count())
		}
	})
}

// Whole iterations: throughput and latency of slices are those of the server, however slow it is.
func TestSlicesAreTrue(t *testing.T) {
	const length, period, duration = 500 * time.Millisecond, 100 * time.Millisecond, 4 * time.Second
	for i := range 7 * 3 * 2 {
		took := []time.Duration{1, 10, 60, 90, 120, 300, 1500}[i%7] * time.Millisecond
		connections, known := []int{1, 4, 64}[i/7%3], i/21 == 0
		{
			t.Run(fmt.Sprintf("%s, %d connections, known %v", took, connections, known), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := steady(t, took)
					p := plan(virtualURL, connections, duration)
					began, slices := time.Now(), 1
					others := &interleaving{length: length, period: period, began: began, next: func() { slices++ }}
					if known {
						others.slowest = took
					}
					p.Interleave = others
					e := c.engine()
					l, err := e.Run(t.Context(), p, nil)
					testenv.OK(t, err)
					want := float64(connections) / took.Seconds()
					if got := l.Throughput(); math.Abs(got/want-1) > .001 || (l.Latency.Mean-took).Abs() > took/1000 {
						t.Errorf("%.2f/s at %s; the server does %.2f at %s", got, l.Latency.Mean, want, took)
					}
					if l.Sent != l.AllSucceeded() || l.Sent != c.count() || l.Definition != bench.Iterations {
						t.Errorf("%d sent, %d succeeded, the server answered %d; %s", l.Sent, l.AllSucceeded(), c.count(), l.Definition)
					}
					if real := time.Since(began); real > 125*duration/100 {
						t.Errorf("took %s", real)
					}
					if took <= 90*time.Millisecond && l.Elapsed < 85*duration/100 { // a first iteration of each slice does not count
						t.Errorf("%s of %s count in %d slices", l.Elapsed, duration, slices)
					}
					if alternated := others.why != ""; alternated != (took > duration/perSlice) {
						t.Errorf("alternating: %q", others.why)
					}
				})
			})
		}
	}
}

// A contender that does not respond: its first iterations count once they outlast the step, and the
// others need not wait for it in slices.
func TestSliceOfAStallingContender(t *testing.T) {
	const stall, duration = 15 * time.Second, 2 * time.Second
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		c := newContender(t, func(int64) time.Duration { return max(time.Millisecond, time.Until(begin.Add(stall))) })
		p := plan(virtualURL, 8, duration)
		p.Timeout = time.Minute
		others := &interleaving{length: 500 * time.Millisecond}
		p.Interleave = others
		l, err := c.engine().Run(t.Context(), p, nil)
		testenv.OK(t, err)
		if others.why == "" || time.Since(begin) > stall+time.Second || l.FirstResponse < stall || l.Latency.Max < stall || l.Throughput() > 1 {
			t.Errorf("%q after %s: first response %s, slowest %s, %.1f/s", others.why, time.Since(begin), l.FirstResponse, l.Latency.Max, l.Throughput())
		}
	})
}
