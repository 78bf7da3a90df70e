//go:build acceptance && timing && linux

package load

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/limits"
	"github.com/locbench/locbench/internal/testenv"
)

// bounds collects the values outside their bounds.
type bounds []error

func (b *bounds) check(ok bool, format string, args ...any) {
	if !ok {
		*b = append(*b, fmt.Errorf(format, args...))
	}
}

func (b *bounds) err() error { return errors.Join(*b...) }

// timedLoops measures with each loop on a machine without stalls of 20 ms.
func timedLoops(t *testing.T, measure func(t testing.TB, e Engine) error) {
	t.Helper()
	eachLoop(t, func(t *testing.T, e Engine) {
		testenv.Judge(t, 4, 20*time.Millisecond, func(t testing.TB) error { return measure(t, e) })
	})
}

// timedOpenLoops is timedLoops for open loops.
func timedOpenLoops(t *testing.T, measure func(t testing.TB, e Engine) error) {
	t.Helper()
	eachOpenLoop(t, func(t *testing.T, e Engine) {
		testenv.Judge(t, 4, 20*time.Millisecond, func(t testing.TB) error { return measure(t, e) })
	})
}

// A step of a duration counts what the server answered, in its lead-in, interval and drain.
func TestRunOfADurationCountsWhatTheServerAnswered(t *testing.T) {
	for _, connections := range []int{1, 2, 16, 200, 2048} {
		t.Run(fmt.Sprint(connections), func(t *testing.T) {
			if err := limits.Check(2 * connections); err != nil {
				t.Skip(err)
			}
			timedLoops(t, func(t testing.TB, e Engine) error {
				server := newCounting(t, hello)
				l := run(t, e, plan(server.URL, connections, 300*time.Millisecond))
				server.answered(t, 200, l.AllSucceeded())
				server.opened(t, int64(connections))
				if l.Bytes != 5*l.Succeeded || l.ClientCPU <= 0 || l.Scheduled != l.Sent {
					t.Errorf("%d bytes in %d responses of 5, client CPU %s, scheduled %d, sent %d", l.Bytes, l.Succeeded, l.ClientCPU, l.Scheduled, l.Sent)
				}
				var b bounds
				b.check(l.Succeeded > 0 && l.FailedTotal() == 0 && l.Elapsed == 300*time.Millisecond, "%d succeeded in %s, failed %v", l.Succeeded, l.Elapsed, l.Failed)
				return b.err()
			})
		})
	}
}

func TestRunCompletesWhatIsInFlightAtTheEnd(t *testing.T) {
	timedLoops(t, func(t testing.TB, e Engine) error {
		server := newCounting(t, sleeps(120*time.Millisecond))
		l := run(t, e, plan(server.URL, 10, 300*time.Millisecond))
		server.answered(t, 200, l.AllSucceeded())
		var b bounds
		b.check(l.Drain > 0 && l.Drain <= 10 && l.Lead >= 10 && l.Backlog >= 1 && l.Backlog <= l.Drain, "%d + %d + %d succeeded, backlog %d", l.Lead, l.Succeeded, l.Drain, l.Backlog)
		// Two or three responses per each of 10 connections lie in 300 ms.
		b.check(l.Elapsed == 300*time.Millisecond && l.Succeeded <= 30, "%d succeeded in %s", l.Succeeded, l.Elapsed)
		return b.err()
	})
}

func TestRunIsNotStretchedByAStraggler(t *testing.T) {
	timedLoops(t, func(t testing.TB, e Engine) error {
		var n atomic.Int64
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			if n.Add(1) == 25 {
				time.Sleep(2 * time.Second)
			} else {
				time.Sleep(5 * time.Millisecond)
			}
			return hello(w, r)
		})
		p := plan(server.URL, 20, 300*time.Millisecond)
		p.Timeout = 5 * time.Second
		l := run(t, e, p)
		server.answered(t, 200, l.AllSucceeded())
		var b bounds
		b.check(l.Elapsed == 300*time.Millisecond && l.Latency.Max < 2*time.Second && l.Drain > 0 && l.DrainMax >= 2*time.Second,
			"%d + %d + %d succeeded; elapsed %s, the longest took %s and, in the drain, %s", l.Lead, l.Succeeded, l.Drain, l.Elapsed, l.Latency.Max, l.DrainMax)
		return b.err()
	})
}

