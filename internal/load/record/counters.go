package record

import (
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// Counters belong to one thread of a loop, or to all connections of engine vegeta. A thread
// holds the lock while it handles a batch of events, so a request needs no lock. The recorder
// gathers them between two batches.
type Counters struct {
	sync.Mutex
	window *Tally // what ends before until
	next   *Tally // what ends at until or later
	spare  *Tally
	until  int64 // end of the window, ns since the load began

	Counts    // since the counters were gathered last
	Gauges    // current values
	Breakdown // of the whole step

	counted int64 // time up to which InFlightIntegral is complete
	sample  *sample
	names   []string // of the requests of the mix
}

func newCounters(open bool, requests, sessions int) *Counters {
	return &Counters{
		window: newTally(open), next: newTally(open), spare: newTally(open), until: Undecided,
		Breakdown: newBreakdown(requests, sessions),
	}
}

// InFlight adds to the integral that n requests were in flight since the last call.
func (c *Counters) InFlight(v *Interval, now int64, n int) {
	from := c.counted
	c.counted = max(from, now)
	c.InFlightIntegral += v.Overlap(from, c.counted) * time.Duration(n)
}

// NotInFlight takes an exchange that ended at a moment out of the integral since then.
func (c *Counters) NotInFlight(v *Interval, since int64) {
	c.InFlightIntegral -= v.Overlap(since, c.counted)
}

// SendScheduled counts a request of an open loop that is sent in phase p, lag after its scheduled
// time. waited says that it waited for a connection.
func (c *Counters) SendScheduled(p Phase, lag time.Duration, waited bool) {
	late := lag > LateAfter
	c.Sent++
	c.window.Lag.Record(lag)
	if late {
		c.Late++
		if waited {
			c.WaitedForConnection++
		}
	}
	if p == Measured {
		c.window.Sent++
		if late {
			c.window.Late++
		}
	}
}

// Drop counts n scheduled requests that are never sent; waited: they waited for a connection.
func (c *Counters) Drop(p Phase, n int64, waited bool) {
	c.Dropped += n
	if p == Measured {
		c.window.Dropped += n
	}
	if waited {
		c.WaitedForConnection += n
	}
}

// Schedule counts n requests scheduled in phase p, at a rate per second.
func (c *Counters) Schedule(p Phase, n int64, rate float64) {
	c.Scheduled += n
	if p == Measured {
		c.window.Scheduled += n
	}
	c.Rate = rate
}

// CutOff counts an exchange that the end of the run cut off at now.
func (c *Counters) CutOff(v *Interval, start, now int64) {
	c.Cut++
	c.IntervalTime += v.Overlap(start, now)
}

// Exchange is one request with its response. Times are ns since the load began.
type Exchange struct {
	Request    int           // index in the mix
	Start, End int64         // from sending to the last byte of the response, or to the failure
	Read       int64         // when the client saw the end: its wake-up time later than End
	Lag        time.Duration // open loop: from the scheduled time to Start
	Kind       bench.ErrorKind
	Example    string // text of a failure; only necessary if NeedsExample
	Bytes      int64  // bytes of the body
	Status     int    // of a complete response; 0: there is none
	Rejected   bool   // Status is expected, but not throughput: neither success nor error
	Checked    bool
	// kind of the body if it was to be checked and was not looked at; Example then says why, if
	// Kind is ""
	Unread bench.ErrorKind

	Lead bool // it is of the lead-in, although it ended within the interval; see Slice

	Session     int  // session of the mix, from 1; 0: a single request
	First, Last bool // first and last request of its session

	Paced, Overran bool // the first one after an iteration that has a pace, and that took longer
}

// Record counts an exchange in its window.
func (c *Counters) Record(v *Interval, x Exchange) {
	w := c.window
	if x.End >= c.until {
		w = c.next
	}
	p := v.Phase(x.End)
	if x.Lead {
		p = LeadIn
	}
	x.Rejected = x.Rejected && x.Kind == ""
	c.IntervalTime += v.Overlap(x.Start, x.Read)
	if p == Measured {
		if c.sample != nil {
			c.keep(&x)
		}
		c.ServiceTime += time.Duration(x.Read - x.Start)
		if c.Backlog > 0 { // the interval is over, and this exchange ended in it but is seen only now
			c.Backlog--
		}
	}
	if x.Paced {
		c.Paced++
	}
	if x.Overran {
		c.Overran++
	}
	c.exchange(&x)
	c.session(x)
	took := time.Duration(x.End - x.Start)
	if x.Kind != "" {
		if p == Measured {
			w.Failed[x.Kind]++
		}
		if x.Kind == bench.ErrTimeout {
			w.Timeouts.Record(took)
		} else {
			w.Failures.Record(took)
		}
		return
	}
	if x.Rejected {
		if p == Measured {
			w.Rejected++
		}
		return
	}
	switch p {
	case LeadIn:
		c.Lead++
		return
	case Drain:
		c.Drain++
		c.DrainMax = max(c.DrainMax, took+x.Lag)
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

// gather moves the counts of all threads into the current window. What ends at until or later
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
		// Only this goroutine uses the spare tally.
		c.spare = done
	}
	r.Gauges = now
	if r.Open {
		r.Connections = max(r.Connections, now.MaxOpenConnections)
	}
}
