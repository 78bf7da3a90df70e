package stats

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/text/safe"
)

// Value is a figure that each round has once.
type Value struct {
	Values   []float64 // in the order of the rounds
	Median   float64
	Interval *Interval // 95%, of the median; nil with fewer than MinInterval values
}

// Known reports whether there is any value.
func (v Value) Known() bool { return len(v.Values) > 0 }

// Duration returns the median of a value in nanoseconds.
func (v Value) Duration() time.Duration { return time.Duration(v.Median) }

// NewValue returns the median of one value of each round, and its interval.
func NewValue(xs []float64) Value {
	v := Value{Values: xs}
	v.Median, _ = Median(xs)
	if interval, ok := MedianInterval(xs, 0.95); ok {
		v.Interval = &interval
	}
	return v
}

// Contender is the summary of one contender over its rounds.
type Contender struct {
	Label              string
	Service            bench.Service
	Trials             int      // seen
	Complete           int      // that ran every step
	Failures           []string // of each round that is not complete, also one that somebody ended
	FailedRounds       int      // by the contender's own doing
	StartUp            Value    // nanoseconds
	PeakTime           Value    // nanoseconds, from TimeToPeak
	Steps              []Step
	Peak               int // index into Steps of the measured step with the highest median throughput; -1 without one
	Errors             map[bench.ErrorKind]int64
	MemoryPeak         int64 // bytes, the highest of all rounds; 0 where it is not known
	MemoryPeakIsSample bool  // it is the largest sample: the true one may be higher
	Memory             Value // bytes, the highest of each complete round
	ErrorRate         Value // errors / (errors + successes) of each round in which anything was asked
	Cost               *Cost // of the median round by Total; nil where it is not known
	CostEach           Value // dollars per billion requests of each round
	Checks             map[bench.CheckStatus]int
	Warnings           bench.Warnings   // about what is not in the summary
	Excluded           *bench.Exclusion // what it answered was wrong; nil: it was not

	firstFailure string // of FailedRounds
}

// WhyExcluded returns why it takes part in no claim, on one line that follows its name: what it answered
// was wrong, or rounds failed; "" where it takes part.
func (c Contender) WhyExcluded() string {
	switch {
	case c.Excluded != nil:
		return safe.Line(c.Excluded.String(), 500)
	case c.FailedRounds == 0:
		return ""
	}
	text := fmt.Sprintf("failed in %d of %s", c.FailedRounds, units.Plural(c.Trials, "round"))
	if c.firstFailure != "" {
		text += "; first: " + c.firstFailure
	}
	return safe.Line(text, 500)
}

// ExcludedLast sorts those that take part in no claim after all others.
func ExcludedLast(a, b Contender) int {
	return cmp.Compare(min(1, len(a.WhyExcluded())), min(1, len(b.WhyExcluded())))
}

// PeakStep returns the step with the highest median throughput; ok is false where none was measured.
func (c Contender) PeakStep() (Step, bool) {
	if c.Peak < 0 || c.Peak >= len(c.Steps) {
		return Step{}, false
	}
	return c.Steps[c.Peak], true
}

// BusiestStep returns the peak, or where no step can be one, the measured step with the most requests,
// failed ones among them; ok is false where nothing was asked.
func (c Contender) BusiestStep() (busiest Step, ok bool) {
	if peak, ok := c.PeakStep(); ok {
		return peak, true
	}
	var most int64
	for _, s := range c.Steps {
		if asked := s.Succeeded + s.FailedTotal(); !s.Step.WarmUp && asked > most {
			busiest, most = s, asked
		}
	}
	return busiest, most > 0
}

// ErrorsTotal returns the number of errors in all steps of all rounds.
func (c Contender) ErrorsTotal() int64 { return bench.Load{Failed: c.Errors}.FailedTotal() }

// Summarise groups the trials of a run by the label of their contender, in the order in which they
// first appear. Of the run it takes what a claim needs (bench.Run.Judge) and the price of a vCPU.
func Summarise(of bench.Run, trials []bench.TrialResult) []Contender {
	return summariseAll(of, trials, true)
}

