package verdict

import (
	"fmt"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// Froze reports whether the first responses of a step took long, and far longer than later ones: a
// service that takes as long for each response did not freeze. Most of the freeze lies in the
// lead-in, so neither throughput nor latency has it.
func Froze(res bench.StepResult) bool {
	first, ok := res.FirstResponses()
	typical, known := typical(res.Load)
	return ok && known && first >= bench.LongFirstResponses && first >= muchLonger*typical
}

// typical returns the median time of a response, without successes that of an error; 0 if there was
// none. known is false if only rejected requests had a response: they are in no latency.
func typical(l bench.Load) (p50 time.Duration, known bool) {
	switch {
	case l.Latency.Count > 0:
		return l.Latency.P50, true
	case l.Rejected.Total() > 0:
		return 0, false
	}
	return l.Failures.P50, true
}

// FirstTimedOut reports whether a first response of a step did not come within the timeout.
func FirstTimedOut(l bench.Load) bool {
	return l.Timeouts.Count > 0 && l.FirstResponse >= l.Timeouts.Min*99/100 // histograms round
}

// FirstResponses returns the warning that the first responses of a step took long. earlier has the
// readings of the contender from before the measured interval, in order of time.
func FirstResponses(res bench.StepResult, earlier []bench.Usage) bench.Warnings {
	if !Froze(res) {
		return nil
	}
	f := values{"first_response_ns": float64(res.Load.FirstResponse)}
	text := "the first responses took "
	if FirstTimedOut(res.Load) {
		text += "at least "
	}
	text += units.Duration(res.Load.FirstResponse)
	if l := res.Load.Latency; l.Count > 0 {
		f["p50_ns"] = float64(l.P50)
		text += ", p50 " + units.Duration(l.P50)
	}
	if from, to := threads(res, earlier); float64(to) >= moreThreads*float64(from) && to >= from+someThreads {
		f["threads_before"], f["threads"] = float64(from), float64(to)
		text += fmt.Sprintf(", its threads grew from %d to %d", from, to)
		if cpu, ok := cpuBefore(res, earlier); ok {
			f["cpus"] = cpu.Seconds() / res.Load.FirstResponse.Seconds()
		}
	}
	return bench.Warnings{found(bench.WarnFirstResponses, f,
		"%s: look for a pool of threads or connections that fills slowly, a cold cache or compilation", text)}
}

// threads returns the first known number of threads of a contender and the highest one, to the end
// of a step; 0 if none is known.
func threads(res bench.StepResult, earlier []bench.Usage) (first, most int) {
	see := func(u *bench.Usage) {
		if u == nil || u.Threads == nil {
			return
		}
		if first == 0 {
			first = *u.Threads
		}
		most = max(most, *u.Threads)
	}
	for i := range earlier {
		see(&earlier[i])
	}
	for _, u := range res.Readings() {
		see(u)
	}
	return first, most
}

// cpuBefore returns the CPU time of the contender before the measured interval, and of the interval if
// nothing was read before it.
func cpuBefore(res bench.StepResult, earlier []bench.Usage) (time.Duration, bool) {
	switch {
	case res.Before == nil:
		return 0, false
	case len(earlier) > 0:
		return res.Before.CPU - earlier[0].CPU, true
	}
	return res.CPU()
}
