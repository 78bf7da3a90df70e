package capacity

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/figures/verdict"
	"locbench/internal/run/profile"
)

// The thresholds of what a search alone asks. The others are those of package verdict.
const (
	// A queue grows when the end of a probe is late by more than this share of its length, beyond what is
	// usual,
	lagShare = 0.025
	leastLag = 100 * time.Millisecond // (less than that may be a hiccup at the end)
	// or when answers become slower in it by more than this share of its length, and of the median answer.
	trend   = 0.01
	steady  = 0.05
	ofTrend = 4 // windows that a trend takes at least
)

// Assess judges one finished probe of a contender with so many CPUs (0: not limited).
//
// A rate is sustained when the step kept every condition, with latencies from when a request was
// due and dropped requests among the errors, and the contender kept up: no more than 1% of the
// requests waited for a free connection, and the backlog at the end is not so long that a queue
// must have grown all the time. That the client sent late by itself is in those latencies, and
// breaks nothing else. A probe that did not hold although latencies from the sending would have, or
// while the client was at its limit or other work took the machine, says nothing about the
// contender.
func Assess(o profile.Conditions, res bench.StepResult, cpus float64) (_ Verdict, why []string) {
	l := res.Load
	missed := o.Missed(l)
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	why = append(why, missed...)
	if verdict.ManyWaited(l) {
		add("%d of %d requests waited: all %d connections in use", verdict.Waited(l), l.Scheduled, l.MaxOpenConnections)
	}
	if late := growing(res); late > 0 {
		add("backlog of %d requests at the end (%s of work at this throughput): a queue grew",
			l.Backlog, late.Round(time.Millisecond))
	} else if rise := rising(res); rise > 0 {
		add("median latency rose by about %s from start to end: a queue grew",
			rise.Round(time.Millisecond))
	}
	if l.Scheduled == 0 {
		add("nothing was sent")
	}
	if len(why) == 0 {
		return Verdict{Sustained: true}, nil
	}
	var client []string
	if own := verdict.OwnLate(l); own > 0 && len(why) == len(missed) && keptFromSent(o, l) {
		client = append(client, fmt.Sprintf("client-bound: %d of %d requests sent late although connections were free; met when counted from sending", own, l.Sent))
	}
	if verdict.ThreadBusy(l) {
		client = append(client, verdict.Saturated(l).Text)
	}
	if share := verdict.ShareOfOthers(res, cpus); share > 0 {
		client = append(client, "other processes used "+units.Percent(share)+" of the CPU time")
	}
	for _, f := range verdict.FromOutside(res) {
		client = append(client, f.Text)
	}
	return Verdict{Client: client != nil}, append(why, client...)
}

func keptFromSent(o profile.Conditions, l bench.Load) bool {
	if l.Sending.Count == 0 {
		return false
	}
	l.Latency = l.Sending
	return len(o.Missed(l)) == 0
}

// growing returns how long the contender would take for what was unanswered at the end, when that is
// more than a response at this rate takes anyway; else 0. By Little's law both are the same in a
// steady state; where a queue grows evenly, its end is twice as late as the median.
func growing(res bench.StepResult) time.Duration {
	perSecond := res.Load.Throughput()
	if perSecond == 0 {
		return 0
	}
	late := time.Duration(float64(res.Load.Backlog) / perSecond * float64(time.Second))
	usual := res.Load.Latency.P50 * 5 / 4
	if late-usual > max(leastLag, time.Duration(lagShare*float64(res.Step.Duration))) {
		return late
	}
	return 0
}

// rising returns by how much longer the median answer took at the end of a probe than at its beginning,
// where that is so much that a queue must have grown all the time; else 0. It compares medians of
// the windows' medians, which do not see one pause.
func rising(res bench.StepResult) time.Duration {
	var p50 []time.Duration
	for _, w := range res.Load.Windows {
		if !w.Drain && w.Succeeded > 0 {
			p50 = append(p50, w.P50)
		}
	}
	n := len(p50)
	if n < ofTrend {
		return 0
	}
	median := func(of []time.Duration) time.Duration {
		sorted := slices.Sorted(slices.Values(of))
		return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	}
	apart := n - n/2 - 1 // the two parts, in windows; they share some
	first, last := median(p50[:n-apart]), median(p50[apart:])
	rise := (last - first) * time.Duration(n) / time.Duration(apart)
	if float64(rise) > max(trend*float64(res.Step.Duration), steady*float64(first)) {
		return rise
	}
	return 0
}

// Reason returns why in one line.
func Reason(why []string) string { return strings.Join(why, "; ") }
