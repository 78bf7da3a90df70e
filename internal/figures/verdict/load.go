package verdict

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
)

// Loop is what a loop of the load generator knows of a step besides its result.
type Loop struct {
	Open        bool
	Whole       bool // all of the step is measured: it has no steady state
	Parts       bool // it was run in turns or bursts
	Connections int
	Reopened    int64
	Responses   int64         // of the interval, failures among them
	LateAfter   time.Duration // how much later than due a request is late

	// Three records of the requests in flight, kept independently, for Little's law.
	Busy    time.Duration // of the exchanges that ended within the interval, from their sending to their end
	Shared  time.Duration // of all exchanges, the part of that time that lies within the interval
	Counted time.Duration // integral, over the interval, of how many were in flight, looked at in each turn of the loop
	Rested  time.Duration // in which connections waited within the interval
}

// Judge says what doubt the client itself can have about a step.
func (o Loop) Warnings(l bench.Load) (all bench.Warnings) {
	add := func(is bool, kind bench.WarningKind, f values, sentence string, args ...any) {
		if is {
			all = append(all, found(kind, f, sentence, args...))
		}
	}
	cut := "interrupted: %d requests in flight not counted"
	if l.Cut == 1 {
		cut = "interrupted: %d request in flight not counted"
	}
	add(l.Cut > 0, bench.WarnInterrupted, values{"requests": float64(l.Cut)}, cut, l.Cut)
	again := "1 reconnect"
	if o.Reopened > 1 {
		again = fmt.Sprintf("%d reconnects", o.Reopened)
	}
	add(o.Reopened > 0 && l.Succeeded > 0, bench.WarnReopened, values{"times": float64(o.Reopened)},
		"%s; latency includes them", again)
	limited := l.Failed[bench.ErrClient]
	requests := fmt.Sprintf("%d requests", limited)
	if limited == 1 {
		requests = "1 request"
	}
	add(limited > 0, bench.WarnClientLimit, values{"requests": float64(limited)},
		"%s failed: client out of ports, files or memory: %s", requests, l.Examples[bench.ErrClient])
	if o.Open {
		all = append(all, o.punctuality(l)...)
	}
	add(l.Unserved > 0, bench.WarnQueueOutlastedLeadIn,
		values{"lead_in_ns": float64(l.LeadIn), "unserved": float64(l.Unserved), "connections": float64(o.Connections)},
		"queue outlasted the lead-in: after %s, %d of %d connections had no response. The measured interval may be unstable",
		units.Duration(l.LeadIn), l.Unserved, o.Connections)
	all = append(all, o.little(l)...)
	if ThreadBusy(l) {
		all = append(all, Saturated(l))
	}
	used := clientCPUs(l)
	add(l.ClientCPUs > 0 && used > suspected*l.ClientCPUs, bench.WarnClientMaybeBound,
		values{"client_cpus": used, "client_limit": l.ClientCPUs},
		"the client may be the bottleneck: it used %.2f of its %s", used,
		units.CPUs(l.ClientCPUs))
	return all
}

// ThreadBusy reports whether a thread of the client was at its limit.
func ThreadBusy(l bench.Load) bool { return l.Saturation > saturated }

// Saturated is about such a thread.
func Saturated(l bench.Load) bench.Warning {
	return found(bench.WarnClientBound, values{"share": l.Saturation},
		"client-bound: a client thread was busy %s of the step and would hide a faster contender",
		units.Percent(l.Saturation))
}

// Waited returns how many of an open loop's requests were sent late since every connection was in use.
func Waited(l bench.Load) int64 { return max(l.WaitedForConnection-l.Dropped, 0) }

// ManyWaited reports whether connections were too few for the rate.
func ManyWaited(l bench.Load) bool { return float64(Waited(l)) > late*float64(l.Scheduled) }

// OwnLate returns how many requests the client has sent late although connections were free.
func OwnLate(l bench.Load) int64 { return l.Late - Waited(l) }

