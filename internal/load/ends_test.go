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

// newHanging is a server that answers after 1 ms, but for the n-th request, which hangs until the
// client gives it up.
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
