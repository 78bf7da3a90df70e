package load

import (
	"maps"
	"sync"
	"time"

	"locbench/internal/bench"
)

// account holds the counters of one shard of a loop, or of the portable loop. A shard holds the lock while it handles a batch of events,
// so that a request costs no lock of its own; gather takes the counters over between two batches.
type account struct {
	mu       sync.Mutex
	window   *tally // of what ends before until,
	next     *tally // and from then on
	spare    *tally
	until    int64 // since the beginning of the load
	examples map[bench.ErrorKind]string
	kinds    kinds // of the whole step
	counts         // since they were taken over the last time

	rate, final float64 // of an open loop: due per second now, and at the end where it has been changed
	mostOpen    int
	backlog     int64 // at the end of the interval; -1: it has not come yet
	meter       inFlight
}

// inFlight is the integral of how many requests are in flight, looked at in each turn of a loop.
type inFlight struct{ at int64 }

// add counts n requests in flight since it was last called.
func (a *account) addInFlight(v *interval, now int64, n int) {
	if now > a.meter.at {
		a.counted += v.overlap(a.meter.at, now) * time.Duration(n)
		a.meter.at = now
	}
}

func newAccount(open bool, m *mix) *account {
	return &account{
		window: newTally(open), next: newTally(open), spare: newTally(open), until: undecided, examples: map[bench.ErrorKind]string{}, kinds: newKinds(m), backlog: -1,
	}
}

// sends records a request of an open loop that is sent at a moment, lag after it was due; held, because it had to wait for a connection.
func (a *account) sends(m moment, lag time.Duration, held bool) {
	late := lag > lateAfter
	a.sent++
	a.window.lag.Record(lag)
	if late {
		a.late++
		if held {
			a.held++
		}
	}
	if m == within {
		a.window.sent++
		if late {
			a.window.late++
		}
	}
}

// drops records n requests that were due as never sent; held, because they waited for a connection.
func (a *account) drops(m moment, n int64, held bool) {
	a.dropped += n
	if m == within {
		a.window.dropped += n
	}
	if held {
		a.held += n
	}
}

// comesDue records n more requests as due at a moment.
func (a *account) comesDue(m moment, n int64, rate float64) {
	a.due += n
	if m == within {
		a.window.due += n
	}
	a.rate = rate
}

// gather takes over the counters of all accounts into the window in use. What ends at until or later belongs to the window after the one that
// begins now.
func (r *recorder) gather(until int64) {
	for _, a := range r.accounts {
		a.mu.Lock()
		done, sums := a.window, a.counts
		a.window, a.next, a.until, a.counts = a.next, a.spare, until, counts{}
		rate, final, most, backlog := a.rate, a.final, a.mostOpen, a.backlog
		examples := maps.Clone(a.examples)
		a.mu.Unlock()

		r.window.add(done)
		r.counts.add(sums)
		r.rate, r.final = rate, final
		if r.open {
			r.connections = max(r.connections, most)
		}
		if backlog >= 0 {
			r.backlogs[a] = backlog
		}
		for kind, text := range examples {
			if _, known := r.examples[kind]; !known {
				r.examples[kind] = text
			}
		}
		done.reset(0)
		// Only this goroutine uses the spare one.
		a.spare = done
	}
}
