package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// Responses within the interval are measured, by the contender's own journal. Those in flight at
// its end are completed and counted apart.
func TestInterval_CompletesWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := steady(t, 120*time.Millisecond)
		e := c.engine()
		e.Window = 100 * time.Millisecond
		l := run(t, e, plan(virtualURL, 10, 300*time.Millisecond))
		if l.Elapsed != 300*time.Millisecond || len(l.Windows) != 3 {
			t.Errorf("elapsed %s in %d windows", l.Elapsed, len(l.Windows))
		}
		for i, w := range l.Windows {
			if n := c.between(l.Started.Add(w.Start), w.Length); w.Succeeded != n || w.Length != e.Window {
				t.Errorf("window %d of %s: %d succeeded, the contender answered %d", i, w.Length, w.Succeeded, n)
			}
		}
		if n := c.between(l.Started, l.Elapsed); l.Succeeded != n || l.AllSucceeded() != c.count() {
			t.Errorf("%d + %d + %d succeeded, the contender answered %d, %d in the interval", l.Lead, l.Succeeded, l.Drain, c.count(), n)
		}
		if l.Drain != 10 || l.Backlog != 10 || l.Lead < 10 {
			t.Errorf("lead-in %d, drain %d, backlog %d; 10 were in flight at each moment", l.Lead, l.Drain, l.Backlog)
		}
		if l.Latency.Min.Round(time.Millisecond) != 120*time.Millisecond || l.Latency.Max.Round(time.Millisecond) != 120*time.Millisecond {
			t.Errorf("latencies from %s to %s", l.Latency.Min, l.Latency.Max)
		}
		if c.connections.Load() != 10 {
			t.Errorf("%d connections", c.connections.Load())
		}
	})
}

// A contender that never responds makes the lead-in as long as the timeout.
func TestInterval_BeginsWithoutResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := steady(t, time.Hour)
		p := plan(virtualURL, 3, 200*time.Millisecond)
		p.Timeout = 1500 * time.Millisecond
		l := run(t, c.engine(), p)
		if l.LeadIn < p.Timeout || l.LeadIn > p.Timeout+3*time.Millisecond || l.Elapsed != p.Step.Duration || l.Succeeded != 0 {
			t.Errorf("lead-in %s, elapsed %s: timeouts after the end do not lengthen it", l.LeadIn, l.Elapsed)
		}
		if n := l.Failed[bench.ErrTimeout]; n != l.Sent || n < 3 || n > 6 {
			t.Errorf("failed: %v of %d sent", l.Failed, l.Sent)
		}
		if l.Timeouts.Min.Round(10*time.Millisecond) != p.Timeout || l.Timeouts.Max.Round(10*time.Millisecond) != p.Timeout || l.Failures.Count != 0 {
			t.Errorf("timeouts took %s to %s, %d other failures", l.Timeouts.Min, l.Timeouts.Max, l.Failures.Count)
		}
	})
}

func TestInterval_IsNotStretchedByAStraggler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The 800th request comes about 200 ms after the first.
		c := newContender(t, func(n int64) time.Duration {
			if n == 800 {
				return 2 * time.Second
			}
			return 5 * time.Millisecond
		})
		l := run(t, c.engine(), plan(virtualURL, 20, 300*time.Millisecond))
		if l.Elapsed != 300*time.Millisecond || l.Latency.Max.Round(time.Millisecond) != 5*time.Millisecond || l.AllSucceeded() != c.count() || l.Drain < 1 || l.Drain > 20 {
			t.Errorf("%d + %d + %d succeeded, the contender answered %d; elapsed %s, the longest took %s",
				l.Lead, l.Succeeded, l.Drain, c.count(), l.Elapsed, l.Latency.Max)
		}
	})
}

