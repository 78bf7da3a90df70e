package record

import (
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// LateAfter is the lag from which a request is late. Timers and schedulers are not more exact.
const LateAfter = time.Millisecond

// Counts are sums over a step or a part of it.
type Counts struct {
	bench.Counts
	Work
}

// Add adds the counts of another part of the step.
func (c *Counts) Add(o Counts) {
	c.Counts.Add(o.Counts)
	c.Work.Add(o.Work)
}

// Work is what the connections did with their time.
type Work struct {
	Iterations     int64         // iterations that are counted, if whole iterations are
	ConnectionTime time.Duration // time of the connections from their first counted iteration to their last one

	// Three independent measures of the requests in flight, for Little's law.

	ServiceTime      time.Duration // from send to end, of exchanges that ended within the interval
	IntervalTime     time.Duration // the part within the interval, of all exchanges
	InFlightIntegral time.Duration // requests in flight, as the loop saw them, integrated over the interval

	BackoffTime time.Duration // time within the interval in which connections waited before opening
}

// Add adds the work of another part of the step.
func (w *Work) Add(o Work) {
	w.Iterations += o.Iterations
	w.ConnectionTime += o.ConnectionTime
	w.ServiceTime += o.ServiceTime
	w.IntervalTime += o.IntervalTime
	w.InFlightIntegral += o.InFlightIntegral
	w.BackoffTime += o.BackoffTime
}

// Gauges are current values, not sums over time.
type Gauges struct {
	Rate               float64 // open loop: scheduled requests per second now
	MaxOpenConnections int     // open loop: connections in use at the same time
	Backlog            int64   // requests in flight or queued at the end of the interval; 0 before
}

// Add adds the gauges of another thread of the same loop.
func (g *Gauges) Add(o Gauges) {
	g.Rate += o.Rate
	g.MaxOpenConnections += o.MaxOpenConnections
	g.Backlog += o.Backlog
}
