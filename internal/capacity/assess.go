package capacity

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/slo"
)

const (
	lateShare = 0.01                   // of the requests: more that waited for a connection decide about a trial
	lagShare  = 0.025                  // of a trial's length: more that its end is behind, beyond what is usual, is a queue that grows
	leastLag  = 100 * time.Millisecond // less than that may be a hiccup at the end
	ofTrend   = 4                      // windows that a trend takes at least
	trend     = 0.01                   // of a trial's length: more that answers become slower in it is a queue that grows
	steady    = 0.05                   // of the median answer: less than that is none
	saturated = 0.95                   // of the time that a thread of the client had something to do
	atQuota   = 0.8                    // of its CPUs: a contender that used so much was at its own limit, whatever else went on
	full      = 0.9                    // of the machine's CPU time: nobody on it got what they wanted
	crowded   = 0.2                    // of the machine's CPU time, taken by none of contender, client and store
)

// Assess judges one finished trial of a contender with so many CPUs (0: not limited). client are doubts of others that the client was
// the limit ("the client may be the bottleneck: …").
//
// A rate is sustained when the step kept every condition, with latencies from when a request was due and dropped requests among the
// errors, and the contender kept up: no more than 1 % of the requests waited for a free connection, and the backlog at the end is not so
// long that a queue must have grown all the time. That the client sent late by itself is in those latencies, and breaks nothing else.
// A trial that did not hold although latencies from the sending would have, or while the client was at its limit or
// other work took the machine, says nothing about the contender.
func Assess(o slo.Objective, res bench.StepResult, cpus float64, client []string) (v Verdict, why []string) {
	l := res.Load
	for _, c := range o.Broken(l) {
		why = append(why, c.Explain(l))
	}
	waited := max(l.Held-l.Dropped, 0)
	if float64(waited) > lateShare*float64(l.Scheduled) {
		why = append(why, fmt.Sprintf("%d of %d requests waited for one of %d connections", waited, l.Scheduled, l.MostOpen))
	}
	if behind := growing(res); behind > 0 {
		why = append(why, fmt.Sprintf("%d requests were unanswered at the end, %s of work at this throughput, so that a queue was growing",
			l.Backlog, behind.Round(time.Millisecond)))
	} else if rise := rising(res); rise > 0 {
		why = append(why, fmt.Sprintf("at its end the median answer took about %s longer than at its beginning, so that a queue was growing", rise.Round(time.Millisecond)))
	}
	if l.Scheduled == 0 {
		why = append(why, "nothing was sent")
	}
	v.Sustained = len(why) == 0
	if v.Sustained {
		return v, nil
	}
	if own := l.Late - waited; own > 0 && len(why) == len(o.Broken(l)) && keptFromSent(o, l) {
		v.Client = true
		why = append(why, fmt.Sprintf("client-bound: %d of %d requests were sent late although connections were free; from their sending on it was kept", own, l.Sent))
	}
	if l.Saturation > saturated {
		v.Client = true
		why = append(why, fmt.Sprintf("client-bound: a thread of locbench was busy for %.0f %% of the trial", 100*l.Saturation))
	}
	if share := others(res, cpus); share > 0 {
		v.Client = true
		why = append(why, fmt.Sprintf("other work on this machine took %.0f %% of its CPU time", 100*share))
	}
	for _, doubt := range client {
		v.Client = true
		why = append(why, doubt)
	}
	return v, why
}

// keptFromSent tells whether the objective is kept by the latencies from the sending.
func keptFromSent(o slo.Objective, l bench.Load) bool {
	if l.Sending.Count == 0 {
		return false
	}
	l.Latency = l.Sending
	return len(o.Broken(l)) == 0
}

// growing is how long the contender would take for what was unanswered at the end, when that is more than an answer at this rate takes anyway;
// else 0. By Little's law both are the same in a steady state; where a queue grows evenly, its end is twice as late as the median.
func growing(res bench.StepResult) time.Duration {
	perSecond := res.Load.Throughput()
	if perSecond == 0 {
		return 0
	}
	behind := time.Duration(float64(res.Load.Backlog) / perSecond * float64(time.Second))
	usual := res.Load.Latency.P50 * 5 / 4
	if behind-usual > max(leastLag, time.Duration(lagShare*float64(res.Step.Duration))) {
		return behind
	}
	return 0
}

// rising is by how much longer the median answer took at the end of a trial than at its beginning, where that is so much that a queue must
// have grown all the time; else 0. It compares medians of the windows' medians, which do not see one pause.
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

// others is the share of the machine's CPU time that neither contender nor client nor store has used (stolen time among it), where that
// may have been what limited the contender; else 0.
func others(res bench.StepResult, cpus float64) float64 {
	busy, steal, ok := res.HostShare()
	used, known := res.CPUs()
	if !ok || !known || res.Load.Wall <= 0 || cpus > 0 && used > atQuota*cpus {
		return 0
	}
	b, a := res.BesideBefore.Host, res.BesideAfter.Host
	whole := a.Busy - b.Busy + a.Idle - b.Idle + a.Steal - b.Steal
	cpu, _ := res.CPU()
	own := cpu + res.Load.ClientCPU
	if store, ok := res.StoreCPUs(); ok {
		own += time.Duration(store * float64(res.Load.Wall))
	}
	share := busy + steal - own.Seconds()/whole.Seconds()
	if busy+steal < full || share < crowded {
		return 0
	}
	return share
}

// Reason is why in one line.
func Reason(why []string) string { return strings.Join(why, "; ") }
