package record

import "time"

// LateAfter is the lag from which a request is late. Timers and schedulers are not more exact.
const LateAfter = time.Millisecond

// Counts are sums over a step or a part of it.
type Counts struct {
	Sent, Cut int64 // in the whole step; Cut: cut off, so neither succeeded nor failed
	Reopened  int64 // connections that were opened again
	SentAgain int64 // requests that were sent twice: their connection ended without a response
	Checked   int64 // responses whose bodies were compared

	Within         int64         // successes before the end of a slice, those of its lead-in included
	Iterations     int64         // iterations that are counted, if whole iterations are
	ConnectionTime time.Duration // time of the connections from their first counted iteration to their last one

	Paced, Overran int64 // iterations after one with a pace, and those after one that took longer

	// Three independent measures of the requests in flight, for Little's law.

	ServiceTime      time.Duration // from send to end, of exchanges that ended within the interval
	IntervalTime     time.Duration // the part within the interval, of all exchanges
	InFlightIntegral time.Duration // requests in flight, as the loop saw them, integrated over the interval

	BackoffTime time.Duration // time within the interval in which connections waited before opening
	Stamped     int64         // responses with a kernel timestamp
	WakeupDelay time.Duration // sum of the delays from that timestamp to reading

	Scheduled, Dropped, Late, Waited int64 // open loop only
}

// Add adds the counts of another part of the step.
func (c *Counts) Add(o Counts) {
	c.Sent += o.Sent
	c.Cut += o.Cut
	c.Reopened += o.Reopened
	c.SentAgain += o.SentAgain
	c.Checked += o.Checked
	c.Within += o.Within
	c.Iterations += o.Iterations
	c.ConnectionTime += o.ConnectionTime
	c.Paced += o.Paced
	c.Overran += o.Overran
	c.ServiceTime += o.ServiceTime
	c.IntervalTime += o.IntervalTime
	c.InFlightIntegral += o.InFlightIntegral
	c.BackoffTime += o.BackoffTime
	c.Stamped += o.Stamped
	c.WakeupDelay += o.WakeupDelay
	c.Scheduled += o.Scheduled
	c.Dropped += o.Dropped
	c.Late += o.Late
	c.Waited += o.Waited
}

// Gauges are current values, not sums over time.
type Gauges struct {
	Rate, Final        float64 // open loop: scheduled requests per second now, and at the end if the rate was changed
	MaxOpenConnections int     // open loop: connections in use at the same time
	Backlog            int64   // requests in flight or queued at the end of the interval; 0 before
}

// Add adds the gauges of another thread of the same loop.
func (g *Gauges) Add(o Gauges) {
	g.Rate += o.Rate
	g.Final += o.Final
	g.MaxOpenConnections += o.MaxOpenConnections
	g.Backlog += o.Backlog
}
