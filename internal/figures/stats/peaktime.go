package stats

import (
	"math"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

const (
	// peakWithin is the tolerance around the final level.
	peakWithin = 0.03
	// finalWindows is the minimum number of windows of the final level; finalShare divides all.
	finalWindows = 5
	finalShare   = 3 // a third
	// smoothing is the number of windows of the running median, which hides pauses such as those of
	// a garbage collector.
	smoothing = 5
)

// PeakTime is the time from the start of a contender to its final throughput.
type PeakTime struct {
	After  time.Duration // from process start to the start of the first window at the final level
	Level  float64       // successes per second
	Within float64       // tolerance around the level: .03, or more if the windows scatter more
	Step   string        // name of the step
}

// TimeToPeak returns the time from process start to the first window from which on throughput stays
// within 3% (or twice the scatter) of the final level. The final level is the median of the last
// third of the windows around the end of the warm-up. ok is false without one.
func TimeToPeak(trial bench.TrialResult) (p PeakTime, ok bool) {
	_, interleaved := trial.Interleaved()
	if interleaved || trial.Instance == nil || trial.Instance.Runtime.Traits().AlreadyRunning ||
		trial.Instance.StartedAt.IsZero() {
		return PeakTime{}, false
	}
	var rates []float64
	var begins []time.Time
	for _, s := range peakSteps(trial.Steps) {
		for _, w := range wholeWindows(s.Load) {
			rates, begins = append(rates, w.Throughput()), append(begins, s.Load.Started.Add(w.Start))
		}
		p.Step = s.Step.Name
	}
	if len(rates) < 2*finalWindows {
		return PeakTime{}, false
	}
	last := max(finalWindows, len(rates)/finalShare)
	final := rates[len(rates)-last:]
	if p.Level, _ = Median(final); p.Level <= 0 {
		return PeakTime{}, false
	}
	p.Within = max(peakWithin, 2*scatter(final)/p.Level)
	at := len(rates)
	for i := len(rates) - 1; i >= 0; i-- {
		smooth, _ := Median(rates[max(0, i-smoothing/2):min(len(rates), i+smoothing/2+1)])
		if math.Abs(smooth/p.Level-1) > p.Within {
			break
		}
		at = i
	}
	if at > len(rates)-last { // throughput still changed in the windows of the final level
		return PeakTime{}, false
	}
	p.After = begins[at].Sub(trial.Instance.StartedAt)
	return p, p.After > 0
}

// scatter returns a robust standard deviation, from the differences between neighbors.
func scatter(xs []float64) float64 {
	var steps []float64
	for i := 1; i < len(xs); i++ {
		steps = append(steps, math.Abs(xs[i]-xs[i-1]))
	}
	m, _ := Median(steps)
	return m / 0.6745 / math.Sqrt2
}

// peakSteps returns the neighboring steps with the same load at the end of the warm-up.
func peakSteps(steps []bench.StepResult) []bench.StepResult {
	steps = slices.DeleteFunc(slices.Clone(steps), func(s bench.StepResult) bool {
		return s.Aborted != "" && s.Step.WarmUp
	})
	first := slices.IndexFunc(steps, func(s bench.StepResult) bool { return !s.Step.WarmUp })
	if first < 0 {
		first = len(steps)
	}
	end := max(first-1, 0) // the last warm-up, or the first measured step
	if end >= len(steps) || changing(steps[end].Step) {
		return nil
	}
	of := steps[end].Step
	same := func(s bench.StepResult) bool {
		return !changing(s.Step) && s.Step.Connections == of.Connections && s.Step.Rate == of.Rate &&
			s.Step.Request == of.Request
	}
	from, to := end, end+1
	for from > 0 && same(steps[from-1]) {
		from--
	}
	for to < len(steps) && same(steps[to]) && steps[to].Aborted == "" {
		to++
	}
	return steps[from:to]
}
