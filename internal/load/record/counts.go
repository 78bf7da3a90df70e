package record

import "time"

// LateAfter is how much later than due a request is called late. Less is the grain of timers and
// schedulers.
const LateAfter = time.Millisecond

// Counts are sums over a step, or over a part of it.
type Counts struct {
	Sent, Cut int64 // in the whole step; cut: cut off, hence neither succeeded nor failed
	Reopened  int64 // connections opened again, those of the places that had one
	Checked   int64 // answers whose bodies were compared

	// Three records of the requests in flight, kept independently, for Little's law.

	ServiceTime      time.Duration // of the exchanges that ended within the interval, from sending to end
	IntervalTime     time.Duration // of all exchanges, the part of that time within the interval
	InFlightIntegral time.Duration // integral, over the interval, of how many the loop saw in flight

	BackoffTime time.Duration // waited within the interval by connections before they (again) opened
	Stamped     int64         // answers whose end the kernel has stamped,
	WakeupDelay time.Duration // and how much later they were read, summed

	Scheduled, Dropped, Late, Waited int64 // of an open loop
}

// Add adds what another part of the step has counted.
func (c *Counts) Add(o Counts) {
	c.Sent += o.Sent
	c.Cut += o.Cut
	c.Reopened += o.Reopened
	c.Checked += o.Checked
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

// Gauges are figures as they stand now, not sums over time.
type Gauges struct {
	Rate, Final        float64 // open loop: due per second now, and at the end where it has been changed
	MaxOpenConnections int     // open loop: connections in use at the same time
	Backlog            int64   // requests in flight or waiting at the end of the interval; 0 before
}

// Add adds those of another thread of the same loop.
func (g *Gauges) Add(o Gauges) {
	g.Rate += o.Rate
	g.Final += o.Final
	g.MaxOpenConnections += o.MaxOpenConnections
	g.Backlog += o.Backlog
}
