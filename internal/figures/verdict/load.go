package verdict

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// Loop is what an event loop of the client knows about a step, in addition to its result.
type Loop struct {
	Open        bool
	Whole       bool // the whole step is measured, so it has no steady state
	Parts       bool // the step was interleaved or sent in bursts
	Connections int
	Responses   int64         // of the measured interval, errors and rejected requests included
	LateAfter   time.Duration // delay after which a request is late

	// Three independent measurements of the requests in flight, for Little's law.
	Busy    time.Duration // total time of the requests that ended within the measured interval
	Shared  time.Duration // total time of all requests within the measured interval
	Counted time.Duration // integral of the number in flight over the measured interval, read at each pass of the loop
	Users   time.Duration // total time of the connections in counted iterations; 0: what ends in the interval counts
	Rested  time.Duration // total time in which connections waited within the measured interval
}

// Warnings returns the warnings that the client can give about a step.
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
	add(l.Reconnects > 0 && l.Succeeded > 0, bench.WarnReopened, values{"times": float64(l.Reconnects)},
		"%s; latency includes them", units.Plural(l.Reconnects, "reconnect"))
	add(ManySentAgain(l), bench.WarnSentAgain, values{"requests": float64(l.SentAgain), "sent": float64(l.Sent)},
		"%d of %d requests sent again: the contender ended their connections without a response. "+
			"Look for workers that crash or restart, or a short keep-alive timeout", l.SentAgain, l.Sent)
	add(slowDrain(l), bench.WarnSlowDrain,
		values{"requests": float64(l.Drain), "longest_ns": float64(l.DrainMax), "max_ns": float64(l.Latency.Max)},
		"%s ended after %s and took up to %s: p99 and max (%s) do not include them",
		units.Plural(l.Drain, "success"), o.intervals(), units.Duration(l.DrainMax), units.Duration(l.Latency.Max))
	limited := l.Failed[bench.ErrClient]
	requests := fmt.Sprintf("%d requests", limited)
	if limited == 1 {
		requests = "1 request"
	}
	add(limited > 0, bench.WarnClientLimit, values{"requests": float64(limited)},
		"%s failed: client out of ports, files or memory: %s", requests, l.Examples[bench.ErrClient])
	add(l.RejectedShare() >= rejectedSeen, bench.WarnRejected,
		values{"rejected": float64(l.Rejected.Total()), "ended": float64(l.Ended()), "share": l.RejectedShare()},
		"%s: they are expected, but neither throughput nor in the latency; CPU time per request includes their cost. "+
			"`success` in the profile sets what counts", l.RejectedWords())
	all = append(all, unread(l)...)
	add(l.Overran > 0, bench.WarnPace, values{"overran": float64(l.Overran), "paced": float64(l.Paced)},
		"%d of %d iterations took longer than their pace; the next one began at once", l.Overran, l.Paced)
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
	used := ClientCPUs(l)
	add(l.ClientCPUs > 0 && used > suspected*l.ClientCPUs, bench.WarnClientMaybeBound,
		values{"client_cpus": used, "client_limit": l.ClientCPUs},
		"the client may be the bottleneck: it used %.2f of its %s", used,
		units.CPUs(l.ClientCPUs))
	return all
}

// ManySentAgain reports whether more requests were sent again than connections that end while a
// request is on its way explain.
func ManySentAgain(l bench.Load) bool { return float64(l.SentAgain) > sentAgain*float64(l.Sent) }

// slowDrain reports whether requests of the drain took far longer than all of the interval, so
// quantiles and maximum would be others with them.
func slowDrain(l bench.Load) bool {
	return l.Latency.Count > 0 && l.DrainMax >= longDrain && l.DrainMax > muchLongerDrain*l.Latency.Max
}

// intervals names what the drain comes after.
func (o Loop) intervals() string {
	if o.Parts {
		return "their slices"
	}
	return "the measured interval"
}

// ThreadBusy reports whether a thread of the client was at its limit.
func ThreadBusy(l bench.Load) bool { return l.Saturation > saturated }

// Saturated returns the warning that a thread of the client was at its limit.
func Saturated(l bench.Load) bench.Warning {
	return found(bench.WarnClientBound, values{"share": l.Saturation},
		"client-bound: a client thread was busy %s of the step and would hide a faster contender",
		units.Percent(l.Saturation))
}

