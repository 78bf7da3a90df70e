//go:build acceptance && timing && linux

package load

import (
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestOpenLoopOfADurationSendsWhatIsScheduled(t *testing.T) {
	for name, step := range map[string]bench.Step{
		"constant": {Rate: 1000},
		"ramp":     {Rate: 500, RampTo: 1500},
		"wave":     {Rate: 1000, Wave: &bench.Wave{Amplitude: 500, Period: 250 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			timedOpenLoops(t, func(t testing.TB, e Engine) error {
				server := newCounting(t, hello)
				p := openPlan(server.URL, 0, 0, 500*time.Millisecond)
				step.Duration = p.Step.Duration
				p.Step = step
				e.Window = 100 * time.Millisecond
				l := runOpen(t, e, p)
				server.answered(t, 200, l.AllSucceeded())
				var b bounds
				n := scheduled(l)
				b.check(n >= 499 && n <= 501, "%d were scheduled in the interval, want 500", n)
				b.check(l.AllSucceeded() == l.Scheduled && l.Elapsed == 500*time.Millisecond, "%d succeeded of %d in %s; failed %v, dropped %d", l.AllSucceeded(), l.Scheduled, l.Elapsed, l.Failed, l.Dropped)
				return b.err()
			})
		})
	}
}

func TestOpenLoopEndsWithItsRequests(t *testing.T) {
	timedOpenLoops(t, func(t testing.TB, e Engine) error {
		server := newCounting(t, hello)
		l := runOpen(t, e, openCounted(server.URL, 2000, 0, 150))
		server.answered(t, 200, 150)
		var b bounds
		b.check(l.Scheduled == 150 && l.Elapsed <= 30*time.Second, "%d scheduled in %s", l.Scheduled, l.Elapsed)
		return b.err()
	})
}

// A contender that stalls for one second at 1,000 requests per second is late for a thousand of
// them, whether or not the client sent any meanwhile. A request scheduled u after the beginning of
// a stall of S, and served at μ per second after it, waits for S − u + 1000 u / μ.
func TestStallShowsInLatencyFromScheduled(t *testing.T) {
	const connections, stall = 8, time.Second
	timedOpenLoops(t, func(t testing.TB, e Engine) error {
		var mu sync.RWMutex
		stalls := make(chan time.Duration, 1)
		var over atomic.Pointer[time.Time]
		var after, catchUp atomic.Int64 // responses after the stall; ns that the first 900 took
		url := raw(t, func(conn net.Conn, _ string) bool {
			mu.RLock()
			defer mu.RUnlock()
			if end := over.Load(); end != nil && after.Add(1) == 900 {
				catchUp.Store(int64(time.Since(*end)))
			}
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
			return true
		})
		p := openPlan(url, 1000, connections, 2500*time.Millisecond)
		p.OnStart = func() {
			time.AfterFunc(500*time.Millisecond, func() {
				mu.Lock()
				began := time.Now()
				time.Sleep(stall)
				end := time.Now()
				over.Store(&end)
				stalls <- end.Sub(began)
				mu.Unlock()
			})
		}
		l := runOpen(t, e, p)
		stalled := <-stalls
		var b bounds
		b.check(scheduled(l) == 2500 && l.AllSucceeded() == l.Scheduled && l.MaxOpenConnections == connections, "%d scheduled, %d succeeded, %d connections, failed %v, dropped %d", scheduled(l), l.Succeeded, l.MaxOpenConnections, l.Failed, l.Dropped)
		perSecond := 900 / time.Duration(catchUp.Load()).Seconds()
		for _, d := range []time.Duration{100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, 750 * time.Millisecond} {
			want := (stalled - d).Seconds() * 1000 / (1 - 1000/perSecond)
			got := above(t, l.Latency, d)
			t.Logf("over %s: %d from the scheduled time, want %.0f; %d from their sending", d, got, want, above(t, l.Sending, d))
			b.check(float64(got) > want-20 && float64(got) < want+20, "over %s: %d from the scheduled time, want %.0f", d, got, want)
			// Only those in flight when it began have seen it.
			b.check(above(t, l.Sending, d) <= connections, "over %s: %d from their sending", d, above(t, l.Sending, d))
		}
		b.check(l.Late >= 900 && l.WaitedForConnection >= 900 && sentLate(l.Warnings, connections), "%d late, %d waited, warnings %q", l.Late, l.WaitedForConnection, l.Warnings)
		return b.err()
	})
}

func TestOpenLoopDropsWhatCannotBeSent(t *testing.T) {
	timedOpenLoops(t, func(t testing.TB, e Engine) error {
		hang := make(chan struct{})
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			<-hang
			return hello(w, r)
		})
		defer close(hang)
		p := openPlan(server.URL, 1000, 3, 600*time.Millisecond)
		p.Timeout = 250 * time.Millisecond
		l := runOpen(t, e, p)
		var b bounds
		// Each of three connections is given up after a quarter of a second, and takes the next in
		// the queue.
		b.check(scheduled(l) == 600 && l.Sent >= 3 && l.Sent <= 15 && l.Failed[bench.ErrTimeout] == l.Sent && l.Dropped == l.Scheduled-l.Sent, "%d scheduled, %d sent, %d dropped, failed %v", l.Scheduled, l.Sent, l.Dropped, l.Failed)
		b.check(l.Warnings.Has(bench.WarnDropped), "warnings %q", l.Warnings)
		return b.err()
	})
}

