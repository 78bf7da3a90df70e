//go:build acceptance && timing && linux

package load

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"locbench/internal/bench"
)

// bursts are the steps of which pulses and turns are tested.
var bursts = map[string]bench.Step{"closed": {Connections: 4}, "open": {Rate: 400}}

func TestPulsesInRealTime(t *testing.T) {
	const burst, rest, window = 200 * time.Millisecond, 150 * time.Millisecond, 100 * time.Millisecond
	for name, step := range bursts {
		t.Run(name, func(t *testing.T) {
			judged(t, func(t testing.TB, e Engine) error {
				var atWork, asked atomic.Int64
				server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
					asked.Add(1)
					atWork.Add(1)
					defer atWork.Add(-1)
					time.Sleep(time.Millisecond)
					return hello(w, r)
				})
				p := plan(server.URL, 4, 0)
				p.Step = step
				p.Step.Duration, p.Step.Pulses = 800*time.Millisecond, &bench.Pulses{Burst: burst, Rest: rest}
				began, ended := 0, 0
				p.OnStart, p.OnEnd = func() { began++ }, func() { ended++ }
				cpu := used(&asked, .25)
				p.CPU = func() (time.Duration, bool) {
					if n := atWork.Load(); n != 0 && began == ended {
						t.Errorf("%d requests in flight in a rest", n)
					}
					return cpu()
				}
				e.Window = window
				l := runPulsed(t, e, p)
				var b bounds
				if began < 2 || began > 3 || ended != began || l.Rests == nil || l.Rests.Count < began-1 || l.Rests.Count > began {
					b.check(false, "%d bursts begun, %d ended, rests %+v", began, ended, l.Rests)
					return b.err()
				}
				cpus, ok := l.Rests.CPUs()
				b.check(ok && math.Abs(cpus-.25) <= .01 && l.Rests.Time >= time.Duration(l.Rests.Count)*rest*8/10, "%.2f CPUs in rests of %s, %v", cpus, l.Rests.Time, ok)
				b.check(l.Succeeded+l.FailedTotal() > 0 && l.Succeeded <= server.count(200) && l.Elapsed >= burst && l.Elapsed <= time.Duration(began)*burst*3/2, "%d succeeded in %s, the server answered %d", l.Succeeded, l.Elapsed, server.count(200))
				n := server.connections.Load()
				b.check(step.Rate > 0 || n == 4, "%d connections were opened", n)
				gaps := 0
				for i, w := range l.Windows {
					if i > 0 && w.Start-l.Windows[i-1].Start-l.Windows[i-1].Length > rest/2 {
						gaps++
					}
				}
				b.check(gaps == began-1, "%d gaps between %d bursts", gaps, began)
				return b.err()
			})
		})
	}
}

// A step that waits until it has settled ends then, with a rest in it; one that becomes ever faster
// ends with its duration, and says so.
func TestRunEndsWhenSettled(t *testing.T) {
	const window = 100 * time.Millisecond
	for name, step := range map[string]bench.Step{"closed": {Connections: 4}, "open": {Rate: 200}} {
		t.Run(name, func(t *testing.T) {
			judged(t, func(t testing.TB, e Engine) error {
				server := newCounting(t, sleeps(5*time.Millisecond))
				p := plan(server.URL, 0, 0)
				p.Step = step
				p.Step.Duration, p.Step.Settle = time.Minute, true
				e.Window = window
				l := runPulsed(t, e, p)
				var b bounds
				b.check(l.Settled >= leastLook*window && l.Settled <= 50*time.Second && l.Rests != nil && l.Rests.Count >= 1 && l.Rests.CPU == nil, "settled after %s with the rests %+v, %q", l.Settled, l.Rests, l.Warnings)
				last := l.Windows[len(l.Windows)-1]
				b.check(last.Start <= l.Settled, "settled after %s, and a window at %s", l.Settled, last.Start)
				return b.err()
			})
		})
	}
	t.Run("ever faster", func(t *testing.T) {
		judged(t, func(t testing.TB, e Engine) error {
			var asked atomic.Int64
			faster := newCounting(t, func(http.ResponseWriter, *http.Request) int {
				time.Sleep(time.Duration(20e6 * math.Exp(-float64(asked.Add(1))/1200)))
				return http.StatusOK
			})
			p := plan(faster.URL, 8, 25*window)
			p.Step.Settle = true
			e.Window = window
			l := runPulsed(t, e, p)
			var b bounds
			b.check(l.Settled == 0 && strings.Contains(l.Warnings.Join("\n"), "not settled within 2.5s"), "settled after %s, %q", l.Settled, l.Warnings)
			return b.err()
		})
	})
}

