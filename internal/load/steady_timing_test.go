//go:build acceptance && timing && linux

package load

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/limits"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/testenv"
)

// places is a server with N places: a request takes one for exactly delay, and queues while all are
// taken. The next request in the queue takes a place at the moment it becomes free, whenever the
// server's threads run. So under a queue its rate is exactly len(places) / delay requests per
// second.
type places struct {
	*counting
	mu       sync.Mutex
	answered []time.Time
}

func newPlaces(t testing.TB, n int, delay time.Duration) *places {
	p := &places{}
	free := make(chan time.Time, n) // since when
	for range n {
		free <- time.Time{}
	}
	p.counting = newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		began := time.Now()
		if since := <-free; since.After(began) {
			began = since
		}
		end := began.Add(delay)
		time.Sleep(time.Until(end))
		free <- end
		p.mu.Lock()
		p.answered = append(p.answered, time.Now())
		p.mu.Unlock()
		return hello(w, r)
	})
	return p
}

// between returns how many responses lie in an interval.
func (p *places) between(from time.Time, length time.Duration) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range p.answered {
		if !at.Before(from) && at.Before(from.Add(length)) {
			n++
		}
	}
	return n
}

// TestSaturatedThroughput compares closed loops with servers whose rate is known, with half as many
// connections as places up to ten times as many.
func TestSaturatedThroughput(t *testing.T) {
	for _, c := range []struct {
		places      int
		delay       time.Duration
		connections int
	}{{50, 50 * time.Millisecond, 25}, {50, 50 * time.Millisecond, 500}, {100, 250 * time.Millisecond, 700}} {
		t.Run(fmt.Sprintf("%d x %s/%d connections", c.places, c.delay, c.connections), func(t *testing.T) {
			if err := limits.Check(2 * c.connections); err != nil {
				t.Skip("SKIP: ", err)
			}
			eachLoop(t, func(t *testing.T, e Engine) {
				testenv.Judge(t, 4, 20*time.Millisecond, func(t testing.TB) error {
					server := newPlaces(t, c.places, c.delay)
					p := plan(server.URL, c.connections, 3*time.Second)
					p.Timeout = wire.DefaultTimeout
					return steadily(t, server, run(t, e, p), float64(min(c.places, c.connections))/c.delay.Seconds())
				})
			})
		})
	}
}

// steadily checks a result against the server's maximum rate and its journal.
func steadily(t testing.TB, server *places, l bench.Load, rate float64) error {
	t.Helper()
	if l.Sent != l.AllSucceeded() {
		t.Errorf("%d + %d + %d responses to %d requests", l.Lead, l.Succeeded, l.Drain, l.Sent)
	}
	server.counting.answered(t, 200, l.Sent)
	var b bounds
	journal := float64(server.between(l.Started, l.Elapsed)) / l.Elapsed.Seconds()
	t.Logf("%.1f/s, by the server's journal %.1f/s, at most %.1f/s; lead-in %s, %d unserved; windows %.0f; %v", l.Throughput(), journal, rate, l.LeadIn, l.Unserved, rates(l), l.Warnings)
	got := l.Throughput()
	b.check(math.Abs(got/journal-1) <= .01 && got <= 1.01*rate, "%.1f/s, by the server's journal %.1f/s, at most %.1f/s", got, journal, rate)
	for i, w := range l.Windows {
		if w.Length < 900*time.Millisecond {
			continue
		}
		seen := float64(server.between(l.Started.Add(w.Start), w.Length)) / w.Length.Seconds()
		got := w.Throughput()
		b.check(math.Abs(got/seen-1) <= .03 && got <= 1.03*rate, "window %d: %.1f/s, by the server's journal %.1f/s, at most %.1f/s", i, got, seen, rate)
	}
	flying := l.Throughput() * l.Latency.Mean.Seconds()
	b.check(math.Abs(flying/l.InFlight-1) <= .1, "throughput × mean latency is %.1f, in flight were %.1f", flying, l.InFlight)
	return b.err()
}

func rates(l bench.Load) (all []float64) {
	for _, w := range l.Windows {
		all = append(all, w.Throughput())
	}
	return slices.Clip(all)
}
