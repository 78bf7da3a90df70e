package load

import (
	"time"

	"locbench/internal/bench"
	"locbench/internal/hdr"
)

// lateAfter is how much later than due a request is called late. Less is the grain of timers and schedulers.
const lateAfter = time.Millisecond

// counts are sums over a step, or over a part of it.
type counts struct {
	sent, cut int64 // in the whole step; cut: cut off, hence neither succeeded nor failed
	opened    int64 // connections opened while the load was on
	checked   int64 // answers whose bodies were compared

	// Three records of the requests in flight, kept independently, for Little's law; see little.
	busy    time.Duration // of the exchanges that ended within the interval, from their sending to their end
	shared  time.Duration // of all exchanges, the part of that time that lies within the interval
	counted time.Duration // integral, over the interval, of how many were in flight, looked at in each turn of the loop

	rested  time.Duration // in which connections waited within the interval, before they were opened again or began in a ramp
	stamped int64         // answers whose end the kernel has stamped,
	woken   time.Duration // and how much later they were read, summed

	due, dropped, late, held int64 // of an open loop
}

func (c *counts) add(o counts) {
	c.sent += o.sent
	c.cut += o.cut
	c.opened += o.opened
	c.checked += o.checked
	c.busy += o.busy
	c.shared += o.shared
	c.counted += o.counted
	c.rested += o.rested
	c.stamped += o.stamped
	c.woken += o.woken
	c.due += o.due
	c.dropped += o.dropped
	c.late += o.late
	c.held += o.held
}

// tally is what ended in a window or in all of them.
type tally struct {
	from      time.Duration // since the beginning of the load; for windows
	succeeded int64         // within the interval
	lead      int64         // successes before it,
	drain     int64         // and after it
	bytes     int64
	failed    map[bench.ErrorKind]int64 // within the interval,
	outside   map[bench.ErrorKind]int64 // and before or after it
	latency   *hdr.Histogram            // of successes within the interval
	timeouts  *hdr.Histogram            // of all
	failures  *hdr.Histogram            // of all others

	// Open loop: latency is from due then, and these are there.
	sent, due, late, dropped int64          // within the interval
	sending                  *hdr.Histogram // of successes within the interval, from their sending
	lag                      *hdr.Histogram // from due to sent, of all
}

func newTally(open bool) *tally {
	t := &tally{
		failed: map[bench.ErrorKind]int64{}, outside: map[bench.ErrorKind]int64{},
		latency: hdr.New(), timeouts: hdr.New(), failures: hdr.New(),
	}
	if open {
		t.sending, t.lag = hdr.New(), hdr.New()
	}
	return t
}

func (t *tally) reset(from time.Duration) {
	clear(t.failed)
	clear(t.outside)
	for _, h := range []*hdr.Histogram{t.latency, t.timeouts, t.failures, t.sending, t.lag} {
		if h != nil && h.Count() > 0 {
			h.Reset()
		}
	}
	*t = tally{
		from: from, failed: t.failed, outside: t.outside,
		latency: t.latency, timeouts: t.timeouts, failures: t.failures, sending: t.sending, lag: t.lag,
	}
}

func (t *tally) add(w *tally) {
	t.succeeded += w.succeeded
	t.lead += w.lead
	t.drain += w.drain
	t.bytes += w.bytes
	addFailures(t.failed, w.failed)
	addFailures(t.outside, w.outside)
	t.latency.Merge(w.latency)
	t.timeouts.Merge(w.timeouts)
	t.failures.Merge(w.failures)
	t.sent, t.due, t.late, t.dropped = t.sent+w.sent, t.due+w.due, t.late+w.late, t.dropped+w.dropped
	if t.lag != nil {
		t.sending.Merge(w.sending)
		t.lag.Merge(w.lag)
	}
}

func addFailures(to, from map[bench.ErrorKind]int64) {
	for kind, n := range from {
		to[kind] += n
	}
}

// exchange is one request with its answer. Times are ns since the beginning of the load.
type exchange struct {
	request    *request
	start, end int64         // from its sending to the last byte of its answer, or to its failure
	read       int64         // when the end was seen: later than end by what the client took to wake up
	lag        time.Duration // open loop: from due to start
	kind       bench.ErrorKind
	example    string // of a failure; may be left out where its kind has one
	bytes      int64  // of the body
	checked    bool
}

// record counts an exchange in its window.
func (a *account) record(v *interval, x exchange) {
	w := a.window
	if x.end >= a.until {
		w = a.next
	}
	m := v.of(x.end)
	a.shared += v.overlap(x.start, x.read)
	if m == within {
		a.busy += time.Duration(x.read - x.start)
	}
	if x.checked {
		a.checked++
	}
	took := time.Duration(x.end - x.start)
	if x.kind != "" {
		a.fail(w, m, x, took)
		return
	}
	switch m {
	case before:
		w.lead++
		return
	case after:
		w.drain++
		return
	}
	a.kinds.success(x.request, took+x.lag, x.bytes)
	w.succeeded++
	w.bytes += x.bytes
	w.latency.Record(took + x.lag)
	if w.sending != nil {
		w.sending.Record(took)
	}
}

func (a *account) fail(w *tally, m moment, x exchange, took time.Duration) {
	a.kinds.failure(x.request, x.kind)
	if m == within {
		w.failed[x.kind]++
	} else {
		w.outside[x.kind]++
	}
	if x.kind == bench.ErrTimeout {
		w.timeouts.Record(took)
	} else {
		w.failures.Record(took)
	}
	if x.example != "" && a.lacks(x.kind) {
		a.examples[x.kind] = x.example
	}
}

// lacks says whether a kind of failure has no example yet: they are dear to make.
func (a *account) lacks(kind bench.ErrorKind) bool {
	_, known := a.examples[kind]
	return !known
}
