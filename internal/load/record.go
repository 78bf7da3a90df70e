package load

import (
	"sync"
	"sync/atomic"
	"time"

	"locbench/internal/bench"
	"locbench/internal/hdr"
)

// lateAfter is how much later than due a request is called late. Less is the grain of timers and schedulers.
const lateAfter = time.Millisecond

// recorder collects what the transport saw, in a window at a time. All times are since the start of the step.
type recorder struct {
	mu          sync.Mutex
	started     time.Time
	loop        string // by which system calls, once it has ended
	connections int
	max         int64 // requests; 0: not bounded
	stopped     bool
	halted      chan struct{} // closed once stopped
	sending     time.Duration // when the sending ended; valid once stopped
	sent        int64
	cut         int64         // requests that were cut off: neither succeeded nor failed
	busy        time.Duration // summed time in flight, without what failures took after the end of the sending
	overrun     time.Duration // summed time that successes took after the end of the sending
	lasted      time.Duration // all turns together, where there are turns
	opened      int64         // connections opened on the clock
	preopened   int           // and before
	checked     int64         // answers whose bodies were
	saturation  float64       // share of the sending in which the busiest thread did not wait for anything; 0: not known
	paused      time.Duration // summed time in which connections waited to be opened again
	stamped     int64         // answers whose end the kernel has told,
	woken       time.Duration // and how much later they were read, summed
	examples    map[bench.ErrorKind]string
	open        *openFigures // nil: closed loop
	users       bool         // connections are meant to be opened again
	mix         *mix
	kinds       kinds
	counted     time.Duration // summed time that requests were in flight by counting them, which busy is by adding them up; open loop
	inFlight    int64         // now, and since when; of the portable loop
	since       time.Time
	settles     bool          // the sending ends when the throughput has settled
	settled     time.Duration // when the throughput had; 0: not (yet)
	shards      []*account    // of a loop that keeps books of its own; set before the start
	wake        func()        // tells such a loop that the sending has ended
	end         atomic.Int64  // 1 + sending in ns, once stopped; for those who do not take the lock
	window      *tally
	spare       *tally // the one that is not in use

	// What follows belongs to the goroutine that closes windows, and to Run after it.
	total   *tally
	windows []bench.Window
}

// openFigures are what only an open loop has.
type openFigures struct {
	due, dropped, late, held int64
	rate                     float64 // due per second now
	final                    float64 // at the end, where it has been changed
}

// tally is what happened in a window or in all of them.
type tally struct {
	from      time.Duration
	succeeded int64
	bytes     int64
	failed    map[bench.ErrorKind]int64
	latency   *hdr.Histogram // of successes
	timeouts  *hdr.Histogram
	failures  *hdr.Histogram // of the others

	// Open loop: latency is from due then, and these are there.
	sent, due, late, dropped int64
	sending                  *hdr.Histogram // of successes, from their sending
	lag                      *hdr.Histogram // from due to sent
}

func newTally(open bool) *tally {
	t := &tally{failed: map[bench.ErrorKind]int64{}, latency: hdr.New(), timeouts: hdr.New(), failures: hdr.New()}
	if open {
		t.sending, t.lag = hdr.New(), hdr.New()
	}
	return t
}

func (t *tally) reset(from time.Duration) {
	clear(t.failed)
	for _, h := range []*hdr.Histogram{t.latency, t.timeouts, t.failures, t.sending, t.lag} {
		if h != nil && h.Count() > 0 {
			h.Reset()
		}
	}
	*t = tally{
		from: from, failed: t.failed,
		latency: t.latency, timeouts: t.timeouts, failures: t.failures, sending: t.sending, lag: t.lag,
	}
}

func (t *tally) add(w *tally) {
	t.succeeded += w.succeeded
	t.bytes += w.bytes
	for kind, n := range w.failed {
		t.failed[kind] += n
	}
	t.latency.Merge(w.latency)
	t.timeouts.Merge(w.timeouts)
	t.failures.Merge(w.failures)
	t.sent, t.due, t.late, t.dropped = t.sent+w.sent, t.due+w.due, t.late+w.late, t.dropped+w.dropped
	if t.lag != nil {
		t.sending.Merge(w.sending)
		t.lag.Merge(w.lag)
	}
}

// outcome is one exchange as it ended.
type outcome struct {
	due        time.Time // zero: closed loop
	start, end time.Time
	kind       bench.ErrorKind // "" for a success
	example    string          // of a failure
	bytes      int64           // of the body
	request    *request
	checked    bool
}

func newRecorder(m *mix, connections int, maxRequests int64) *recorder {
	return &recorder{
		mix: m, kinds: newKinds(m), loop: "portable",
		connections: connections, max: maxRequests, halted: make(chan struct{}), examples: map[bench.ErrorKind]string{},
		window: newTally(false), spare: newTally(false), total: newTally(false),
	}
}

// newOpenRecorder is the recorder of an open loop. Its connections are those that have been in use so far.
func newOpenRecorder(m *mix) *recorder {
	r := newRecorder(m, 0, 0)
	r.open = &openFigures{}
	r.window, r.spare, r.total = newTally(true), newTally(true), newTally(true)
	return r
}

// begin starts the clock.
func (r *recorder) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = time.Now()
}

// stop ends the sending. Once it has returned, no request is sent any more.
func (r *recorder) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopLocked()
}