func TestOnEndDoesNotWaitForATimeout(t *testing.T) {
	timedLoops(t, func(t testing.TB, e Engine) error {
		server := newHanging(t, 150)
		p := plan(server.URL, 4, 300*time.Millisecond)
		p.Timeout = 5 * time.Second
		var hooks ends
		hooks.hook(&p)
		l := run(t, e, p)
		returned := time.Now()
		if hooks.String() != "start end" || l.Timeouts.Count != 1 || l.Failures.Count != 0 {
			t.Fatalf("called: %s; failed: %v", &hooks, l.Failed)
		}
		var b bounds
		early, late := hooks.at["end"].Sub(l.Started.Add(l.Elapsed)), returned.Sub(hooks.at["end"])
		b.check(early >= 0 && late >= time.Second, "OnEnd came %s after the end of the interval and %s before the end of Run", early, late)
		b.check(l.Elapsed == p.Step.Duration && l.Backlog >= 1 && l.Backlog <= 4, "elapsed %s, backlog %d", l.Elapsed, l.Backlog)
		between := hooks.at["end"].Sub(hooks.at["start"])
		b.check(l.Wall <= between && l.ClientCPU > 0, "wall %s, between the hooks %s, client CPU %s", l.Wall, between, l.ClientCPU)
		return b.err()
	})
}

// A hanging request must not make the last window longer than the interval.
func TestLastWindowDoesNotWaitForATimeout(t *testing.T) {
	timedLoops(t, func(t testing.TB, e Engine) error {
		server := newHanging(t, 150)
		p := plan(server.URL, 4, 400*time.Millisecond)
		p.Timeout = 1500 * time.Millisecond
		e.Window = 200 * time.Millisecond
		l := run(t, e, p)
		var b bounds
		b.check(len(l.Windows) == 2 && l.Elapsed == p.Step.Duration && l.Failed[bench.ErrTimeout] == 1, "elapsed %s, failed %v, windows %v", l.Elapsed, l.Failed, l.Windows)
		return b.err()
	})
}

func TestHooksAreInOrder(t *testing.T) {
	timedLoops(t, func(t testing.TB, e Engine) error {
		server := newCounting(t, hello)
		var hooks ends
		p := plan(server.URL, 8, 200*time.Millisecond)
		p.OnStart = func() {
			hooks.note("start")
			if n := server.count(200); n < 8 {
				t.Errorf("the interval began after %d responses on 8 connections", n)
			}
			time.Sleep(50 * time.Millisecond) // no goroutine waits for it
		}
		p.OnEnd = func() { hooks.note("end") }
		l := run(t, e, p)
		if hooks.String() != "start end" {
			t.Errorf("called: %s", &hooks)
		}
		var b bounds
		b.check(!hooks.at["start"].Before(l.Started) && !hooks.at["end"].Before(l.Started.Add(l.Elapsed)) && l.Elapsed == p.Step.Duration && l.Lead >= 8,
			"hooks %s and %s after the beginning of an interval of %s, %d responses before it", hooks.at["start"].Sub(l.Started), hooks.at["end"].Sub(l.Started), l.Elapsed, l.Lead)
		return b.err()
	})
}

// After 1, 2, 4 … 64 ms there is one attempt per 100 ms: 9 on each of 4 connections, and rarely
// more.
func TestRunTriesARefusingPortSeldom(t *testing.T) {
	timedLoops(t, func(t testing.TB, e Engine) error {
		l := run(t, e, plan("http://"+refusing(t), 4, 300*time.Millisecond))
		var b bounds
		b.check(l.Failed[bench.ErrRefused] == l.Sent && l.Sent >= 4 && l.Sent <= 60, "failed %v of %d sent", l.Failed, l.Sent)
		return b.err()
	})
}

func TestRunOfADurationWithAServerThatDies(t *testing.T) {
	timedLoops(t, func(t testing.TB, e Engine) error {
		var self atomic.Pointer[counting]
		var died sync.WaitGroup
		var asked atomic.Int64
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			time.Sleep(time.Millisecond)
			if asked.Add(1) == 500 {
				died.Go(func() {
					self.Load().Listener.Close()
					self.Load().CloseClientConnections()
				})
			}
			return hello(w, r)
		})
		self.Store(server)
		l := run(t, e, plan(server.URL, 8, time.Second))
		died.Wait()
		var b bounds
		// At most the 8 responses in flight were written by the handler, but cut off.
		n, all := server.count(200), l.AllSucceeded()
		b.check(l.Succeeded > 0 && all <= n && all >= n-8, "%d succeeded, the server answered %d", all, n)
		// A request that was cut off before its response is sent once more, and then refused.
		b.check(l.Failed[bench.ErrRefused] > 0 && l.FailedTotal() == l.Failed[bench.ErrRefused]+l.Failed[bench.ErrReset], "failed: %v", l.Failed)
		b.check(l.Elapsed == time.Second, "elapsed %s: the time without responses counts as well", l.Elapsed)
		return b.err()
	})
}

