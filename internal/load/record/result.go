package record

import (
	"cmp"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// Totals are the sums of a step, of one of its slices, or of all its slices.
type Totals struct {
	Counts
	Gauges
	Breakdown
	Ended *Tally // in all windows, and before and after them

	LeadIn        time.Duration
	FirstResponse time.Duration // see bench.Load; of the first slice
	Elapsed       time.Duration // length of the measured interval
	Saturation    float64       // share of the interval in which the busiest thread was not idle
	Unserved      int           // connections without a response when the lead-in had to end
	Connections   int           // closed loop: all; open loop: most in use at the same time
	Loop          string        // which system calls it used
}

// Add adds a later slice of the same step.
func (t *Totals) Add(slice *Totals) {
	if sum := t.Elapsed + slice.Elapsed; sum > 0 {
		t.Saturation = (t.Saturation*float64(t.Elapsed) + slice.Saturation*float64(slice.Elapsed)) / float64(sum)
	}
	t.Counts.Add(slice.Counts)
	t.Gauges = slice.Gauges
	t.Breakdown.Add(slice.Breakdown)
	t.Ended.Add(slice.Ended)
	t.LeadIn += slice.LeadIn
	t.FirstResponse = cmp.Or(t.FirstResponse, slice.FirstResponse)
	t.Elapsed += slice.Elapsed
	t.Unserved = max(t.Unserved, slice.Unserved)
	t.Connections = max(t.Connections, slice.Connections)
	t.Loop = slice.Loop
}

// Result is what is known of a step at its end.
type Result struct {
	Totals
	Started time.Time // beginning of the interval, or of the load if that ended before
	Windows []bench.Window

	Open        bool // open loop
	Whole       bool // the whole step is measured, without a lead-in: its requests or users are bounded
	Interleaved bool // the result was joined from slices
	ByIteration bool // whole iterations count

	names, sessions []string // of the mix
	sample          *sample  // nil: no requests are kept
}

func newResult(s bench.Step, names, sessions []string) Result {
	r := Result{
		Open: s.Open(), Whole: s.MaxRequests > 0 || s.Arrivals != nil,
		names: names, sessions: sessions, sample: newSample(s, 0, 0),
	}
	r.Loop, r.Ended, r.Breakdown = bench.LoopVegeta, newTally(r.Open), newBreakdown(len(names), len(sessions))
	if !r.Open {
		r.Connections = s.Connections
	}
	return r
}

// Load returns the result as a step's record, without the warnings about it.
func (r *Result) Load() bench.Load {
	ended := r.Ended
	l := bench.Load{
		Definition: bench.Interval, Started: r.Started, Elapsed: r.Elapsed, LeadIn: r.LeadIn, FirstResponse: r.FirstResponse,
		Counts: r.Counts.Counts, Outcomes: r.All.outcomes(), Unserved: r.Unserved, Backlog: r.Backlog,
		Latency: ended.Latency.Latencies(), Timeouts: ended.Timeouts.Latencies(), Failures: ended.Failures.Latencies(),
		Windows: r.Windows, Saturation: r.Saturation, Loop: r.Loop,
		Requests: r.Breakdown.results(r.names), Sessions: r.Breakdown.sessions(r.sessions, r.names),
	}
	l.Succeeded, l.Bytes = ended.Succeeded, ended.Bytes
	l.Kept, l.KeptOf = r.sample.Values(bench.KeptRequest.Compare), r.sample.Seen()
	inFlight := r.InFlightIntegral
	if r.ByIteration {
		l.Definition, inFlight = bench.Iterations, r.ServiceTime
	}
	if l.Elapsed > 0 {
		l.InFlight = float64(inFlight) / float64(l.Elapsed)
	}
	if !r.Open {
		l.Scheduled = l.Sent
		return l
	}
	l.LatencyOf, l.MaxOpenConnections = bench.FromScheduled, r.Connections
	l.Sending, l.Lag = ended.Sending.Latencies(), ended.Lag.Latencies()
	return l
}
