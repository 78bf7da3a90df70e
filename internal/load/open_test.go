package load

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/hdr"
)

// openPlan is a plan of a rate over at most so many connections.
func openPlan(url string, rate float64, most int, duration time.Duration) Plan {
	p := plan(url, 0, duration)
	p.Step = bench.Step{Name: "open", Rate: rate, MaxConnections: most, Duration: duration}
	return p
}

// runOpen is run, and checks what holds for every open loop that was not interrupted.
func runOpen(t *testing.T, e Engine, p Plan) bench.Load {
	t.Helper()
	l := run(t, e, p)
	var sent, late, dropped int64
	for _, w := range l.Windows {
		sent, late, dropped = sent+w.Sent, late+w.Late, dropped+w.Dropped
	}
	if sent > l.Sent || due(l) > l.Scheduled || late > l.Late || dropped > l.Dropped {
		t.Errorf("windows have %d sent, %d due, %d late, %d dropped; the step %d, %d, %d, %d", sent, due(l), late, dropped, l.Sent, l.Scheduled, l.Late, l.Dropped)
	}
	if l.Scheduled != l.Sent+l.Dropped || l.Lag.Count != l.Sent || l.Late > l.Sent {
		t.Errorf("%d due, %d sent (lag of %d), %d late, %d dropped", l.Scheduled, l.Sent, l.Lag.Count, l.Late, l.Dropped)
	}
	if l.Origin() != bench.FromDue || l.Sending.Count != l.Latency.Count || l.Sending.Mean > l.Latency.Mean {
		t.Errorf("from %s: mean %s of %d; from their sending %s of %d", l.Origin(), l.Latency.Mean, l.Latency.Count, l.Sending.Mean, l.Sending.Count)
	}
	return l
}

// due is how many requests came due within the interval.
func due(l bench.Load) (n int64) {
	for _, w := range l.Windows {
		n += w.Due
	}
	return n
}

func TestOpenLoopSendsWhatIsDue(t *testing.T) {
	for name, step := range map[string]bench.Step{
		"constant": {Rate: 1000},
		"ramp":     {Rate: 500, RampTo: 1500},
		"wave":     {Rate: 1000, Wave: &bench.Wave{Amplitude: 500, Period: 250 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			server := newCounting(t, hello)
			p := openPlan(server.URL, 0, 0, 500*time.Millisecond)
			step.Duration = p.Step.Duration
			p.Step = step
			l := runOpen(t, Engine{Window: 100 * time.Millisecond}, p)
			if n := due(l); n < 499 || n > 501 {
				t.Errorf("%d came due in the interval, want 500", n)
			}
			if l.AllSucceeded() != server.count(200) || l.AllSucceeded() != l.Scheduled {
				t.Errorf("%d succeeded of %d, the server answered %d; failed %v, dropped %d", l.Succeeded, l.Scheduled, server.count(200), l.Failed, l.Dropped)
			}
			if l.MostOpen < 1 || int64(l.MostOpen) > server.connections.Load() {
				t.Errorf("%d connections in use of %d", l.MostOpen, server.connections.Load())
			}
			if l.Elapsed != 500*time.Millisecond {
				t.Errorf("elapsed %s", l.Elapsed)
			}
		})
	}
}

func TestOpenLoopEndsWithItsRequests(t *testing.T) {
	server := newCounting(t, hello)
	p := openPlan(server.URL, 2000, 0, time.Minute)
	p.Step.MaxRequests = 150
	l := runOpen(t, Engine{}, p)
	if l.Scheduled != 150 || server.count(200) != 150 || l.Elapsed > 30*time.Second {
		t.Errorf("%d due, the server answered %d in %s", l.Scheduled, server.count(200), l.Elapsed)
	}
}

// above is how many of l took longer than d.
func above(t *testing.T, l bench.Latencies, d time.Duration) int64 {
	t.Helper()
	h, err := hdr.Decode(l)
	if err != nil {
		t.Fatal(err)
	}
	return h.CountAbove(d)
}