// A service that is faster only after a rest is not called settled before it; and the rest goes on
// until the service does nothing any more.
func TestSettlesBehindTheRestThatMakesFaster(t *testing.T) {
	const window, compiles = 100 * time.Millisecond, 350 * time.Millisecond
	judged(t, func(t testing.TB, e Engine) error {
		var last atomic.Int64
		var fast atomic.Bool
		server := newCounting(t, func(http.ResponseWriter, *http.Request) int {
			now := time.Now().UnixNano()
			if before := last.Swap(now); before > 0 && now-before > int64(compiles) {
				fast.Store(true)
			}
			d := 10 * time.Millisecond
			if fast.Load() {
				d = 5 * time.Millisecond
			}
			time.Sleep(d)
			last.Store(time.Now().UnixNano())
			return http.StatusOK
		})
		p := plan(server.URL, 4, time.Minute)
		p.Step.Settle = true
		idle := func() float64 {
			if !fast.Load() && time.Now().UnixNano()-last.Load() < int64(compiles) {
				return 1
			}
			return 0
		}
		var at time.Time
		var cpu time.Duration
		p.CPU = func() (time.Duration, bool) {
			now := time.Now()
			if !at.IsZero() {
				cpu += time.Duration(idle() * float64(now.Sub(at)))
			}
			at = now
			return cpu, true
		}
		e.Window = window
		l := runPulsed(t, e, p)
		var b bounds
		b.check(fast.Load() && l.Settled > 0, "fast %v, settled after %s, rests %+v, %q", fast.Load(), l.Settled, l.Rests, l.Warnings)
		b.check(l.Rests != nil && l.Rests.Time >= compiles, "rests %+v, though it was at work for %s in them", l.Rests, compiles)
		slow := 0
		for _, w := range l.Windows {
			if w.Throughput() < 500 {
				slow++
			}
		}
		b.check(slow <= len(l.Windows)/2, "settled after %s, though %d of %d windows were slow", l.Settled, slow, len(l.Windows))
		return b.err()
	})
}

func TestPulsesEndWithTheContextInRealTime(t *testing.T) {
	judged(t, func(t testing.TB, e Engine) error {
		server := newCounting(t, hello)
		ctx, end := context.WithTimeout(context.Background(), 250*time.Millisecond)
		defer end()
		p := plan(server.URL, 2, time.Minute)
		p.Step.Pulses = &bench.Pulses{Burst: 100 * time.Millisecond, Rest: 30 * time.Second}
		began := time.Now()
		l, err := e.Run(ctx, p, nil)
		took := time.Since(began)
		var b bounds
		b.check(err != nil && took <= 10*time.Second && l.Succeeded > 0 && l.Rests != nil && l.Rests.Count == 1, "%v after %s, %d succeeded, %+v", err, took, l.Succeeded, l.Rests)
		return b.err()
	})
}