// SummarisePeaks returns Summarise, but merges no histograms other than those of each contender's peak:
// merging takes a millisecond, and a run has hundreds of them.
func SummarisePeaks(of bench.Run, trials []bench.TrialResult) []Contender {
	all := summariseAll(of, trials, false)
	for _, c := range all {
		if peak, ok := c.PeakStep(); ok && peak.Rounds > 1 {
			h, _ := peak.Histogram()
			c.Steps[c.Peak].Latency = h.Quantiles()
		}
	}
	return all
}

func summariseAll(of bench.Run, trials []bench.TrialResult, merge bool) []Contender {
	var order []string
	groups := map[string][]bench.TrialResult{}
	for _, trial := range trials {
		label := trial.Trial.Label()
		if groups[label] == nil {
			order = append(order, label)
		}
		groups[label] = append(groups[label], trial)
	}
	contenders := make([]Contender, 0, len(order))
	for _, label := range order {
		contenders = append(contenders, summarise(label, groups[label], of, merge))
	}
	return contenders
}

// Rounds is for what is compared round by round: no histogram is merged.
func Rounds(of bench.Run, trials []bench.TrialResult) Contender {
	return summarise(trials[0].Trial.Label(), trials, of, false)
}

// errorRatio returns errors / (errors + successes) of a trial; ok is false where nothing was asked.
func errorRatio(trial bench.TrialResult) (ratio float64, ok bool) {
	var failed, all int64
	for _, s := range trial.Steps {
		failed += s.Load.FailedTotal()
		all += s.Load.FailedTotal() + s.Load.AllSucceeded()
	}
	return float64(failed) / float64(max(1, all)), all > 0
}

func summarise(label string, trials []bench.TrialResult, of bench.Run, merge bool) Contender {
	c := Contender{
		Label: label, Service: trials[0].Service, Trials: len(trials), Peak: -1,
		Errors: map[bench.ErrorKind]int64{}, Checks: map[bench.CheckStatus]int{},
	}
	price := of.Profile.PriceVCPUHr
	if price <= 0 {
		price = DefaultPrice
	}
	var startUps, peakTimes, memory, errors, costs []float64
	var parts []Cost
	for _, trial := range trials {
		if trial.State == bench.TrialComplete {
			c.Complete++
		}
		if trial.Failure != "" {
			c.Failures = append(c.Failures, fmt.Sprintf("round %d: %s", trial.Trial.Round, trial.Failure))
		}
		if trial.State == bench.TrialFailed {
			if c.FailedRounds++; c.FailedRounds == 1 {
				c.firstFailure = trial.Failure
			}
		}
		if trial.StartUp != nil {
			startUps = append(startUps, float64(*trial.StartUp))
		}
		if p, ok := TimeToPeak(trial); ok {
			peakTimes = append(peakTimes, float64(p.After))
		}
		for _, check := range trial.Checks {
			c.Checks[check.Status]++
		}
		peak, sample := TrialMemoryPeak(trial)
		if peak > c.MemoryPeak {
			c.MemoryPeak, c.MemoryPeakIsSample = peak, sample
		}
		if peak > 0 && trial.State == bench.TrialComplete { // one that ended early has not been loaded enough
			memory = append(memory, float64(peak))
		}
		if ratio, ok := errorRatio(trial); ok {
			errors = append(errors, ratio)
		}
		c.Excluded = c.Excluded.Add(of.ExclusionOf(trial))
		// The cost of a life that was cut short is mostly that of its start.
		if cost, ok := TrialCost(trial, price); ok && trial.State == bench.TrialComplete {
			parts, costs = append(parts, cost), append(costs, cost.Total)
		}
	}
	c.StartUp, c.PeakTime, c.CostEach = NewValue(startUps), NewValue(peakTimes), NewValue(costs)
	c.Memory, c.ErrorRate = NewValue(memory), NewValue(errors)
	c.Cost = medianCost(parts)
	c.steps(trials, of, merge)
	for i, s := range c.Steps {
		for kind, n := range s.Failed {
			c.Errors[kind] += n
		}
		if !s.Step.WarmUp && !s.Excluded && s.Throughput.Known() &&
			(c.Peak < 0 || s.Throughput.Median > c.Steps[c.Peak].Throughput.Median) {
			c.Peak = i
		}
	}
	return c
}