// The hooks come exactly at the two ends, and a hanging request delays neither the second hook nor
// the last window.
func TestInterval_HooksAreAtItsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newContender(t, func(n int64) time.Duration {
			if n == 400 {
				return time.Hour
			}
			return time.Millisecond
		})
		p := plan(virtualURL, 4, 400*time.Millisecond)
		p.Timeout = 5 * time.Second
		var hooks ends
		p.OnStart = func() {
			hooks.note("start")
			if n := c.count(); n < 4 {
				t.Errorf("the interval began after %d responses on 4 connections", n)
			}
			time.Sleep(50 * time.Millisecond) // no goroutine waits for it
		}
		p.OnEnd = func() { hooks.note("end") }
		e := c.engine()
		e.Window = 200 * time.Millisecond
		l := run(t, e, p)
		returned := time.Now()
		if hooks.String() != "start end" || l.Timeouts.Count != 1 || l.Failures.Count != 0 {
			t.Fatalf("called: %s; failed: %v", &hooks, l.Failed)
		}
		if !hooks.at["start"].Equal(l.Started) || !hooks.at["end"].Equal(l.Started.Add(l.Elapsed)) || l.Elapsed != p.Step.Duration {
			t.Errorf("hooks %s and %s after the beginning of an interval of %s", hooks.at["start"].Sub(l.Started), hooks.at["end"].Sub(l.Started), l.Elapsed)
		}
		if late := returned.Sub(hooks.at["end"]); late < 4*time.Second {
			t.Errorf("the run ended %s after the interval, though a request hung", late)
		}
		if len(l.Windows) != 2 || l.Windows[1].Length != e.Window || l.Backlog < 1 || l.Backlog > 4 || l.Wall != 350*time.Millisecond {
			t.Errorf("windows %v, backlog %d, wall %s", l.Windows, l.Backlog, l.Wall)
		}
	})
}

func TestInterval_DoesNotWaitForItsListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := steady(t, time.Millisecond)
		e := c.engine()
		e.Window = 20 * time.Millisecond
		calls := 0
		l, err := e.Run(t.Context(), plan(virtualURL, 2, time.Second), func(bench.Window) {
			if calls++; calls == 1 {
				time.Sleep(500 * time.Millisecond)
			}
		})
		if err != nil || calls != 50 || len(l.Windows) != 50 || l.Elapsed != time.Second {
			t.Errorf("%d calls for %d windows in %s, %v", calls, len(l.Windows), l.Elapsed, err)
		}
		for i, w := range l.Windows {
			if w.Succeeded != 40 {
				t.Errorf("%d succeeded in window %d, which is 20 ms of 2 connections at 1 ms", w.Succeeded, i)
			}
		}
	})
}

// The requests in flight by the times of the requests are those by counting.
func TestInterval_ObeysLittlesLaw(t *testing.T) {
	for name, step := range map[string]bench.Step{"closed": {Connections: 16}, "open": {Rate: 800}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := steady(t, 20*time.Millisecond)
				p := plan(virtualURL, 0, time.Second)
				step.Duration = p.Step.Duration
				p.Step = step
				l := run(t, c.engine(), p)
				if flying := l.Throughput() * l.Latency.Mean.Seconds(); math.Abs(flying-16) > .1 || math.Abs(l.InFlight-16) > .1 {
					t.Errorf("throughput × mean latency = %.2f, in flight were %.2f of 16: %s, %d, %s", flying, l.InFlight, l.Elapsed, l.Succeeded, l.Latency.Mean)
				}
				if l.Warnings.Has(bench.WarnUnstableLoad) || len(aboutInFlight(l.Warnings)) > 0 {
					t.Error(l.Warnings)
				}
			})
		})
	}
}

// In a ramp connections start evenly, one after the other: the mean in flight is that of the two
// ends.
func TestInterval_RampsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, from = 20, 2
		c := steady(t, 10*time.Millisecond)
		p := plan(virtualURL, n, time.Second)
		p.Step.RampFrom = from
		l := run(t, c.engine(), p)
		if math.Abs(l.InFlight-(n+from)/2) > .1 {
			t.Errorf("%.2f in flight, want %d", l.InFlight, (n+from)/2)
		}
		early, late := c.between(l.Started, 100*time.Millisecond), c.between(l.Started.Add(800*time.Millisecond), 100*time.Millisecond)
		if early > 40 || late < 150 || c.connections.Load() != n {
			t.Errorf("%d responses in the first tenth, %d in the ninth, %d connections", early, late, c.connections.Load())
		}
		if len(aboutInFlight(l.Warnings)) > 0 {
			t.Errorf("connections that wait for their turn count as the client's fault: %q", l.Warnings)
		}
	})
}

// After 1, 2, 4 … 64 ms a refused connection tries again every 100 ms.
func TestInterval_RefusedConnectionsBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := Engine{Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
		}}
		l := run(t, e, plan(virtualURL, 4, 350*time.Millisecond))
		// Each connection: at once, after 1, 3, 7, 15, 31, 63, 127, 227 and 327 ms.
		if n := l.Failed[bench.ErrRefused]; n != l.Sent || n < 4*9 || n > 4*11 {
			t.Errorf("failed %v of %d sent", l.Failed, l.Sent)
		}
	})
}

