package load

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// In virtual time the sum of TestStallShowsInLatencyFromScheduled is exact.
func TestStall(t *testing.T) {
	inVirtualTime(t, nil, func(t *testing.T, e Engine, s *server) {
		testenv.OK(t, stalls(t, e, s))
	})
}

// stalls puts 1,000 requests a second on s, which stalls for a second, and compares how many took longer than
// some times with how many should have.
func stalls(t testing.TB, e Engine, s *server) error {
	const connections, stall, each = 8, time.Second, 2 * ms
	var began atomic.Pointer[time.Time]
	s.script = func(*server, int64, int64) act {
		if from := began.Load(); from != nil {
			if since := s.elapsed(*from); since >= 0 && since < stall {
				return act{wait: stall - since}
			}
		}
		return act{wait: each}
	}
	p := openPlan(s.url, 1000, connections, 2500*ms)
	p.OnStart = func() { from := time.Now().Add(500 * ms); began.Store(&from) }
	l := run(t, e, p)
	var b bounds
	b.holds(t, l, s, "planned=2500 all=scheduled open=8 late>=900 waited>=900 warn.late=1")
	perSecond := connections / l.Sending.P50.Seconds()
	for _, d := range []time.Duration{100 * ms, 250 * ms, 500 * ms, 750 * ms} {
		want := (stall - d).Seconds() * 1000 / (1 - 1000/perSecond)
		got := float64(above(t, l.Latency, d))
		b.check(got > want-20 && got < want+20, "over %s: %.0f from the scheduled time, want %.0f", d, got, want)
		// Only those in flight when it began have seen it.
		b.check(above(t, l.Sending, d) <= connections, "over %s: %d from their sending", d, above(t, l.Sending, d))
	}
	return b.err()
}

// The current window is reported four times a second, as it grows; and a slow listener delays no window.
func TestParts_OfAWindow(t *testing.T) {
	inVirtualTime(t, after(ms), func(t *testing.T, e Engine, s *server) {
		p := openPlan(s.url, 1000, 0, 2*time.Second)
		var parts []bench.Window
		p.OnPart = func(w bench.Window) { parts = append(parts, w) }
		l := run(t, e, p)
		testenv.Need(t, len(parts) == 6 && len(l.Windows) == 2, "parts %+v of %d windows", parts, len(l.Windows))
		for i, w := range parts {
			start, length := time.Duration(i/3)*time.Second, time.Duration(i%3+1)*time.Second/4
			if n, want := w.Succeeded, length.Milliseconds(); w.Start != start || w.Length != length || n < want-5 || n > want+5 {
				t.Errorf("part %d: %d succeeded from %s in %s", i, w.Succeeded, w.Start, w.Length)
			}
		}
	})
	inVirtualTime(t, after(ms), func(t *testing.T, e Engine, s *server) {
		calls := 0
		e.Window = 20 * ms
		l, err := e.Run(t.Context(), plan(s.url, 2, time.Second), func(bench.Window) {
			if calls++; calls == 1 {
				time.Sleep(500 * ms)
			}
		})
		testenv.Check(t, err == nil && calls == 50 && len(l.Windows) == 50 && l.Elapsed == time.Second,
			"%d calls for %d windows in %s, %v", calls, len(l.Windows), l.Elapsed, err)
		for i, w := range l.Windows {
			testenv.Check(t, w.Succeeded == 40,
				"%d succeeded in window %d, which is 20 ms of 2 connections at 1 ms", w.Succeeded, i)
		}
	})
}
