package load

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"locbench/internal/bench"
	"locbench/internal/cgroup"
	"locbench/internal/cpuset"
	"locbench/internal/load/record"
	"locbench/internal/units"
)

const (
	littleTolerance = 0.05                 // share of what is in flight
	littleSlack     = 5 * time.Microsecond // of each answer, in which two records of it may differ: the handling of a batch
	fewAnswers      = 100                  // below so many Little's law is not applied
	steadyWithin    = 0.1                  // of what is in flight: how far throughput × mean latency may be from it in a steady state
	growingBacklog  = 1.5                  // times what is in flight in a steady state: more at the end is a queue that grows
	clientShare     = 0.8                  // of the machine's CPUs, beyond which the client is suspected without knowing the contender
	lateShare       = 0.01                 // of the requests of an open loop, beyond which the client is told to be late by itself
	saturated       = 0.95                 // of the time, beyond which a thread of the client is told to be at its limit
	nearLimit       = 0.9                  // of its CPUs: a contender that uses so much is at its limit
)

// judge tells the doubt that the client itself can have about its result.
func judge(l bench.Load, rec *record.Result, places int) []string {
	var warnings []string
	if rec.Cut > 0 {
		warnings = append(warnings, fmt.Sprintf(plural(rec.Cut, "interrupted: %d request in flight was cut off and is neither success nor error",
			"interrupted: %d requests in flight were cut off and are neither successes nor errors"), rec.Cut))
	}
	if again := rec.Opened - int64(places-rec.Preopened); again > 0 && l.Succeeded > 0 && !rec.Users {
		text := "a connection was opened again"
		if again > 1 {
			text = fmt.Sprintf("connections were opened again %d times", again)
		}
		warnings = append(warnings, text+"; the time for it is part of the latency")
	}
	if n := l.Failed[bench.ErrClient]; n > 0 {
		warnings = append(warnings, fmt.Sprintf(plural(n, "%d request", "%d requests")+" failed for want of ports, files or memory of the client: %s", n, l.Examples[bench.ErrClient]))
	}
	if rec.Open {
		warnings = append(warnings, punctuality(l)...)
	}
	if l.Unserved > 0 {
		warnings = append(warnings, fmt.Sprintf("the queue is longer than the lead-in: after %s %d of %d connections had no answer yet, so that the interval may not be in a steady state",
			units.Duration(l.LeadIn), l.Unserved, rec.Connections))
	}
	if w := little(l, rec); w != "" {
		warnings = append(warnings, w)
	}
	if l.Saturation > saturated {
		warnings = append(warnings, fmt.Sprintf("client-bound: a thread of locbench had something to do in %.0f %% of the step; a faster contender would not have shown",
			100*l.Saturation))
	}
	if used := perSecond(l.ClientCPU, wall(l)); l.ClientCPUs > 0 && used > clientShare*l.ClientCPUs {
		warnings = append(warnings, fmt.Sprintf("the client may be the bottleneck: locbench itself used %.2f of the %s that it may use", used, units.CPUs(l.ClientCPUs)))
	}
	return warnings
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// ownCPUs are the CPUs that this process may use: those of its affinity, or fewer by the quota of its cgroup.
func ownCPUs() float64 {
	cpus := float64(runtime.NumCPU()) // as it was when this process was started: it may keep to fewer since
	if now := len(cpuset.Allowed()); now > 0 {
		cpus = float64(now)
	}
	if quota, _ := (cgroup.Tree{}).Own(); quota > 0 {
		cpus = min(cpus, quota)
	}
	return cpus
}

// punctuality tells what an open loop has not sent when it was due, and whose fault that was.
func punctuality(l bench.Load) (warnings []string) {
	if l.Dropped > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d requests that came due were dropped: with %d connections in use the contender did not keep up",
			l.Dropped, l.Scheduled, l.MostOpen))
	}
	if usual := l.Throughput() * l.Sending.Mean.Seconds(); float64(l.Backlog) > growingBacklog*usual+10 && l.Dropped == 0 {
		warnings = append(warnings, fmt.Sprintf("the contender did not keep up: %d requests were in flight or waiting at the end, %.0f are usual at this throughput and latency",
			l.Backlog, usual))
	}
	if l.Held > l.Dropped {
		warnings = append(warnings, fmt.Sprintf("%d requests were sent late, since all %d connections were in use", l.Held-l.Dropped, l.MostOpen))
	}
	if own := l.Late - max(l.Held-l.Dropped, 0); float64(own) > lateShare*float64(l.Sent) {
		warnings = append(warnings, fmt.Sprintf("client-bound: %d of %d requests were sent more than %s after they were due although connections were free",
			own, l.Sent, record.LateAfter))
	}
	return warnings
}