func TestChangedRateIsKept(t *testing.T) {
	timedOpenLoops(t, func(t testing.TB, e Engine) error {
		server := newCounting(t, hello)
		var rate atomic.Int64
		rate.Store(100)
		p := openCounted(server.URL, 5000, 0, 1020)
		p.Rate = func() float64 {
			if server.count(200) >= 20 {
				rate.Store(2000)
			}
			return float64(rate.Load())
		}
		l := runOpen(t, e, p)
		var b bounds
		// 20 or a few more at 100 a second, the rest at 2,000: 0.2 s and 0.5 s. At 5,000 it would
		// be 0.2 s, at 100 over ten.
		b.check(l.Succeeded == 1020 && l.Elapsed >= 600*time.Millisecond && l.Elapsed <= 5*time.Second, "%d succeeded, elapsed %s", l.Succeeded, l.Elapsed)
		return b.err()
	})
}

func TestArrivalsTakeTheirTime(t *testing.T) {
	timedOpenLoops(t, func(t testing.TB, e Engine) error {
		server := newCounting(t, sleeps(5*time.Millisecond))
		p := plan(server.URL, 0, time.Minute)
		p.Step = bench.Step{Name: "burst", Arrivals: &bench.Arrivals{Users: 200, Over: 300 * time.Millisecond, Requests: 3}, Duration: time.Minute}
		l := runOpen(t, e, p)
		server.answered(t, 200, 600)
		var b bounds
		// It is over when the last one has been served, not after a whole number of seconds nor the
		// duration.
		b.check(l.Elapsed >= 298*time.Millisecond && l.Elapsed <= 20*time.Second, "elapsed %s", l.Elapsed)
		return b.err()
	})
}

func TestArrivalsEndWithTheDuration(t *testing.T) {
	timedOpenLoops(t, func(t testing.TB, e Engine) error {
		hang := make(chan struct{})
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			<-hang
			return hello(w, r)
		})
		p := plan(server.URL, 0, time.Minute)
		p.Step = bench.Step{Arrivals: &bench.Arrivals{Users: 10, Over: 10 * time.Millisecond, Requests: 2}, MaxConnections: 4, Duration: 200 * time.Millisecond}
		p.OnStart = func() { time.AfterFunc(400*time.Millisecond, func() { close(hang) }) }
		l := runOpen(t, e, p)
		var b bounds
		// Four users are in flight; their second requests, and six users, are dropped.
		b.check(l.Scheduled == 20 && l.Sent == 4 && l.AllSucceeded() == 4 && l.Dropped == 16, "%d scheduled, %d sent, %d succeeded, %d dropped", l.Scheduled, l.Sent, l.Succeeded, l.Dropped)
		return b.err()
	})
}

// A contender may close an unused connection. The next request is not sent on it, and does not
// fail.
func TestOpenLoopNoticesIdleConnectionsThatWereClosed(t *testing.T) {
	timedOpenLoops(t, func(t testing.TB, e Engine) error {
		var answered atomic.Int64
		url := raw(t, func(conn net.Conn, _ string) bool {
			answered.Add(1)
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
			time.Sleep(10 * time.Millisecond)
			return false
		})
		l := runOpen(t, e, openPlan(url, 10, 0, 500*time.Millisecond))
		var b bounds
		b.check(l.AllSucceeded() == l.Sent && answered.Load() == l.Sent && l.Sent >= 5, "%d succeeded, the server answered %d, failed %v %v", l.Succeeded, answered.Load(), l.Failed, l.Examples)
		return b.err()
	})
}

// The two counts of requests in flight in an open loop agree.
func TestOpenLoopObeysLittlesLaw(t *testing.T) {
	timedOpenLoops(t, func(t testing.TB, e Engine) error {
		server := newCounting(t, sleeps(20*time.Millisecond))
		p := plan(server.URL, 0, time.Second)
		p.Step.Rate = 400
		l := run(t, e, p)
		var b bounds
		b.check(!l.Warnings.Has(bench.WarnUnstableLoad) && l.InFlight >= 7, "%.2f in flight, %s", l.InFlight, l.Warnings)
		return b.err()
	})
}

func TestHTTP2OpenLoopSendsWhatIsScheduled(t *testing.T) {
	testenv.Judge(t, 4, 20*time.Millisecond, func(tb testing.TB) error {
		server, e := newHTTP2(t, false, hello)
		p := openPlan(server.URL, 500, 8, 300*time.Millisecond)
		p.HTTP2 = true
		l := run(tb, e, p)
		server.answered(tb, 200, l.AllSucceeded())
		var b bounds
		b.check(l.Sent+l.Dropped == l.Scheduled && scheduled(l) >= 149 && scheduled(l) <= 151, "%d of %d succeeded; failed: %v %v", l.Succeeded, l.Scheduled, l.Failed, l.Examples)
		return b.err()
	})
}
