package load

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"locbench/internal/bench"
)

// places is a server with so many places: a request takes one for exactly delay, and waits in line
// where all are taken. A place that somebody waits for is taken again at the very moment at which
// it becomes free, whenever the server's threads run, so that under a queue the server answers
// len(places) / delay requests a second exactly.
type places struct {
	*counting
	mu       sync.Mutex
	answered []time.Time
}

func newPlaces(t *testing.T, n int, delay time.Duration) *places {
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

// between is how many answers lie in an interval.
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

// loops are the ways to drive load, as the tests of each of them name them.
func loops() map[string]Engine {
	return map[string]Engine{"io_uring": {}, "epoll": {Epoll: true}, "portable": {Portable: true}}
}

// longEnv makes the tests of saturation run every combination at full length.
const longEnv = "LOCBENCH_LOAD_TEST_LONG"

// TestSaturatedThroughput holds closed loops against servers whose rate is known, from half of
// their places to ten times as many connections.
func TestSaturatedThroughput(t *testing.T) {
	type server struct {
		places int
		delay  time.Duration
	}
	type combination struct {
		server
		connections int
	}
	all, length := []combination{{server{50, 50 * time.Millisecond}, 25}, {server{50, 50 * time.Millisecond}, 500}, {server{100, 250 * time.Millisecond}, 700}}, 3*time.Second
	if os.Getenv(longEnv) != "" {
		all, length = nil, 6*time.Second
		for _, s := range []server{{50, 50 * time.Millisecond}, {200, 500 * time.Millisecond}, {400, 500 * time.Millisecond}} {
			for _, share := range []float64{.5, 1, 2, 5, 10} {
				all = append(all, combination{s, int(share * float64(s.places))})
			}
		}
	}
	for name, engine := range loops() {
		t.Run(name, func(t *testing.T) {
			if os.Getenv(longEnv) == "" {
				t.Parallel() // they only wait
			}
			for _, c := range all {
				t.Run(fmt.Sprintf("%d x %s/%d connections", c.places, c.delay, c.connections), func(t *testing.T) {
					if err := CheckLimits(2 * c.connections); err != nil {
						t.Skip("SKIP: ", err)
					}
					server := newPlaces(t, c.places, c.delay)
					p := plan(server.URL, c.connections, length)
					p.Timeout = DefaultTimeout
					l := run(t, engine, p)
					steady(t, server, l, float64(min(c.places, c.connections))/c.delay.Seconds())
				})
			}
		})
	}
}

// steady checks a result against the rate that the server can have at most, and against its own
// journal.
func steady(t *testing.T, server *places, l bench.Load, rate float64) {
	t.Helper()
	if n := server.count(200); l.AllSucceeded() != n || l.Sent != n {
		t.Errorf("%d + %d + %d answers to %d requests, the server has given %d", l.Lead, l.Succeeded, l.Drain, l.Sent, n)
	}
	journal := float64(server.between(l.Started, l.Elapsed)) / l.Elapsed.Seconds()
	t.Logf("%.1f/s, by the server's journal %.1f/s, at most %.1f/s; lead-in %s, %d unserved; windows %.0f; %v", l.Throughput(), journal, rate, l.LeadIn, l.Unserved, rates(l), l.Warnings)
	if got := l.Throughput(); math.Abs(got/journal-1) > .01*slack || got > (1+.01*slack)*rate {
		t.Errorf("%.1f/s, by the server's journal %.1f/s, at most %.1f/s", got, journal, rate)
	}
	for i, w := range l.Windows {
		if w.Length < 900*time.Millisecond {
			continue
		}
		seen := float64(server.between(l.Started.Add(w.Start), w.Length)) / w.Length.Seconds()
		if got := w.Throughput(); math.Abs(got/seen-1) > .03*slack || got > (1+.03*slack)*rate {
			t.Errorf("window %d: %.1f/s, by the server's journal %.1f/s, at most %.1f/s", i, got, seen, rate)
		}
	}
	if flying := l.Throughput() * l.Latency.Mean.Seconds(); math.Abs(flying/l.InFlight-1) > .1*slack {
		t.Errorf("throughput × mean latency is %.1f, in flight were %.1f", flying, l.InFlight)
	}
}

func rates(l bench.Load) (all []float64) {
	for _, w := range l.Windows {
		all = append(all, w.Throughput())
	}
	return slices.Clip(all)
}
