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
	for _, test := range []struct {
		name     string
		duration time.Duration
		requests int64
	}{
		{"end of the duration", 300 * time.Millisecond, 0},
		{"end of the requests", time.Minute, 100},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := newHanging(t, 20)
			p := plan(server.URL, 4, test.duration)
			p.Step.MaxRequests = test.requests
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
			// 0.5 s after the end of the sending; the hanging request has at least 3 s left then, which no stall of the machine eats.
			if early, late := e.at["end"].Sub(l.Started.Add(l.Elapsed)), returned.Sub(e.at["end"]); early < 250*time.Millisecond || late < time.Second {
				t.Errorf("OnEnd came %s after the end of the sending and %s before the end of Run", early, late)
			}
			if between := e.at["end"].Sub(e.at["start"]); l.Wall > between || l.Wall < l.Elapsed+250*time.Millisecond || l.ClientCPU <= 0 {
				t.Errorf("wall %s, elapsed %s, between the hooks %s, client CPU %s", l.Wall, l.Elapsed, between, l.ClientCPU)
			}
		})
	}
}

func TestHooksAreInOrder(t *testing.T) {
	server := newCounting(t, hello)
	var e ends
	p := plan(server.URL, 8, 200*time.Millisecond)
	p.OnStart = func() {
		// The kernel opens them; the server may take some time to notice.
		for deadline := time.Now().Add(5 * time.Second); server.connections.Load() < 8 && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		if n := server.connections.Load(); n != 8 || server.count(200) != 0 {
			t.Errorf("at the start there were %d connections and %d answers", n, server.count(200))
		}
		time.Sleep(50 * time.Millisecond) // the clock waits for it
		e.note("start")
	}
	p.OnEnd = func() {
		time.Sleep(50 * time.Millisecond)
		e.note("end")
	}
	l := run(t, Engine{}, p)
	if e.String() != "start end" {
		t.Errorf("called: %s", &e)
	}
	if l.Started.Before(e.at["start"]) || e.at["end"].Sub(l.Started) < l.Wall || l.Wall < l.Elapsed {
		t.Errorf("started %s after the hook, wall %s, elapsed %s", l.Started.Sub(e.at["start"]), l.Wall, l.Elapsed)
	}
}

func TestHooksOfAnInterruptedStep(t *testing.T) {
	t.Run("while sending", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		server := newHanging(t, 20)
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

// One request that hangs must not make the last window longer than the sending, nor the drain a row of empty windows.
func TestLastWindowDoesNotWaitForATimeout(t *testing.T) {
	server := newHanging(t, 20)
	p := plan(server.URL, 4, 400*time.Millisecond)
	p.Timeout = 1500 * time.Millisecond
	l := run(t, Engine{Window: 200 * time.Millisecond}, p)
	n := len(l.Windows)
	if n < 2 {
		t.Fatalf("windows %v", l.Windows)
	}
	// Only the time-out is left, in a window of its own, as it comes a whole second after the end.
	drain, last := l.Windows[n-1], l.Windows[n-2]
	if !drain.Drain || drain.Succeeded != 0 || drain.Failed[bench.ErrTimeout] != 1 || last.Drain {
		t.Fatalf("windows %v", l.Windows)
	}
	if last.Start+last.Length != l.Elapsed || drain.Start < last.Start+last.Length {
		t.Errorf("the last window is %s + %s, the drain from %s, elapsed %s", last.Start, last.Length, drain.Start, l.Elapsed)
	}
}

func TestWindowsAroundTheEndOfSending(t *testing.T) {
	// A made-up clock: the step began long ago, and its sending ended 10 s after that. Four connections.
	const sending = 10 * time.Second
	rec := newRecorder(nil, 4, 0)
	rec.started = time.Now().Add(-time.Hour)
	rec.stopped, rec.sending, rec.sent = true, sending, 100
	end := func(at time.Duration, kind bench.ErrorKind) {
		rec.ended(outcome{start: rec.started, end: rec.started.Add(at), kind: kind, example: "x"})
	}
	rec.window.from = 9 * time.Second
	end(9500*time.Millisecond, "")
	end(sending+400*time.Millisecond, "") // late on one of four: 100 ms
	end(sending+450*time.Millisecond, bench.ErrTimeout)
	w := rec.closeWindow()
	if w.Drain || w.Start != 9*time.Second || w.Length != 1100*time.Millisecond || w.Succeeded != 2 || w.Failed[bench.ErrTimeout] != 1 {
		t.Errorf("last window: %+v", w)
	}
	end(sending+4*time.Second, "")
	w = rec.closeWindow()
	if !w.Drain || w.Start < sending || w.Succeeded != 1 {
		t.Errorf("drain: %+v", w)
	}
	if l := rec.load(); l.Elapsed != sending+1100*time.Millisecond || l.Succeeded != 3 || l.Timeouts.Count != 1 {
		t.Errorf("elapsed %s, %d succeeded, %d time-outs", l.Elapsed, l.Succeeded, l.Timeouts.Count)
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