// A contender that stalls for a second at 1,000 requests a second is late for a thousand of them,
// whether or not a client had the nerve to ask while it stalled. One that was due u after the
// beginning of a stall of S, and is served at μ a second after it, waits for S − u + 1000 u / μ.
func TestStallShowsInLatencyFromDue(t *testing.T) {
	const connections, stall = 8, time.Second
	try := func() (ok bool) {
		var mu sync.RWMutex
		stalls := make(chan time.Duration, 1)
		var over atomic.Pointer[time.Time]
		var after, catchUp atomic.Int64 // answers after the stall; ns that the first 900 took
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
		l := runOpen(t, Engine{}, p)
		stalled := <-stalls
		if l.Dropped > 0 && l.AllSucceeded()+l.Dropped == l.Scheduled {
			t.Logf("the machine was too busy for the backlog to be served within the step: %d dropped", l.Dropped)
			return false
		}
		if due(l) != 2500 || l.AllSucceeded() != l.Scheduled || l.MostOpen != connections {
			t.Fatalf("%d succeeded, %d connections, failed %v, dropped %d", l.Succeeded, l.MostOpen, l.Failed, l.Dropped)
		}
		ok = true
		perSecond := 900 / time.Duration(catchUp.Load()).Seconds()
		for _, d := range []time.Duration{100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, 750 * time.Millisecond} {
			want := (stalled - d).Seconds() * 1000 / (1 - 1000/perSecond)
			got := above(t, l.Latency, d)
			t.Logf("over %s: %d from due, want %.0f; %d from their sending", d, got, want, above(t, l.Sending, d))
			ok = ok && float64(got) > want-20 && float64(got) < want+20
			// Only those on the wire when it began have seen it.
			ok = ok && above(t, l.Sending, d) <= connections
		}
		if l.Late < 900 || l.Held < 900 || !strings.Contains(l.Warnings.Join("\n"), "were sent late, since all 8 connections were in use") {
			t.Errorf("%d late, %d held, warnings %q", l.Late, l.Held, l.Warnings)
		}
		return ok
	}
	// A machine with other work to do adds stalls of its own: the best attempt counts.
	for range 6 {
		if try() {
			return
		}
	}
	t.Error("no attempt agreed with the arithmetic")
}

func TestOpenLoopOpensConnectionsForAStall(t *testing.T) {
	release := make(chan struct{})
	var asked atomic.Int64
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		if asked.Add(1) == 50 {
			close(release)
		}
		<-release
		return hello(w, r)
	})
	p := openPlan(server.URL, 200, 0, 500*time.Millisecond)
	l := runOpen(t, Engine{}, p)
	// Nobody is answered before 50 have asked at the same time.
	if due(l) != 100 || l.AllSucceeded() != l.Scheduled || l.MostOpen < 50 || l.Dropped != 0 || l.Held != 0 {
		t.Errorf("%d succeeded over %d connections, %d dropped, %d held", l.Succeeded, l.MostOpen, l.Dropped, l.Held)
	}
}

func TestOpenLoopDropsWhatCannotBeSent(t *testing.T) {
	hang := make(chan struct{})
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		<-hang
		return hello(w, r)
	})
	defer close(hang)
	p := openPlan(server.URL, 1000, 3, 600*time.Millisecond)
	p.Timeout = 250 * time.Millisecond
	l := runOpen(t, Engine{}, p)
	// Each of three connections is given up after a quarter of a second, and takes the next in
	// line.
	if due(l) != 600 || l.Sent < 3 || l.Sent > 15 || l.Failed[bench.ErrTimeout] != l.Sent || l.Dropped != l.Scheduled-l.Sent {
		t.Errorf("%d due, %d sent, %d dropped, failed %v", l.Scheduled, l.Sent, l.Dropped, l.Failed)
	}
	if !strings.Contains(l.Warnings.Join("\n"), "requests that came due were dropped") {
		t.Errorf("warnings %q", l.Warnings)
	}
}