// punctuality says what an open loop has not sent when it was scheduled, and whose fault that was.
func (o Loop) punctuality(l bench.Load) (all bench.Warnings) {
	if l.Dropped > 0 {
		all = append(all, found(bench.WarnDropped, values{"dropped": float64(l.Dropped), "due": float64(l.Scheduled),
			"connections": float64(l.MaxOpenConnections)},
			"%d of %d scheduled requests dropped: all %d connections in use, the contender did not keep up",
			l.Dropped, l.Scheduled, l.MaxOpenConnections))
	}
	if usual := l.Throughput() * l.Sending.Mean.Seconds(); float64(l.Backlog) > growingBacklog*usual+10 && l.Dropped == 0 {
		all = append(all, found(bench.WarnNotKeepingUp, values{"backlog": float64(l.Backlog), "usual": usual},
			"the contender did not keep up: backlog of %d requests at the end, %.0f expected at this throughput and latency",
			l.Backlog, usual))
	}
	if waited := Waited(l); waited > 0 {
		all = append(all, found(bench.WarnLate, values{"late": float64(waited), "connections": float64(l.MaxOpenConnections)},
			"%d requests sent late: all %d connections in use", waited, l.MaxOpenConnections))
	}
	if own := OwnLate(l); float64(own) > late*float64(l.Sent) {
		all = append(all, found(bench.WarnClientBound, values{"late": float64(own), "sent": float64(l.Sent)},
			"client-bound: %d of %d requests sent over %s late although connections were free",
			own, l.Sent, o.LateAfter))
	}
	return all
}

// little applies Little's law: in a steady state throughput × mean latency is the mean number of
// requests in flight. Counted and Busy are kept independently. In a closed loop a difference is
// what the client has spent between a response and the next request. Else, where Shared and Counted
// differ, a record is wrong; where they agree, the step was not in a steady state.
func (o Loop) little(l bench.Load) bench.Warnings {
	if o.Responses < fewResponses || l.Elapsed <= 0 || l.Cut > 0 {
		return nil
	}
	length, slack := float64(l.Elapsed), float64(littleSlack)*float64(o.Responses)
	counted, shared, busy := float64(o.Counted), float64(o.Shared), float64(o.Busy)
	could := counted // be in flight
	if !o.Open && !o.Whole {
		could = max(counted, length*float64(o.Connections)-float64(o.Rested))
	}
	f := values{"by_times": shared / length, "by_counting": counted / length}
	switch {
	case shared > counted*(1+littleTolerance)+slack:
		return bench.Warnings{found(bench.WarnClockUnsteady, f,
			"unstable machine clock: %.2f requests in flight by time, %.2f by count",
			shared/length, counted/length)}
	case o.Open && shared < counted*(1-littleTolerance)-slack:
		return bench.Warnings{found(bench.WarnResponsesSeenLate, f,
			"the client saw responses late: %.2f requests in flight by time, %.2f by count",
			shared/length, counted/length)}
	case !o.Open && shared < could*(1-littleTolerance):
		gap := time.Duration((could - shared) / float64(o.Responses)).Round(100 * time.Nanosecond)
		return bench.Warnings{found(bench.WarnClientBound,
			values{"in_flight": shared / length, "possible": could / length, "gap_ns": float64(gap)},
			"client-bound: %.1f of %.1f connections busy; the client takes %s from response to next request",
			shared/length, could/length, gap)}
	// the ends of short turns are too large a part of them
	case !o.Parts && math.Abs(busy-counted) > steadyWithin*could+slack:
		return bench.Warnings{found(bench.WarnUnstableLoad,
			values{"by_latency": busy / length, "by_counting": counted / length},
			"unstable load: throughput × mean latency is %.2f, but %.2f requests were in flight; the queue grew or shrank",
			busy/length, counted/length)}
	}
	return nil
}

// wall returns the time in which CPU times were measured; earlier results have only Elapsed.
func wall(l bench.Load) time.Duration { return cmp.Or(max(l.Wall, 0), l.Elapsed) }

// clientCPUs returns the CPUs that the client used, an embedded store among them.
func clientCPUs(l bench.Load) float64 {
	if wall(l) <= 0 {
		return 0
	}
	return float64(l.ClientCPU) / float64(wall(l))
}
