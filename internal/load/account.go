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
	kinds    kinds // of the whole step
	figures
}

// figures are sums since they were taken over the last time; see recorder for their meaning.
type figures struct {
	sent, cut, opened     int64
	checked               int64
	busy, overrun, paused time.Duration
	stamped               int64         // answers whose end the kernel has told
	woken                 time.Duration // and how much later they were read, summed

	openFigures // of an open loop; the rates are the last ones
	mostOpen    int
	counted     time.Duration // summed time that requests were in flight, by counting them; see bench.Load.InFlight
}

func newAccount(open bool, m *mix) *account {
	return &account{window: newTally(open), spare: newTally(open), examples: map[bench.ErrorKind]string{}, kinds: newKinds(m)}
}

// success records an answer that took so long, of which over was after the end of the sending. In an open loop it is lag more since
// it was due.
func (a *account) success(r *request, took, over, lag time.Duration, bytes int64) {
	a.kinds.success(r, took+lag, bytes)
	a.window.succeeded++
	a.window.bytes += bytes
	a.window.latency.Record(took + lag)
	if a.window.sending != nil {
		a.window.sending.Record(took)
	}
	a.busy += took
	a.overrun += over
}

// failure records one that failed, and tells whether its kind has no example yet.
func (a *account) failure(r *request, kind bench.ErrorKind, took, over time.Duration) (first bool) {
	a.kinds.failure(r, kind)
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

// wakes records how much later than its arrival an answer was read that the client had to be woken up for. For the two books of what is in
// flight it was until then.
func (a *account) wakes(late time.Duration) {
	a.stamped++
	a.woken += late
	a.busy += late
}

// sends records a request of an open loop that is sent lag after it was due; held, because it had to wait for a connection.
func (a *account) sends(lag time.Duration, held bool) {
	a.sent++
	a.window.sent++
	a.window.lag.Record(lag)
	if lag > lateAfter {
		a.late++
		a.window.late++
		if held {
			a.held++
		}
	}
}

// drops records n requests that were due as never sent.
func (a *account) drops(n int64, held bool) {
	a.dropped += n
	a.window.dropped += n
	if held {
		a.held += n
	}
}

// comesDue records n more requests as due.
func (a *account) comesDue(n int64, rate float64) {
	a.due += n
	a.window.due += n
	a.rate = rate
}

// gather takes over the books of the shards into the window in use.
func (r *recorder) gather() {
	for _, a := range r.shards {
		a.mu.Lock()
		done, sums := a.window, a.figures
		a.window, a.figures = a.spare, figures{openFigures: openFigures{rate: sums.rate, final: sums.final}, mostOpen: sums.mostOpen}
		examples := maps.Clone(a.examples)
		a.mu.Unlock()

		r.mu.Lock()
		r.window.add(done)
		r.sent += sums.sent
		r.cut += sums.cut
		r.opened += sums.opened
		r.checked += sums.checked
		r.busy += sums.busy
		r.overrun += sums.overrun
		r.paused += sums.paused
		r.stamped += sums.stamped
		r.woken += sums.woken
		r.counted += sums.counted
		if o := r.open; o != nil {
			o.due += sums.due
			o.dropped += sums.dropped
			o.late += sums.late
			o.held += sums.held
			o.rate, o.final = sums.rate, sums.final
			r.connections = max(r.connections, sums.mostOpen)
		}
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
