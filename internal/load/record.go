package load

import (
	"sync"
	"sync/atomic"
	"time"

	"locbench/internal/bench"
)

// recorder collects what the loops saw, in a window at a time. Times are since the beginning of the load unless they say otherwise.
type recorder struct {
	started  time.Time // the beginning of the load
	interval interval
	mix      *mix
	open     bool                    // loop
	users    bool                    // connections are meant to be opened again
	whole    bool                    // the number of requests or of users is bounded: all of the step is measured, without a lead-in
	bounded  bool                    // the number of requests is: the interval lasts until all are answered
	max      int64                   // requests of a closed loop; 0: not bounded
	closed   func(bench.Window) bool // asked after each window whether the sending ends with it; nil: it does not

	mu      sync.Mutex
	stopped bool
	asked   int64         // requests that maySend has granted
	halted  chan struct{} // closed once stopped
	end     atomic.Int64  // 1 + when the sending ended, once it has; for those who do not take the lock
	wake    func()        // lets a loop that has shards look at what has changed

	// The lead-in; see leadIn.
	waiting  atomic.Int64  // connections that have had no answer yet
	led      chan struct{} // closed when there are none
	decided  chan struct{} // closed when the interval has been
	spreadAt atomic.Int64  // when the other connections begin, once the first one has had its answer; 0: not yet
	spread   atomic.Int64  // over how long a time
	paced    chan struct{} // closed when that is known

	accounts []*account // of the loop; set before the start

	// What follows belongs to the goroutine that closes windows, and to Run after it.
	counts
	window, spare, total *tally
	windows              []bench.Window
	kinds                kinds
	examples             map[bench.ErrorKind]string
	backlogs             map[*account]int64
	rate, final          float64 // open loop: due per second now, and at the end where it has been changed
	connections          int     // closed loop: all; open loop: in use at the same time
	preopened            int     // connections open before the load began
	unserved             int     // connections that had no answer when the lead-in had to end
	leadIn               time.Duration
	lasted               time.Duration // intervals of all turns, where there are turns
	settled              time.Duration // when the step had; 0: not (yet)
	loop                 string        // by which system calls, once it has ended
	saturation           float64       // share of the interval in which the busiest thread did not wait for anything; 0: not known
}

func newRecorder(m *mix, connections int, maxRequests int64) *recorder {
	r := &recorder{
		mix: m, kinds: newKinds(m), loop: "portable", max: maxRequests, connections: connections,
		halted: make(chan struct{}), led: make(chan struct{}), decided: make(chan struct{}), paced: make(chan struct{}),
		examples: map[bench.ErrorKind]string{}, backlogs: map[*account]int64{},
		window: newTally(false), spare: newTally(false), total: newTally(false),
	}
	r.interval.reset()
	return r
}

// newOpenRecorder is the recorder of an open loop. Its connections are those that have been in use so far.
func newOpenRecorder(m *mix) *recorder {
	r := newRecorder(m, 0, 0)
	r.open = true
	r.window, r.spare, r.total = newTally(true), newTally(true), newTally(true)
	return r
}

// begin starts the clock of a step of so long. first is how many connections or requests have to be answered before the interval begins.
func (r *recorder) begin(first int, length time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = time.Now()
	r.waiting.Store(int64(first))
	if r.whole {
		to := int64(length)
		if r.bounded {
			to = undecided
		}
		r.interval.decide(0, to)
		close(r.decided)
		close(r.paced)
		r.spreadAt.Store(1)
	}
}

// now is the clock of the step in ns.
func (r *recorder) now() int64 { return int64(time.Since(r.started)) }

// stop ends the sending, and the interval unless that lasts until all is answered. Once it has returned, no request is sent any more.
func (r *recorder) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopLocked()
}

func (r *recorder) stopLocked() {
	if r.stopped {
		return
	}
	r.stopped = true
	now := r.now()
	if !r.bounded {
		r.interval.end(now)
	}
	r.end.Store(1 + now)
	close(r.halted)
	call(r.wake)
}

// sendingEnded says whether no request is to be sent any more at a moment.
func (r *recorder) sendingEnded(now int64) bool {
	return r.end.Load() > 0 || now >= r.interval.to.Load()
}

// maySend grants one more request of a bounded number.
func (r *recorder) maySend() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return false
	}
	r.asked++
	if r.asked == r.max {
		r.stopLocked()
	}
	return true
}

// idled notes for how long one of the client's threads has waited for something to do within the interval.
func (r *recorder) idled(d time.Duration) {
	if length := r.length(); length > 0 && length < undecided {
		r.saturation = max(r.saturation, 1-float64(d)/float64(length))
	}
}

// load is the result of the step; call it when all is drained and the windows are closed.
func (r *recorder) load() bench.Load {
	l := bench.Load{
		Definition: bench.Interval,
		Started:    r.started, Elapsed: r.length(), LeadIn: r.leadIn,
		Scheduled: r.sent, Sent: r.sent, Succeeded: r.total.succeeded, Lead: r.total.lead, Drain: r.total.drain, Cut: r.cut,
		Unserved: r.unserved, Bytes: r.total.bytes,
		Latency: r.total.latency.Latencies(), Timeouts: r.total.timeouts.Latencies(), Failures: r.total.failures.Latencies(),
		Windows: r.windows, Checked: r.checked, Saturation: r.saturation,
		Stamped: r.stamped, ClientWake: r.woken, Loop: r.loop, Settled: r.settled,
	}
	if from := r.interval.from.Load(); from != undecided {
		l.Started = r.started.Add(time.Duration(from))
	}
	for _, n := range r.backlogs {
		l.Backlog += n
	}
	for _, a := range r.accounts {
		r.kinds.add(a.kinds)
	}
	l.Requests = r.kinds.results(r.mix)
	if l.Elapsed > 0 {
		l.InFlight = float64(r.counted) / float64(l.Elapsed)
	}
	if r.open {
		l.LatencyOf, l.Scheduled, l.Dropped, l.Late, l.Held = bench.FromDue, r.due, r.dropped, r.late, r.held
		l.MostOpen, l.FinalRate = r.connections, r.final
		l.Sending, l.Lag = r.total.sending.Latencies(), r.total.lag.Latencies()
	}
	failed := map[bench.ErrorKind]int64{}
	addFailures(failed, r.total.failed)
	addFailures(failed, r.total.outside)
	if len(failed) > 0 {
		l.Failed, l.Examples = failed, r.examples
	}
	return l
}

// length is that of the interval, or of those of all turns together.
func (r *recorder) length() time.Duration {
	if r.lasted > 0 {
		return r.lasted
	}
	return r.interval.length()
}