func TestRunWithAServerThatHangs(t *testing.T) {
	timedLoops(t, func(t testing.TB, e Engine) error {
		hang := make(chan struct{})
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			<-hang
			return hello(w, r)
		})
		defer close(hang)
		p := plan(server.URL, 3, 200*time.Millisecond)
		p.Timeout = 1500 * time.Millisecond
		l := run(t, e, p)
		var b bounds
		n := l.Failed[bench.ErrTimeout]
		b.check(n >= 3 && n <= 6 && n == l.Sent && l.Failures.Count == 0, "failed: %v of %d sent", l.Failed, l.Sent)
		b.check(l.Timeouts.Min >= p.Timeout && l.Timeouts.Max <= 10*time.Second, "timeouts took %s to %s", l.Timeouts.Min, l.Timeouts.Max)
		b.check(l.Elapsed == p.Step.Duration && l.Succeeded == 0 && l.LeadIn >= p.Timeout, "elapsed %s after a lead-in of %s: timeouts after the end do not lengthen it", l.Elapsed, l.LeadIn)
		return b.err()
	})
}

// The requests in flight by the times of the requests are those by counting.
func TestLittlesLaw(t *testing.T) {
	timedLoops(t, func(t testing.TB, e Engine) error {
		server := newCounting(t, sleeps(20*time.Millisecond))
		l := run(t, e, plan(server.URL, 16, time.Second))
		flying := l.Throughput() * l.Latency.Mean.Seconds()
		var b bounds
		b.check(math.Abs(flying/l.InFlight-1) <= .1 && l.InFlight <= 16.01 && l.InFlight >= 1,
			"throughput × mean latency = %.2f, in flight were %.2f of 16: %s, %d, %s", flying, l.InFlight, l.Elapsed, l.Succeeded, l.Latency.Mean)
		return b.err()
	})
}

// A contender that takes 20 ms leaves the client idle, and one request per connection in flight.
func TestInFlightAndSaturationOfAStep(t *testing.T) {
	timedLoops(t, func(t testing.TB, e Engine) error {
		server := newCounting(t, sleeps(20*time.Millisecond))
		l := run(t, e, plan(server.URL, 8, 400*time.Millisecond))
		var b bounds
		b.check(l.InFlight >= 6 && l.InFlight <= 8.1, "%g in flight of 8", l.InFlight)
		b.check(l.Saturation <= .8 && (l.Loop == bench.LoopVegeta || l.Saturation > 0), "saturation %g", l.Saturation)
		return b.err()
	})
}

// In a ramp connections start evenly, one after the other.
func TestRunRampsConnections(t *testing.T) {
	timedLoops(t, func(t testing.TB, e Engine) error {
		const n, from = 20, 2
		var asked [n + 1]atomic.Int64 // by tenths of the step
		began := atomic.Int64{}
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			now := time.Now().UnixNano()
			began.CompareAndSwap(0, now)
			if i := (now - began.Load()) / int64(100*time.Millisecond); i < n {
				asked[i].Add(1)
			}
			time.Sleep(10 * time.Millisecond)
			return hello(w, r)
		})
		p := plan(server.URL, n, time.Second)
		p.Step.RampFrom = from
		l := run(t, e, p)
		var b bounds
		// With evenly rising connections the mean in flight is that of the two ends.
		want := float64(n+from) / 2
		b.check(l.InFlight >= 0.7*want && l.InFlight <= 1.15*want, "%.1f in flight, want about %.1f", l.InFlight, want)
		b.check(asked[8].Load() >= 2*asked[1].Load(), "%d requests in the second tenth, %d in the ninth", asked[1].Load(), asked[8].Load())
		b.check(len(aboutInFlight(l.Warnings)) == 0, "connections that wait for their turn count as the client's fault: %q", l.Warnings)
		return b.err()
	})
}

// Each request of a mix has its own latencies.
func TestKindsOfRequestsHaveTheirLatencies(t *testing.T) {
	for _, open := range []bool{false, true} {
		t.Run(fmt.Sprintf("open=%t", open), func(t *testing.T) {
			timedLoops(t, func(t testing.TB, e Engine) error {
				server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
					if r.URL.Path == "/slow" {
						time.Sleep(20 * time.Millisecond)
					}
					return hello(w, r)
				})
				p := counted(server.URL, 4, 600)
				p.Requests = []bench.Request{{Name: "fast", Path: "/fast", Weight: 3}, {Name: "slow", Path: "/slow", Weight: 1}}
				if open {
					p.Step.Connections, p.Step.Rate = 0, 500
				}
				l := run(t, e, p)
				fast, slow := l.Requests[0], l.Requests[1]
				var b bounds
				b.check(slow.Latency.Min >= 20*time.Millisecond && fast.Latency.P50 < 20*time.Millisecond, "%+v", l.Requests)
				return b.err()
			})
		})
	}
}
