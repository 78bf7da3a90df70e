package load

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locbench/internal/bench"
)

// ends notes when the hooks of a plan were called.
type ends struct {
	mu     sync.Mutex
	events []string
	at     map[string]time.Time
}

func (e *ends) note(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, name)
	if e.at == nil {
		e.at = map[string]time.Time{}
	}
	e.at[name] = time.Now()
}

func (e *ends) hook(p *Plan) {
	p.OnStart = func() { e.note("start") }
	p.OnEnd = func() { e.note("end") }
}

func (e *ends) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.events, " ")
}

// newHanging is a server that answers after 1 ms, but for the n-th request, which hangs until the client gives it up.
func newHanging(t *testing.T, n int64) *counting {
	var asked atomic.Int64
	return newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		if asked.Add(1) == n {
			<-r.Context().Done()
			return 0
		}
		time.Sleep(time.Millisecond)
		return hello(w, r)
	})
}

func TestOnEndDoesNotWaitForATimeout(t *testing.T) {
	server := newHanging(t, 150)
	p := plan(server.URL, 4, 300*time.Millisecond)
	p.Timeout = 5 * time.Second
	var e ends
	e.hook(&p)
	l := run(t, Engine{}, p)
	returned := time.Now()
	if e.String() != "start end" {
		t.Fatalf("called: %s", &e)
	}
	if l.Timeouts.Count != 1 || l.Failures.Count != 0 {
		t.Fatalf("failed: %v", l.Failed)
	}
	// The hanging request has at least 3 s left then, which no stall of the machine eats.
	if early, late := e.at["end"].Sub(l.Started.Add(l.Elapsed)), returned.Sub(e.at["end"]); early < 0 || late < time.Second {
		t.Errorf("OnEnd came %s after the end of the interval and %s before the end of Run", early, late)
	}
	if l.Elapsed != p.Step.Duration || l.Backlog < 1 || l.Backlog > 4 {
		t.Errorf("elapsed %s, backlog %d", l.Elapsed, l.Backlog)
	}
	if between := e.at["end"].Sub(e.at["start"]); l.Wall > between || l.ClientCPU <= 0 {
		t.Errorf("wall %s, between the hooks %s, client CPU %s", l.Wall, between, l.ClientCPU)
	}
}

// With a bounded number of requests all of them are measured, whatever becomes of them.
func TestBoundedRequestsAreAllMeasured(t *testing.T) {
	server := newHanging(t, 20)
	p := plan(server.URL, 4, time.Minute)
	p.Step.MaxRequests = 100
	p.Timeout = 700 * time.Millisecond
	var e ends
	e.hook(&p)
	l := run(t, Engine{}, p)
	if e.String() != "start end" || l.Sent != 100 || l.Succeeded != 99 || l.Timeouts.Count != 1 || l.Lead+l.Drain != 0 {
		t.Errorf("called: %s; %d sent, %d succeeded, %d before and %d after, failed: %v", &e, l.Sent, l.Succeeded, l.Lead, l.Drain, l.Failed)
	}
	if l.Elapsed < p.Timeout || l.Elapsed > 30*time.Second {
		t.Errorf("elapsed %s", l.Elapsed)
	}
}

func TestHooksAreInOrder(t *testing.T) {
	server := newCounting(t, hello)
	var e ends
	p := plan(server.URL, 8, 200*time.Millisecond)
	p.OnStart = func() {
		e.note("start")
		if n := server.count(200); n < 8 {
			t.Errorf("the interval began after %d answers on 8 connections", n)
		}
		time.Sleep(50 * time.Millisecond) // nobody waits for it
	}
	p.OnEnd = func() { e.note("end") }
	l := run(t, Engine{}, p)
	if e.String() != "start end" {
		t.Errorf("called: %s", &e)
	}
	if e.at["start"].Before(l.Started) || e.at["end"].Before(l.Started.Add(l.Elapsed)) || l.Elapsed != p.Step.Duration || l.Lead < 8 {
		t.Errorf("hooks %s and %s after the beginning of an interval of %s, %d answers before it",
			e.at["start"].Sub(l.Started), e.at["end"].Sub(l.Started), l.Elapsed, l.Lead)
	}
}