// HalfPeak returns the step at half peak, an index into Steps: the open-loop one of that share
// (0.5) where the profile has it, else the closed-loop step up to the peak, of the same requests,
// with the nearest throughput. share is that of the peak's; ok is false where no peak was measured.
func (c Contender) HalfPeak() (step int, share float64, ok bool) {
	for i, s := range c.Steps {
		if s.Step.PeakShare == 0.5 && !s.Step.WarmUp && s.Rounds > 0 {
			return i, 0.5, true
		}
	}
	peak, known := c.PeakStep()
	if !known || !(peak.Throughput.Median > 0) {
		return 0, 0, false
	}
	nearest := math.Inf(1)
	for i, s := range c.Steps {
		if s.Index > peak.Index || s.Excluded || s.Step.WarmUp || s.Step.Open() || s.Step.Request != peak.Step.Request ||
			!(s.Throughput.Median > 0) {
			continue
		}
		part := s.Throughput.Median / peak.Throughput.Median
		if off := math.Abs(math.Log(2 * part)); off < nearest {
			step, share, ok, nearest = i, part, true, off
		}
	}
	return step, share, ok
}

// steps collects the steps of all trials by their index. Rounds of one run agree about their steps;
// results of somebody's own making may not, which is reported.
func (c *Contender) steps(trials []bench.TrialResult, of bench.Run, merge bool) {
	rounds := map[int][]bench.StepResult{}
	for _, trial := range trials {
		for _, s := range trial.Steps {
			if seen := rounds[s.Index]; len(seen) > 0 && seen[0].Step.Name != s.Step.Name {
				c.leftOut("round %d: step %d is %q, was %q: skipped", trial.Trial.Round, s.Index+1, s.Step.Name,
					seen[0].Step.Name)
				continue
			}
			rounds[s.Index] = append(rounds[s.Index], s)
		}
	}
	for _, i := range slices.Sorted(maps.Keys(rounds)) {
		step, err := newStep(rounds[i], merge)
		if err != nil {
			c.leftOut("step %d: no latency summary: %v", i+1, err)
		}
		step.Excluded = of.Search == "" && step.worstErrors(rounds[i]) > of.Profile.ErrorsAllowed()
		c.Steps = append(c.Steps, step)
	}
}

// leftOut notes what is not in the summary.
func (c *Contender) leftOut(format string, args ...any) {
	c.Warnings = append(c.Warnings, bench.Warning{Kind: bench.WarnStepLeftOut, Text: fmt.Sprintf(format, args...)})
}

// TrialMemoryPeak returns the highest memory of a trial in bytes, 0 where it is not known. With sample it is
// the largest reading: the true one may be higher.
func TrialMemoryPeak(trial bench.TrialResult) (peak int64, sample bool) {
	look := func(u *bench.Usage) {
		if u != nil && u.Memory != nil && u.Memory.Peak > peak {
			peak, sample = u.Memory.Peak, u.Memory.PeakIsSample
		}
	}
	for i := range trial.Marks {
		look(&trial.Marks[i].Usage)
	}
	for i := range trial.Steps {
		look(trial.Steps[i].Before)
		look(trial.Steps[i].After)
		for j := range trial.Steps[i].Samples {
			look(&trial.Steps[i].Samples[j])
		}
	}
	return peak, sample
}

// medianCost returns that of the median round, or of the cheaper middle one, so its parts add up.
func medianCost(costs []Cost) *Cost {
	if len(costs) == 0 {
		return nil
	}
	s := slices.SortedStableFunc(slices.Values(costs), func(a, b Cost) int { return cmp.Compare(a.Total, b.Total) })
	return &s[(len(s)-1)/2]
}
