package capacity

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/run/profile"
)

// Limits that only a search uses; package verdict has the others.
const (
	// A queue grows if the backlog at the end of a probe takes longer than backlogShare of the
	// probe's length and minBacklog, in addition to a usual latency.
	backlogShare = 0.025
	minBacklog   = 100 * time.Millisecond // a shorter one may be a machine stall at the end
	// A queue also grows if the median latency rises by more than riseShare of the probe's length
	// and riseOfMedian of the median at the start.
	riseShare    = 0.01
	riseOfMedian = 0.05
	riseWindows  = 4 // windows needed to see a rise
)

// Assess returns the verdict on one finished probe of a contender with cpus CPUs (0: no limit).
//
// A rate is sustained if the step met every condition and the contender kept up. Latencies count
// from the scheduled time, and dropped requests are errors. A contender that keeps up has no
// growing queue, at most the share maxUnexpected of unexpected bodies, and at most 1% of its
// requests waited for a free connection. A probe that failed says nothing about the contender if it
// would have passed with latencies from sending, if the client was at its limit, or if other
// processes used the CPUs.
func Assess(conditions profile.Conditions, res bench.StepResult, cpus, maxUnexpected float64) (_ Verdict, why []string) {
	l := res.Load
	missed := conditions.Missed(l)
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	why = append(why, missed...)
	if _, over := l.TooManyUnexpected(maxUnexpected); over {
		add("%s", bench.Unexpected{Count: l.Failed[bench.ErrWrong], Compared: l.Checked}.Share())
	}
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
		add("no request was sent")
	}
	if len(why) == 0 {
		return Verdict{Sustained: true}, nil
	}
	var client []string
	if own := verdict.OwnLate(l); own > 0 && len(why) == len(missed) && metFromSending(conditions, l) {
		client = append(client, fmt.Sprintf("client-bound: %d of %d requests sent late although connections were free; "+
			"met when counted from sending", own, l.Sent))
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

func metFromSending(conditions profile.Conditions, l bench.Load) bool {
	l.Latency = l.Sending
	return len(conditions.Missed(l)) == 0
}

// growing returns how long the contender would need for the backlog, if that is longer than a usual
// latency; else 0. By Little's law both are equal in a steady state. If a queue grows linearly, its
// last request takes twice the median.
func growing(res bench.StepResult) time.Duration {
	perSecond := res.Load.Throughput()
	if perSecond == 0 {
		return 0
	}
	late := time.Duration(float64(res.Load.Backlog) / perSecond * float64(time.Second))
	usual := res.Load.Latency.P50 * 5 / 4
	if late-usual > max(minBacklog, time.Duration(backlogShare*float64(res.Step.Duration))) {
		return late
	}
	return 0
}

// rising returns by how much the median latency rose during a probe, if that means a growing queue;
// else 0. It compares medians of the windows' medians, which a single pause does not change.
func rising(res bench.StepResult) time.Duration {
	var p50 []time.Duration
	for _, w := range res.Load.Windows {
		if w.Succeeded > 0 {
			p50 = append(p50, w.P50)
		}
	}
	n := len(p50)
	if n < riseWindows {
		return 0
	}
	median := func(of []time.Duration) time.Duration {
		sorted := slices.Sorted(slices.Values(of))
		return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	}
	shift := n - n/2 - 1 // windows between the beginnings of the two parts, which overlap
	first, last := median(p50[:n-shift]), median(p50[shift:])
	rise := (last - first) * time.Duration(n) / time.Duration(shift)
	if float64(rise) > max(riseShare*float64(res.Step.Duration), riseOfMedian*float64(first)) {
		return rise
	}
	return 0
}

// Reason joins the reasons in why to one line.
func Reason(why []string) string { return strings.Join(why, "; ") }