func TestTurnsInRealTime(t *testing.T) {
	const length, rest = 100 * time.Millisecond, 50 * time.Millisecond
	for name, step := range bursts {
		t.Run(name, func(t *testing.T) {
			judged(t, func(t testing.TB, e Engine) error {
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
				p.Turns = &Turns{Length: length, Next: func() {
					given++
					time.Sleep(rest / 2) // what has been answered may still have to return
					before := server.count(200)
					time.Sleep(rest / 2)
					if n := atWork.Load(); n != 0 || server.count(200) != before {
						t.Errorf("%d requests in flight during the turn of somebody else, %d answered", n, server.count(200)-before)
					}
				}}
				p.OnStart, p.OnEnd = func() { began++ }, func() { ended++ }
				var windows []bench.Window
				took := time.Now()
				e.Window = 200 * time.Millisecond
				l, err := e.Run(context.Background(), p, func(w bench.Window) { windows = append(windows, w) })
				if err != nil {
					t.Fatal(err)
				}
				var b bounds
				const turns = 4 // the last one takes in the rest
				b.check(given == turns-1 && began == turns && ended == turns, "%d turns given away, %d begun and %d ended", given, began, ended)
				real := time.Since(took) - (turns-1)*rest
				b.check(l.Elapsed == p.Step.Duration && l.LeadIn > 0 && l.LeadIn+l.Elapsed <= real && l.Wall > 0 && l.Wall <= real, "elapsed %s, wall %s of %s", l.Elapsed, l.Wall, real)
				server.answered(t, 200, l.AllSucceeded())
				b.check(l.Succeeded > 0 && l.FailedTotal() == 0 && l.Sent == l.AllSucceeded() && l.Latency.Count == l.Succeeded, "%d succeeded, %d failed, %d sent, %d latencies", l.Succeeded, l.FailedTotal(), l.Sent, l.Latency.Count)
				n := server.connections.Load()
				b.check(step.Rate > 0 || n == 4, "%d connections were opened", n)
				b.check(step.Rate == 0 || due(l) >= 172 && due(l) <= 180 && l.Sending.Count == l.Succeeded && l.Lag.Count == l.Sent && l.LatencyOf == bench.FromDue, "%d due, %d sending times, %d lags, from %q", l.Scheduled, l.Sending.Count, l.Lag.Count, l.LatencyOf)
				var inWindows int64
				at := time.Duration(0)
				for _, w := range windows {
					inWindows += w.Succeeded
					b.check(w.Start == at && !w.Drain && w.P50 >= time.Millisecond && w.P50 <= w.Max, "a window that begins at %s after one that has ended at %s: %+v", w.Start, at, w)
					at = w.Start + w.Length
				}
				b.check(len(windows) == 2 && len(windows) == len(l.Windows) && inWindows == l.Succeeded && at == l.Elapsed, "%d windows until %s with %d successes, reported %d", len(windows), at, inWindows, len(l.Windows))
				for _, w := range l.Warnings {
					// With so few requests a client that a busy machine stops for 20 ms is found out.
					stopped := w.Kind == bench.FoundAnswersUnseen
					b.check(!strings.Contains(w.Text, "opened again") && (stopped || !strings.Contains(w.Text, "in flight")), "%s", w.Text)
				}
				return b.err()
			})
		})
	}
}

// What ends while somebody else has the turn ends without another one.
func TestTurnsEndWithTheContextInRealTime(t *testing.T) {
	judged(t, func(t testing.TB, e Engine) error {
		server := newCounting(t, hello)
		ctx, end := context.WithCancelCause(context.Background())
		gone := errors.New("gone")
		p := plan(server.URL, 2, time.Minute)
		given := 0
		p.Turns = &Turns{Length: 20 * time.Millisecond, Next: func() {
			if given++; given == 3 {
				end(gone)
			}
		}}
		l, err := e.Run(ctx, p, nil)
		if !errors.Is(err, gone) || given != 3 {
			t.Fatalf("%v after %d turns", err, given)
		}
		server.answered(t, 200, l.AllSucceeded())
		var b bounds
		b.check(l.Succeeded > 0 && l.Elapsed >= 60*time.Millisecond && l.Elapsed <= 10*time.Second, "%d succeeded in %s", l.Succeeded, l.Elapsed)
		return b.err()
	})
}