func TestHooksOfAnInterruptedStep(t *testing.T) {
	for _, test := range []struct {
		name, want string
		run        func(t *testing.T, p Plan) (bench.Load, error)
	}{
		{"while sending", "start end", func(t *testing.T, p Plan) (bench.Load, error) {
			ctx, cancel := context.WithCancel(t.Context())
			start := p.OnStart
			p.OnStart = func() {
				start()
				time.AfterFunc(100*time.Millisecond, cancel)
			}
			l, err := steady(t, time.Millisecond).engine().Run(ctx, p, nil)
			if l.Wall != 100*time.Millisecond || l.Elapsed != l.Wall || l.AllSucceeded() != l.Sent {
				t.Errorf("wall %s, elapsed %s, %d of %d succeeded", l.Wall, l.Elapsed, l.AllSucceeded(), l.Sent)
			}
			return l, err
		}},
		{"in the lead-in", "", func(t *testing.T, p Plan) (bench.Load, error) {
			ctx, cancel := context.WithCancel(t.Context())
			c := newContender(t, func(int64) time.Duration {
				cancel()
				return time.Hour
			})
			l, err := c.engine().Run(ctx, p, nil)
			if l.Elapsed != 0 || l.Cut != l.Sent || l.Sent == 0 {
				t.Errorf("%d sent, %d cut off, elapsed %s", l.Sent, l.Cut, l.Elapsed)
			}
			return l, err
		}},
		{"in OnStart", "start end", func(t *testing.T, p Plan) (bench.Load, error) {
			ctx, cancel := context.WithCancel(t.Context())
			start := p.OnStart
			p.OnStart = func() {
				start()
				cancel()
			}
			return steady(t, time.Millisecond).engine().Run(ctx, p, nil)
		}},
		{"while connecting", "", func(t *testing.T, p Plan) (bench.Load, error) {
			ctx, cancel := context.WithCancel(t.Context())
			return Engine{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				cancel()
				return nil, ctx.Err()
			}}.Run(ctx, p, nil)
		}},
		{"while connecting, which hangs", "", func(t *testing.T, p Plan) (bench.Load, error) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			l, err := Engine{Dial: hangs}.Run(ctx, p, nil)
			if l.Sent != 0 {
				t.Errorf("%d sent", l.Sent)
			}
			return l, err
		}},
		{"while connecting again", "", func(t *testing.T, p Plan) (bench.Load, error) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(100*time.Millisecond, cancel)
			var dials atomic.Int64
			l, err := Engine{Grace: 20 * time.Millisecond, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				if dials.Add(1) <= 4 {
					return nil, errors.New("no")
				}
				return hangs(ctx, network, address)
			}}.Run(ctx, p, nil)
			if l.Sent != 1 || l.Cut != 1 || l.FailedTotal() != 0 { // the others start after the first response
				t.Errorf("%d sent, failed %v", l.Sent, l.Failed)
			}
			return l, err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := plan(virtualURL, 4, time.Minute)
				var hooks ends
				hooks.hook(&p)
				if _, err := test.run(t, p); !errors.Is(err, context.Canceled) || hooks.String() != test.want {
					t.Errorf("called: %s; error %v", &hooks, err)
				}
			})
		})
	}
	t.Run("before", func(t *testing.T) {
		var hooks ends
		p := plan("nonsense", 4, time.Minute)
		hooks.hook(&p)
		if _, err := (Engine{}).Run(t.Context(), p, nil); err == nil || hooks.String() != "" {
			t.Errorf("called: %s; error %v", &hooks, err)
		}
	})
}

// hangs returns a dialler that gets no response.
func hangs(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// With at least as many connections as it has places, the contender's rate is measured, in each
// window and overall.
func TestInterval_SeesTheRateOfPlaces(t *testing.T) {
	for _, connections := range []int{25, 50, 200, 500} {
		t.Run(fmt.Sprint(connections), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n, delay = 50, 50 * time.Millisecond
				places := make(chan time.Time, n) // when each became free
				for range n {
					places <- time.Time{}
				}
				c := newContender(t, func(int64) time.Duration {
					began := time.Now()
					if since := <-places; since.After(began) {
						began = since
					}
					places <- began.Add(delay)
					return time.Until(began.Add(delay))
				})
				l := run(t, c.engine(), plan(virtualURL, connections, 3*time.Second))
				want := float64(min(n, connections)) / delay.Seconds()
				if math.Abs(l.Throughput()/want-1) > .01 || l.Succeeded != c.between(l.Started, l.Elapsed) {
					t.Errorf("%.1f/s, want %.1f/s; %d succeeded, the contender answered %d", l.Throughput(), want, l.Succeeded, c.between(l.Started, l.Elapsed))
				}
				for i, w := range l.Windows {
					if math.Abs(w.Throughput()/want-1) > .03 {
						t.Errorf("window %d: %.1f/s, want %.1f/s", i, w.Throughput(), want)
					}
				}
			})
		})
	}
}
