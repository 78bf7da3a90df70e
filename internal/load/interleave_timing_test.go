//go:build acceptance && timing && linux

package load

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestInterleavingInRealTime(t *testing.T) {
	const length, rest = 100 * time.Millisecond, 50 * time.Millisecond
	for name, step := range map[string]bench.Step{"closed": {Connections: 4}, "open": {Rate: 400}} {
		t.Run(name, func(t *testing.T) {
			timedLoops(t, func(t testing.TB, e Engine) error {
				var atWork atomic.Int64
				server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
					atWork.Add(1)
					defer atWork.Add(-1)
					time.Sleep(time.Millisecond)
					return hello(w, r)
				})
				p := plan(server.URL, 4, 0)
				p.Step = step
				p.Step.Duration = 440 * time.Millisecond
				given, began, ended := 0, 0, 0
				p.Interleave = &interleaving{length: length, next: func() {
					given++
					time.Sleep(rest / 2) // responses may still be on their way back
					before := server.count(200)
					time.Sleep(rest / 2)
					if n := atWork.Load(); n != 0 || server.count(200) != before {
						t.Errorf("%d requests in flight during the slice of another step, %d answered", n, server.count(200)-before)
					}
				}}
				p.OnStart, p.OnEnd = func() { began++ }, func() { ended++ }
				var windows []bench.Window
				took := time.Now()
				e.Window = 200 * time.Millisecond
				l, err := e.Run(context.Background(), p, func(w bench.Window) { windows = append(windows, w) })
				testenv.OK(t, err)
				var b bounds
				const slices = 4 // the last one takes in the rest
				b.check(given == slices-1 && began == slices && ended == slices, "%d slices given away, %d begun and %d ended", given, began, ended)
				real := time.Since(took) - (slices-1)*rest
				b.check(l.Elapsed == p.Step.Duration && l.LeadIn > 0 && l.LeadIn+l.Elapsed <= real && l.Wall > 0 && l.Wall <= real, "elapsed %s, wall %s of %s", l.Elapsed, l.Wall, real)
				server.answered(t, 200, l.AllSucceeded())
				b.check(l.Succeeded > 0 && l.FailedTotal() == 0 && l.Sent == l.AllSucceeded() && l.Latency.Count == l.Succeeded, "%d succeeded, %d failed, %d sent, %d latencies", l.Succeeded, l.FailedTotal(), l.Sent, l.Latency.Count)
				n := server.connections.Load()
				b.check(step.Rate > 0 || n == 4, "%d connections were opened", n)
				b.check(step.Rate == 0 || scheduled(l) >= 172 && scheduled(l) <= 180 && l.Sending.Count == l.Succeeded && l.Lag.Count == l.Sent && l.LatencyOf == bench.FromScheduled, "%d scheduled, %d sending times, %d lags, from %q", l.Scheduled, l.Sending.Count, l.Lag.Count, l.LatencyOf)
				var inWindows int64
				at := time.Duration(0)
				for _, w := range windows {
					inWindows += w.Succeeded
					b.check(w.Start == at && w.P50 >= time.Millisecond && w.P50 <= w.Max, "a window that begins at %s after one that has ended at %s: %+v", w.Start, at, w)
					at = w.Start + w.Length
				}
				b.check(len(windows) == 2 && len(windows) == len(l.Windows) && inWindows == l.Succeeded && at == l.Elapsed, "%d windows until %s with %d successes, reported %d", len(windows), at, inWindows, len(l.Windows))
				b.check(!l.Warnings.Has(bench.WarnReopened), "%s", l.Warnings)
				for _, w := range aboutInFlight(l.Warnings) {
					// With so few requests, a client that a busy machine stops for 20 ms gets this
					// warning.
					b.check(w.Kind == bench.WarnResponsesSeenLate, "%s", w.Text)
				}
				return b.err()
			})
		})
	}
}

// A step that ends during the slice of another one ends without another slice.
func TestInterleavingEndsWithTheContextInRealTime(t *testing.T) {
	timedLoops(t, func(t testing.TB, e Engine) error {
		server := newCounting(t, hello)
		ctx, end := context.WithCancelCause(context.Background())
		gone := errors.New("gone")
		p := plan(server.URL, 2, time.Minute)
		given := 0
		p.Interleave = &interleaving{length: 20 * time.Millisecond, next: func() {
			if given++; given == 3 {
				end(gone)
			}
		}}
		l, err := e.Run(ctx, p, nil)
		if !errors.Is(err, gone) || given != 3 {
			t.Fatalf("%v after %d slices", err, given)
		}
		server.answered(t, 200, l.AllSucceeded())
		var b bounds
		b.check(l.Succeeded > 0 && l.Elapsed >= 60*time.Millisecond && l.Elapsed <= 10*time.Second, "%d succeeded in %s", l.Succeeded, l.Elapsed)
		return b.err()
	})
}
