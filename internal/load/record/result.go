package record

import (
	"time"

	"locbench/internal/bench"
)

// Totals are what a step, a turn of it or all its turns come to.
type Totals struct {
	Counts
	Gauges
	Breakdown
	Ended *Tally // in all windows, and before and after them

	LeadIn      time.Duration
	Elapsed     time.Duration // length of the interval
	Saturation  float64       // share of the interval in which the busiest thread was never idle
	Unserved    int           // connections that had no response when the lead-in had to end
	Connections int           // closed loop: all; open loop: in use at the same time
	Loop        string        // by which system calls
}

// Add adds a later turn of the same step.
func (t *Totals) Add(turn *Totals) {
	if sum := t.Elapsed + turn.Elapsed; sum > 0 {
		t.Saturation = (t.Saturation*float64(t.Elapsed) + turn.Saturation*float64(turn.Elapsed)) / float64(sum)
	}
	t.Counts.Add(turn.Counts)
	t.Gauges = turn.Gauges
	t.Breakdown.Add(turn.Breakdown)
	t.Ended.Add(turn.Ended)
	t.LeadIn += turn.LeadIn
	t.Elapsed += turn.Elapsed
	t.Unserved = max(t.Unserved, turn.Unserved)
	t.Connections = max(t.Connections, turn.Connections)
	t.Loop = turn.Loop
}

// Result is what is known of a step at its end.
type Result struct {
	Totals
	Started time.Time // beginning of the interval, or of the load where that has ended before
	Windows []bench.Window

	Open        bool // loop
	Whole       bool // requests or users are bounded: all of the step is measured, without a lead-in
	Interleaved bool // the step was put together from several turns

	names, sessions []string // of the mix: of its requests, and of its sessions
}

func newResult(s bench.Step, names, sessions []string) Result {
	r := Result{
		Open: s.Open(), Whole: s.MaxRequests > 0 || s.Arrivals != nil,
		names: names, sessions: sessions,
	}
	r.Loop, r.Ended, r.Breakdown = "portable", newTally(r.Open), newBreakdown(len(names), len(sessions))
	if !r.Open {
		r.Connections = s.Connections
	}
	return r
}

// Load returns the result in the words of a step's record, without the warning about it.
func (r *Result) Load() bench.Load {
	ended := r.Ended
	l := bench.Load{
		Definition: bench.Interval,
		Started:    r.Started, Elapsed: r.Elapsed, LeadIn: r.LeadIn,
		Scheduled: r.Sent, Sent: r.Sent, Succeeded: ended.Succeeded, Lead: ended.Lead, Drain: ended.Drain, Cut: r.Cut,
		Unserved: r.Unserved, Bytes: ended.Bytes,
		Latency: ended.Latency.Latencies(), Timeouts: ended.Timeouts.Latencies(), Failures: ended.Failures.Latencies(),
		Windows: r.Windows, Checked: r.Checked, Saturation: r.Saturation, Backlog: r.Backlog,
		Stamped: r.Stamped, ClientWake: r.WakeupDelay, Loop: r.Loop,
		Requests: r.Breakdown.results(r.names), Sessions: r.Breakdown.sessions(r.sessions, r.names),
	}
	if l.Elapsed > 0 {
		l.InFlight = float64(r.InFlightIntegral) / float64(l.Elapsed)
	}
	if r.Open {
		l.LatencyOf, l.Scheduled, l.Dropped, l.Late, l.WaitedForConnection = bench.FromScheduled, r.Due, r.Dropped, r.Late, r.Held
		l.MaxOpenConnections, l.FinalRate = r.Connections, r.Final
		l.Sending, l.Lag = ended.Sending.Latencies(), ended.Lag.Latencies()
	}
	failed := map[bench.ErrorKind]int64{}
	addFailures(failed, ended.Failed)
	addFailures(failed, ended.Outside)
	if len(failed) > 0 {
		l.Failed, l.Examples = failed, r.Examples
	}
	return l
}