// little applies Little's law: in a steady state throughput × mean latency is the mean number of requests in flight. Two records that are
// kept independently are compared: the integral of how many were in flight, looked at in each turn of the loop, and the sum of
// the times of the exchanges that ended in the interval. In a closed loop a difference is what the client itself has spent between an answer
// and the next request. Else the third record, of how much of each exchange lies within the interval, says which it is: without it agreeing
// with the integral one of the records is wrong; with it the step was not in a steady state.
func little(l bench.Load, rec *record.Result) string {
	answers := l.Succeeded + total(rec.Ended.Failed)
	if answers < fewAnswers || l.Elapsed <= 0 || rec.Cut > 0 {
		return ""
	}
	length, slack := float64(l.Elapsed), float64(littleSlack)*float64(answers)
	counted, shared, busy := float64(rec.Counted), float64(rec.Shared), float64(rec.Busy)
	could := counted // be in flight
	if !rec.Open && !rec.Whole {
		could = max(counted, length*float64(rec.Connections)-float64(rec.Rested))
	}
	switch {
	case shared > counted*(1+littleTolerance)+slack:
		return fmt.Sprintf("%.2f requests were in flight by their times, but only %.2f by counting them: the clock of this machine is not steady",
			shared/length, counted/length)
	case rec.Open && shared < counted*(1-littleTolerance)-slack:
		return fmt.Sprintf("%.2f requests were in flight by their times, but %.2f by counting them: the client did not see answers when they came",
			shared/length, counted/length)
	case !rec.Open && shared < could*(1-littleTolerance):
		return fmt.Sprintf("client-bound: %.1f of %.1f requests in flight, %s of the client between an answer and the next request",
			shared/length, could/length, time.Duration((could-shared)/float64(answers)).Round(100*time.Nanosecond))
	case !rec.Turns && math.Abs(busy-counted) > steadyWithin*could+slack: // the ends of short turns are too large a part of them
		return fmt.Sprintf("not in a steady state: throughput × mean latency is %.2f, but %.2f requests were in flight: the queue was growing or shrinking",
			busy/length, counted/length)
	}
	return ""
}

// total is the number of failures of all kinds.
func total(failed map[bench.ErrorKind]int64) (n int64) {
	for _, m := range failed {
		n += m
	}
	return n
}

// Bottleneck tells in words whether the client rather than the contender limited a step, and "" if there is no sign of it: the
// contender left CPU time unused although the client had most of the machine, or both together had nearly all of it.
// contender used so many CPUs of its limit (0: not limited); both must run on this machine, with cpus CPUs.
func Bottleneck(l bench.Load, used, limit float64, cpus int) string {
	machine := float64(cpus)
	if limit <= 0 || limit > machine {
		limit = machine
	}
	client := perSecond(l.ClientCPU, wall(l))
	if wall(l) <= 0 || used >= nearLimit*limit {
		return ""
	}
	if client < machine/2 && client+used < nearLimit*machine {
		return ""
	}
	return fmt.Sprintf("the client may be the bottleneck: locbench used %.2f of %d CPUs, the contender only %.2f of its %.2g",
		client, cpus, used, limit)
}

// wall is the time in which CPU times were measured; results from before there was Load.Wall have only Elapsed.
func wall(l bench.Load) time.Duration {
	if l.Wall > 0 {
		return l.Wall
	}
	return l.Elapsed
}

// perSecond is CPU time per elapsed time: CPUs in use.
func perSecond(cpu, elapsed time.Duration) float64 {
	if elapsed <= 0 {
		return 0
	}
	return float64(cpu) / float64(elapsed)
}