func (r *recorder) stopLocked() {
	if !r.stopped {
		r.stopped, r.sending = true, time.Since(r.started)
		r.end.Store(1 + int64(r.sending))
		close(r.halted)
		call(r.wake)
	}
}

// maySend counts one more request as sent, unless the sending has ended.
func (r *recorder) maySend() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return false
	}
	r.sent++
	if r.sent == r.max {
		r.stopLocked()
	}
	return true
}

// comesDue counts n more requests as due.
func (r *recorder) comesDue(n int64, rate float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open.due += n
	r.open.rate = rate
	r.window.due += n
}

// drops counts n more requests that were due as never sent; held tells that they waited for a connection.
func (r *recorder) drops(n int64, held bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open.dropped += n
	r.window.dropped += n
	if held {
		r.open.held += n
	}
}

// endsAt tells the rate at the end, where somebody has changed it.
func (r *recorder) endsAt(rate float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open.final = rate
}

// uses tells how many connections have been in use at the same time.
func (r *recorder) uses(connections int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.connections = max(r.connections, connections)
}

// starts counts a request of an open loop as sent; maySend has counted that of a closed one.
func (r *recorder) starts(o outcome, held bool) {
	if o.due.IsZero() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(o.start, 1)
	r.sent++
	r.window.sent++
	lag := o.start.Sub(o.due)
	r.window.lag.Record(lag)
	if lag > lateAfter {
		r.open.late++
		r.window.late++
		if held {
			r.open.held++
		}
	}
}

// count keeps the second book of what is in flight, as far as the sending goes: how many there were, for how long.
func (r *recorder) count(at time.Time, more int64) {
	if r.open == nil || r.stopped && r.inFlight == 0 {
		return
	}
	if r.stopped {
		at = r.started.Add(r.sending)
	}
	if d := at.Sub(r.since); d > 0 {
		if !r.since.IsZero() {
			r.counted += d * time.Duration(r.inFlight)
		}
		r.since = at
	}
	r.inFlight += more
}

// ended records an exchange.
func (r *recorder) ended(o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(o.end, -1)
	if o.checked {
		r.checked++
	}
	took := o.end.Sub(o.start)
	// An end that is recorded after the stop may still lie before it, as the clock is read before the lock is taken.
	over := time.Duration(0)
	if r.stopped {
		over = max(o.end.Sub(r.started)-r.sending, 0)
	}
	if o.kind != "" {
		r.kinds.failure(o.request, o.kind)
		r.window.failed[o.kind]++
		if o.kind == bench.ErrTimeout {
			r.window.timeouts.Record(took)
		} else {
			r.window.failures.Record(took)
		}
		r.busy += max(took-over, 0)
		if _, known := r.examples[o.kind]; !known {
			r.examples[o.kind] = o.example
		}
		return
	}
	latency := took
	if r.open != nil {
		latency = o.end.Sub(o.due)
		r.window.sending.Record(took)
	}
	r.window.succeeded++
	r.window.bytes += o.bytes
	r.window.latency.Record(latency)
	r.kinds.success(o.request, latency, o.bytes)
	r.busy += took
	r.overrun += over
}

// cutOff records an exchange that the end of ctx has cut off.
func (r *recorder) cutOff() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut++
}

func (r *recorder) connected() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened++
}

func (r *recorder) rested(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paused += d
}

// worked tells how long one of the client's threads has waited for something to do while the sending went on.
func (r *recorder) worked(idle time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped && r.sending > 0 {
		// The last wait may have begun before the end of the sending and ended after it.
		r.saturation = max(r.saturation, 1-float64(idle)/float64(r.sending))
	}
}

// load is the result of the step; call it when all is drained and the windows are closed.
func (r *recorder) load() bench.Load {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopLocked()
	l := bench.Load{
		Started:   r.started,
		Elapsed:   r.elapsed(),
		Scheduled: r.sent, Sent: r.sent,
		Succeeded: r.total.succeeded, Bytes: r.total.bytes,
		Latency: r.total.latency.Latencies(), Timeouts: r.total.timeouts.Latencies(), Failures: r.total.failures.Latencies(),
		Windows: r.windows, Checked: r.checked, Saturation: r.saturation,
	}
	for _, a := range r.shards {
		r.kinds.add(a.kinds)
	}
	l.Requests, l.Settled = r.kinds.results(r.mix), r.settled
	l.Stamped, l.ClientWake, l.Loop = r.stamped, r.woken, r.loop
	if l.Elapsed > 0 {
		l.InFlight = float64(r.busy) / float64(l.Elapsed)
	}
	if o := r.open; o != nil {
		l.LatencyOf, l.Scheduled, l.Dropped, l.Late, l.Held = bench.FromDue, o.due, o.dropped, o.late, o.held
		l.MostOpen, l.FinalRate = r.connections, o.final
		l.Sending, l.Lag = r.total.sending.Latencies(), r.total.lag.Latencies()
	}
	if len(r.total.failed) > 0 {
		l.Failed, l.Examples = r.total.failed, r.examples
	}
	return l
}

// elapsed is the time of the sending plus the mean, over the connections, of how much later their last success has come by now.
func (r *recorder) elapsed() time.Duration {
	if r.lasted > 0 {
		return r.lasted
	}
	return r.sending + r.overrun/time.Duration(r.used())
}

// used is the number of connections that had a request: fewer than there are when there were fewer requests.
func (r *recorder) used() int64 {
	return max(min(int64(r.connections), r.sent), 1)
}
