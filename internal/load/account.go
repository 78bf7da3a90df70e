package load

import (
	"maps"
	"sync"
	"time"

	"locbench/internal/bench"
)

// account is the books of one shard of a loop that serves many connections from one thread. The shard holds the lock while it
// handles a batch of events, so that a request costs no lock of its own; gather takes the books over between two batches.
type account struct {
	mu       sync.Mutex
	window   *tally
	spare    *tally
	examples map[bench.ErrorKind]string
	figures
}

// figures are sums since they were taken over the last time; see recorder for their meaning.
type figures struct {
	sent, cut, opened     int64
	busy, overrun, paused time.Duration
}

func newAccount() *account {
	return &account{window: newTally(false), spare: newTally(false), examples: map[bench.ErrorKind]string{}}
}

// success records an answer that took so long, of which over was after the end of the sending.
func (a *account) success(took, over time.Duration, bytes int64) {
	a.window.succeeded++
	a.window.bytes += bytes
	a.window.latency.Record(took)
	a.busy += took
	a.overrun += over
}

// failure records one that failed, and tells whether its kind has no example yet.
func (a *account) failure(kind bench.ErrorKind, took, over time.Duration) (first bool) {
	a.window.failed[kind]++
	if kind == bench.ErrTimeout {
		a.window.timeouts.Record(took)
	} else {
		a.window.failures.Record(took)
	}
	a.busy += max(took-over, 0)
	_, known := a.examples[kind]
	return !known
}

// gather takes over the books of the shards into the window in use.
func (r *recorder) gather() {
	for _, a := range r.shards {
		a.mu.Lock()
		done, sums := a.window, a.figures
		a.window, a.figures = a.spare, figures{}
		examples := maps.Clone(a.examples)
		a.mu.Unlock()

		r.mu.Lock()
		r.window.add(done)
		r.sent += sums.sent
		r.cut += sums.cut
		r.opened += sums.opened
		r.busy += sums.busy
		r.overrun += sums.overrun
		r.paused += sums.paused
		for kind, text := range examples {
			if _, known := r.examples[kind]; !known {
				r.examples[kind] = text
			}
		}
		r.mu.Unlock()
		done.reset(0)
		// Only this goroutine uses the spare one.
		a.spare = done
	}
}
