package record

import (
	"sync"
	"time"

	"locbench/internal/bench"
)

// Counters are those of one thread of a loop, or of all connections of the portable loop. Such a
// thread holds the lock while it handles a batch of events, so a request costs no lock of its
// own; what they hold is gathered between two batches.
type Counters struct {
	sync.Mutex
	window *Tally // of what ends before until,
	next   *Tally // and from then on
	spare  *Tally
	until  int64 // since the beginning of the load

	Counts    // since they were gathered the last time
	Gauges    // as they stand
	Breakdown // of the whole step

	counted int64 // up to when those in flight are counted
}

func newCounters(open bool, requests, sessions int) *Counters {
	return &Counters{
		window: newTally(open), next: newTally(open), spare: newTally(open), until: Undecided,
		Breakdown: newBreakdown(requests, sessions),
	}
}

// InFlight counts n requests as in flight since it was last called.
func (c *Counters) InFlight(v *Interval, now int64, n int) {
	if now > c.counted {
		c.InFlightIntegral += v.Overlap(c.counted, now) * time.Duration(n)
		c.counted = now
	}
}

// SendScheduled records a request of an open loop that is sent in a phase, lag after it was scheduled; held,
// because it had to wait for a connection.
func (c *Counters) SendScheduled(p Phase, lag time.Duration, waited bool) {
	late := lag > LateAfter
	c.Sent++
	c.window.Lag.Record(lag)
	if late {
		c.Late++
		if waited {
			c.Waited++
		}
	}
	if p == Measured {
		c.window.Sent++
		if late {
			c.window.Late++
		}
	}
}

// Drop records n requests that were scheduled as never sent; held, because they waited for a connection.
func (c *Counters) Drop(p Phase, n int64, waited bool) {
	c.Dropped += n
	if p == Measured {
		c.window.Dropped += n
	}
	if waited {
		c.Waited += n
	}
}

// Schedule records n more requests as due in a phase, at such a rate.
func (c *Counters) Schedule(p Phase, n int64, rate float64) {
	c.Scheduled += n
	if p == Measured {
		c.window.Scheduled += n
	}
	c.Rate = rate
}

// CutOff records an exchange that the end of the run has cut off at now.
func (c *Counters) CutOff(v *Interval, start, now int64) {
	c.Cut++
	c.IntervalTime += v.Overlap(start, now)
}

// Exchange is one request with its response. Times are ns since the beginning of the load.
type Exchange struct {
	Request    int           // of the mix
	Start, End int64         // from its sending to the last byte of its response, or to its failure
	Read       int64         // when its end was seen: the client's time to wake up later than End
	Lag        time.Duration // open loop: from due to Start
	Kind       bench.ErrorKind
	Example    string // of a failure; may be left out where NeedsExample says so
	Bytes      int64  // of the body
	Checked    bool

	Session     int  // of the mix, from 1; 0: the request stands alone
	First, Last bool // of its session
}

// Record counts an exchange in its window.
func (c *Counters) Record(v *Interval, x Exchange) {
	w := c.window
	if x.End >= c.until {
		w = c.next
	}
	p := v.Phase(x.End)
	c.IntervalTime += v.Overlap(x.Start, x.Read)
	if p == Measured {
		c.ServiceTime += time.Duration(x.Read - x.Start)
		if c.Backlog > 0 { // the interval is over, and this one, which is seen only now, was not in flight at its end
			c.Backlog--
		}
	}
	if x.Checked {
		c.Checked++
	}
	c.session(x)
	took := time.Duration(x.End - x.Start)
	if x.Kind != "" {
		c.fail(w, p, x, took)
		return
	}
	switch p {
	case LeadIn:
		w.Lead++
		return
	case Drain:
		w.Drain++
		return
	}
	c.success(x.Request, took+x.Lag, x.Bytes)
	w.Succeeded++
	w.Bytes += x.Bytes
	w.Latency.Record(took + x.Lag)
	if w.Sending != nil {
		w.Sending.Record(took)
	}
}

func (c *Counters) fail(w *Tally, p Phase, x Exchange, took time.Duration) {
	c.failure(x.Request, x.Kind)
	if p == Measured {
		w.Failed[x.Kind]++
	} else {
		w.Outside[x.Kind]++
	}
	if x.Kind == bench.ErrTimeout {
		w.Timeouts.Record(took)
	} else {
		w.Failures.Record(took)
	}
	c.example(x.Request, x.Kind, x.Example)
}

// gather takes over what all counters hold into the window in use. What ends at until or later
// belongs to the window after the one that begins now.
func (r *Recorder) gather(until int64) {
	var now Gauges
	for _, c := range r.counters {
		c.Lock()
		done, counts := c.window, c.Counts
		c.window, c.next, c.until, c.Counts = c.next, c.spare, until, Counts{}
		now.Add(c.Gauges)
		c.Unlock()

		r.window.Add(done)
		r.Counts.Add(counts)
		done.reset()
		// Only this goroutine uses the spare one.
		c.spare = done
	}
	r.Gauges = now
	if r.Open {
		r.Connections = max(r.Connections, now.MaxOpenConnections)
	}
}