func TestRateIsChangedLive(t *testing.T) {
	server := newCounting(t, hello)
	var rate atomic.Int64
	rate.Store(100)
	p := openPlan(server.URL, 5000, 0, time.Minute)
	p.Step.MaxRequests = 1020
	p.Rate = func() float64 {
		if server.count(200) >= 20 {
			rate.Store(2000)
		}
		return float64(rate.Load())
	}
	l := runOpen(t, Engine{}, p)
	if l.Succeeded != 1020 || l.FinalRate != 2000 {
		t.Errorf("%d succeeded, at last %g a second", l.Succeeded, l.FinalRate)
	}
	// 20 or a few more at 100 a second, the rest at 2,000: 0.2 s and 0.5 s. At 5,000 it would be
	// 0.2 s, at 100 over ten.
	if l.Elapsed < 600*time.Millisecond || l.Elapsed > 5*time.Second {
		t.Errorf("elapsed %s", l.Elapsed)
	}
	if last := l.Windows[len(l.Windows)-1]; last.Rate != 2000 {
		t.Errorf("the last window tells %g due per second", last.Rate)
	}
}

func TestArrivals(t *testing.T) {
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		time.Sleep(5 * time.Millisecond)
		return hello(w, r)
	})
	p := plan(server.URL, 0, time.Minute)
	p.Step = bench.Step{Name: "burst", Arrivals: &bench.Arrivals{Users: 200, Over: 300 * time.Millisecond, Requests: 3}, Duration: time.Minute}
	l := runOpen(t, Engine{}, p)
	if l.Scheduled != 600 || l.Succeeded != 600 || server.count(200) != 600 || server.connections.Load() != 200 {
		t.Errorf("%d due, %d succeeded, the server answered %d on %d connections", l.Scheduled, l.Succeeded, server.count(200), server.connections.Load())
	}
	// It is over when the last one has been served, not after a whole number of seconds nor with
	// the duration.
	if l.Elapsed < 298*time.Millisecond || l.Elapsed > 20*time.Second {
		t.Errorf("elapsed %s", l.Elapsed)
	}
	if strings.Contains(l.Warnings.Join("\n"), "opened again") {
		t.Errorf("warnings %q", l.Warnings)
	}
}

func TestArrivalsEndWithTheDuration(t *testing.T) {
	hang := make(chan struct{})
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		<-hang
		return hello(w, r)
	})
	p := plan(server.URL, 0, time.Minute)
	p.Step = bench.Step{Arrivals: &bench.Arrivals{Users: 10, Over: 10 * time.Millisecond, Requests: 2}, MaxConnections: 4, Duration: 200 * time.Millisecond}
	p.OnStart = func() { time.AfterFunc(400*time.Millisecond, func() { close(hang) }) }
	l := runOpen(t, Engine{}, p)
	// Four users are on the wire; their second requests, and six users, come to nothing.
	if l.Scheduled != 20 || l.Sent != 4 || l.AllSucceeded() != 4 || l.Dropped != 16 {
		t.Errorf("%d due, %d sent, %d succeeded, %d dropped", l.Scheduled, l.Sent, l.Succeeded, l.Dropped)
	}
}

func TestOpenLoopOfRawAnswers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
	for _, test := range []struct {
		name, answer string
		keep         bool
		kind         bench.ErrorKind // "" for success
	}{
		{"announced close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", false, ""},
		{"nothing", "", false, bench.ErrReset},
		{"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", false, bench.ErrReset},
		{"not HTTP", "SSH-2.0-OpenSSH_9.2\r\n", false, bench.ErrOther},
		{"endless headers", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Header: "+strings.Repeat("x", 1000)+"\r\n", 1100), false, bench.ErrOther},
		{"interim answers without end", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 20), false, bench.ErrOther},
		{"surplus bytes", ok + "surplus", false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var answered atomic.Int64
			url := raw(t, func(conn net.Conn, _ string) bool {
				answered.Add(1)
				io.WriteString(conn, test.answer)
				return test.keep
			})
			l := runOpen(t, Engine{}, openPlan(url, 200, 4, 200*time.Millisecond))
			if l.Sent != answered.Load() || test.kind == "" && l.AllSucceeded() != l.Sent || test.kind != "" && l.Failed[test.kind] != l.Sent {
				t.Errorf("%d sent, the server answered %d; %d succeeded, failed %v %v", l.Sent, answered.Load(), l.Succeeded, l.Failed, l.Examples)
			}
		})
	}
}