func TestHooksOfAnInterruptedStep(t *testing.T) {
	t.Run("while sending", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		server := newHanging(t, 150)
		p := plan(server.URL, 4, time.Minute)
		var e ends
		e.hook(&p)
		p.OnStart = func() {
			e.note("start")
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		l, err := chosen(Engine{}).Run(ctx, p, nil)
		if !errors.Is(err, context.Canceled) || e.String() != "start end" || l.Wall <= 0 || l.Wall > 30*time.Second {
			t.Errorf("called: %s; wall %s, error %v", &e, l.Wall, err)
		}
	})
	t.Run("in the lead-in", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
			cancel()
			<-r.Context().Done()
			return 0
		})
		p := plan(server.URL, 4, time.Minute)
		var e ends
		e.hook(&p)
		l, err := chosen(Engine{}).Run(ctx, p, nil)
		if !errors.Is(err, context.Canceled) || e.String() != "" || l.Elapsed != 0 || l.Cut != l.Sent || l.Sent == 0 {
			t.Errorf("called: %s; error %v; %d sent, %d cut off, elapsed %s", &e, err, l.Sent, l.Cut, l.Elapsed)
		}
	})
	t.Run("in OnStart", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		server := newCounting(t, hello)
		p := plan(server.URL, 4, time.Minute)
		var e ends
		e.hook(&p)
		p.OnStart = func() {
			e.note("start")
			cancel()
		}
		if _, err := chosen(Engine{}).Run(ctx, p, nil); !errors.Is(err, context.Canceled) || e.String() != "start end" {
			t.Errorf("called: %s; error %v", &e, err)
		}
	})
	t.Run("while connecting", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := plan("http://127.0.0.1:1", 4, time.Minute)
		var e ends
		e.hook(&p)
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			cancel()
			return nil, ctx.Err()
		}
		if _, err := (Engine{Dial: dial}).Run(ctx, p, nil); !errors.Is(err, context.Canceled) || e.String() != "" {
			t.Errorf("called: %s; error %v", &e, err)
		}
	})
	t.Run("before", func(t *testing.T) {
		var e ends
		p := plan("nonsense", 4, time.Minute)
		e.hook(&p)
		if _, err := (Engine{}).Run(t.Context(), p, nil); err == nil || e.String() != "" {
			t.Errorf("called: %s; error %v", &e, err)
		}
	})
}

// One request that hangs must not make the last window longer than the interval.
func TestLastWindowDoesNotWaitForATimeout(t *testing.T) {
	server := newHanging(t, 150)
	p := plan(server.URL, 4, 400*time.Millisecond)
	p.Timeout = 1500 * time.Millisecond
	l := run(t, Engine{Window: 200 * time.Millisecond}, p)
	if len(l.Windows) != 2 || l.Elapsed != p.Step.Duration || l.Failed[bench.ErrTimeout] != 1 {
		t.Errorf("elapsed %s, failed %v, windows %v", l.Elapsed, l.Failed, l.Windows)
	}
}

// Each exchange is counted once, by where the last byte of its answer lies.
func TestWhatLiesInTheInterval(t *testing.T) {
	rec := newRecorder(nil, 4, 0)
	a := newAccount(false, nil)
	rec.accounts = append(rec.accounts, a)
	rec.interval.decide(int64(10*time.Second), int64(20*time.Second))
	at := func(start, end time.Duration, kind bench.ErrorKind) {
		a.record(&rec.interval, exchange{start: int64(start), end: int64(end), read: int64(end), kind: kind, example: "x"})
	}
	at(8*time.Second, 9*time.Second, "")
	at(9*time.Second, 12*time.Second, "")
	at(19*time.Second, 20*time.Second-1, "")
	at(19*time.Second, 20*time.Second, "")
	at(20*time.Second, 29*time.Second, "")
	at(5*time.Second, 9*time.Second, bench.ErrTimeout)
	at(5*time.Second, 15*time.Second, bench.ErrTimeout)
	at(15*time.Second, 25*time.Second, bench.ErrReset)
	w := rec.closeWindow(20*time.Second, undecided)
	if w.Succeeded != 2 || w.Failed[bench.ErrTimeout] != 1 || len(w.Failed) != 1 {
		t.Errorf("window: %+v", w)
	}
	l := rec.load()
	if l.Succeeded != 2 || l.Lead != 1 || l.Drain != 2 || l.Failed[bench.ErrTimeout] != 2 || l.Failed[bench.ErrReset] != 1 || l.Elapsed != 10*time.Second {
		t.Errorf("%d + %d + %d succeeded, failed %v in %s", l.Lead, l.Succeeded, l.Drain, l.Failed, l.Elapsed)
	}
	if want := 3*time.Second + time.Second - 1 + 10*time.Second; rec.busy != want {
		t.Errorf("the exchanges that ended in it took %s, want %s", rec.busy, want)
	}
	if want := 2*time.Second + time.Second - 1 + time.Second + 5*time.Second + 5*time.Second; rec.shared != want {
		t.Errorf("they shared %s with it, want %s", rec.shared, want)
	}
}

func TestMistakesDoNotTellPasswords(t *testing.T) {
	for _, url := range []string{"ftp://user:secret@h", "user:secret@h:80", "http://user:sec%zzret@h", "http://user:secret@h:port", "http://user:secret@"} {
		_, err := newMix(plan(url, 1, time.Second))
		if err == nil || strings.Contains(err.Error(), "sec") || !strings.Contains(err.Error(), "base URL: it must be") {
			t.Errorf("%s: error %v", url, err)
		}
	}
	p := plan("http://user:secret@h", 1, time.Second)
	p.Requests[0].Path = "/%zz"
	if _, err := newMix(p); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "%zz") {
		t.Errorf("error %v", err)
	}
}