// Waited returns how many requests of an open loop were late because all connections were in use.
func Waited(l bench.Load) int64 { return max(l.WaitedForConnection-l.Dropped, 0) }

// ManyWaited reports whether there were too few connections for the rate.
func ManyWaited(l bench.Load) bool { return float64(Waited(l)) > late*float64(l.Scheduled) }

// OwnLate returns how many requests the client sent late although connections were free.
func OwnLate(l bench.Load) int64 { return l.Late - Waited(l) }

// Held reports whether the contender kept up with the rate of an open loop: no request waited for a
// connection or was dropped, and at the end as many were in flight as usual.
func Held(l bench.Load) bool {
	return l.Dropped == 0 && Waited(l) == 0 && !backlogGrew(l, usualBacklog(l))
}

// usualBacklog returns how many requests are in flight at the throughput and the latency of a step.
func usualBacklog(l bench.Load) float64 { return l.Throughput() * l.Sending.Mean.Seconds() }

func backlogGrew(l bench.Load, usual float64) bool {
	return float64(l.Backlog) > growingBacklog*usual+10
}

// punctuality returns warnings about late and dropped requests of an open loop, and their cause.
func (o Loop) punctuality(l bench.Load) (all bench.Warnings) {
	if l.Dropped > 0 {
		all = append(all, found(bench.WarnDropped, values{"dropped": float64(l.Dropped), "scheduled": float64(l.Scheduled),
			"connections": float64(l.MaxOpenConnections)},
			"%d of %d scheduled requests dropped: all %d connections in use, the contender did not keep up",
			l.Dropped, l.Scheduled, l.MaxOpenConnections))
	}
	if usual := usualBacklog(l); backlogGrew(l, usual) && l.Dropped == 0 {
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
// requests in flight. In a closed loop a difference is the time that the client took from a
// response to the next request. Otherwise one measurement is wrong if Shared and Counted differ; if
// they agree, the step was not in a steady state.
func (o Loop) little(l bench.Load) bench.Warnings {
	if o.Responses < fewResponses || l.Elapsed <= 0 || l.Cut > 0 {
		return nil
	}
	length, slack := float64(l.Elapsed), float64(littleSlack)*float64(o.Responses)
	counted, shared, busy := float64(o.Counted), float64(o.Shared), float64(o.Busy)
	possible, used := counted, shared
	switch {
	case o.Users > 0:
		possible, used = float64(o.Users-o.Rested), busy
	case !o.Open && !o.Whole:
		possible = max(counted, length*float64(o.Connections)-float64(o.Rested))
	}
	f := values{"by_times": shared / length, "by_counting": counted / length}
	if shared > counted*(1+littleTolerance)+slack {
		return bench.Warnings{found(bench.WarnClockUnsteady, f,
			"unstable machine clock: %.2f requests in flight by time, %.2f by count",
			shared/length, counted/length)}
	}
	if o.Open && shared < counted*(1-littleTolerance)-slack {
		return bench.Warnings{found(bench.WarnResponsesSeenLate, f,
			"the client saw responses late: %.2f requests in flight by time, %.2f by count",
			shared/length, counted/length)}
	}
	if !o.Open && possible-used > littleTolerance*(possible+float64(o.Rested)) { // of the users' time
		gap := time.Duration((possible - used) / float64(o.Responses)).Round(100 * time.Nanosecond)
		return bench.Warnings{found(bench.WarnClientBound,
			values{"in_flight": used / length, "possible": possible / length, "gap_ns": float64(gap)},
			"client-bound: %.1f of %.1f connections busy; the client takes %s from response to next request",
			used/length, possible/length, gap)}
	}
	// the ends of short slices weigh too much
	if !o.Parts && math.Abs(busy-counted) > steadyWithin*possible+slack {
		return bench.Warnings{found(bench.WarnUnstableLoad,
			values{"by_latency": busy / length, "by_counting": counted / length},
			"unstable load: throughput × mean latency is %.2f, but %.2f requests were in flight; the queue grew or shrank",
			busy/length, counted/length)}
	}
	return nil
}

// wall returns the time between the readings of CPU time, or else Elapsed.
func wall(l bench.Load) time.Duration { return cmp.Or(max(l.Wall, 0), l.Elapsed) }

// ClientCPUs returns how many CPUs the client used, embedded needs included.
func ClientCPUs(l bench.Load) float64 {
	if wall(l) <= 0 {
		return 0
	}
	return float64(l.ClientCPU) / float64(wall(l))
}