func TestOpenLoopOnARefusingPort(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	l := runOpen(t, Engine{}, openPlan("http://"+listener.Addr().String(), 500, 0, 200*time.Millisecond))
	if due(l) != 100 || l.Failed[bench.ErrRefused] != l.Scheduled {
		t.Errorf("%d due, failed %v", l.Scheduled, l.Failed)
	}
}

// A contender may close a connection that nobody uses. That is no failure of the next request,
// which was not even sent.
func TestOpenLoopNoticesIdleConnectionsThatWereClosed(t *testing.T) {
	var answered atomic.Int64
	url := raw(t, func(conn net.Conn, _ string) bool {
		answered.Add(1)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
		time.Sleep(10 * time.Millisecond)
		return false
	})
	// A machine that stalls may let the closing meet the next request after all: the best attempt
	// counts.
	var l bench.Load
	for range 4 {
		answered.Store(0)
		l = runOpen(t, Engine{}, openPlan(url, 10, 0, 500*time.Millisecond))
		if l.AllSucceeded() == l.Sent && answered.Load() == l.Sent && l.Sent >= 5 {
			return
		}
	}
	t.Errorf("%d succeeded, the server answered %d, failed %v %v", l.Succeeded, answered.Load(), l.Failed, l.Examples)
}

func TestOpenLoopIsInterrupted(t *testing.T) {
	for name, step := range map[string]bench.Step{
		"rate":     {Rate: 1000, MaxConnections: 5, Duration: time.Minute},
		"slow":     {Rate: .1, MaxConnections: 5, Duration: time.Minute},
		"arrivals": {Arrivals: &bench.Arrivals{Users: 1000, Over: 30 * time.Second, Requests: 2}, MaxConnections: 5, Duration: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			// The interruption comes when a request is surely there: a busy machine may take long
			// to connect.
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			hang := make(chan struct{})
			defer close(hang)
			url := raw(t, func(net.Conn, string) bool {
				time.AfterFunc(100*time.Millisecond, cancel)
				<-hang
				return false
			})
			p := plan(url, 0, 0)
			p.Step, p.Timeout = step, time.Minute
			l, err := chosen(Engine{Grace: 20 * time.Millisecond}).Run(ctx, p, nil)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			if l.Sent < 1 || l.Sent > 5 || l.Succeeded+l.FailedTotal() != 0 || l.Scheduled != l.Sent+l.Dropped || l.Elapsed > 30*time.Second {
				t.Errorf("%d due, %d sent, %d dropped, %d succeeded, failed %v, %s", l.Scheduled, l.Sent, l.Dropped, l.Succeeded, l.Failed, l.Elapsed)
			}
		})
	}
}

func TestStepMistakes(t *testing.T) {
	wave := func(amplitude float64, period time.Duration) *bench.Wave {
		return &bench.Wave{Amplitude: amplitude, Period: period}
	}
	for _, test := range []struct {
		step bench.Step
		want string
	}{
		{bench.Step{Rate: 5, Connections: 5}, "only one of these"},
		{bench.Step{Rate: -1}, "-1 requests due per second"},
		{bench.Step{Rate: 2e6}, "2e+06 requests due per second"},
		{bench.Step{Rate: 5, RampTo: -1}, "-1 requests due per second"},
		{bench.Step{Rate: 5, Wave: wave(5, time.Second)}, "0 requests due per second"},
		{bench.Step{Rate: 5, Wave: wave(1, 0)}, "a wave with a period"},
		{bench.Step{Rate: 5, RampTo: 6, Wave: wave(1, time.Second)}, "constant, a ramp, or a wave"},
		{bench.Step{Rate: 5, MaxConnections: -1}, "at most -1 connections"},
		{bench.Step{PeakShare: .5}, "50 % of a peak that no step before has found"},
		{bench.Step{Arrivals: &bench.Arrivals{}}, "arrivals of 0 users"},
		{bench.Step{Arrivals: &bench.Arrivals{Users: 1, Over: 1, Requests: 1}, MaxRequests: 5}, "arrivals say themselves"},
	} {
		test.step.Duration = time.Second
		p := plan("http://127.0.0.1:1", 0, 0)
		p.Step = test.step
		if _, err := (Engine{}).Run(t.Context(), p, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %q", err, test.want)
		}
	}
}
