package stats

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/locbench/locbench/internal/bench"
)

// Summarize returns a summary of each contender, in the order in which they first appear. It uses
// the run for exclusions (bench.Run.ExclusionOf) and the price of a vCPU.
func Summarize(of bench.Run, trials []bench.TrialResult) []Contender {
	return summarizeAll(of, trials, true)
}

// SummarizePeaks is Summarize with latencies at peak only. Merging a histogram takes a
// millisecond, and a run has hundreds.
func SummarizePeaks(of bench.Run, trials []bench.TrialResult) []Contender {
	all := summarizeAll(of, trials, false)
	for _, c := range all {
		if peak, ok := c.PeakStep(); ok && peak.Rounds > 1 {
			h, _ := peak.Histogram()
			c.Steps[c.Peak].Latency = h.Quantiles()
		}
	}
	return all
}

func summarizeAll(of bench.Run, trials []bench.TrialResult, merge bool) []Contender {
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
		contenders = append(contenders, summarize(label, groups[label], of, merge))
	}
	return contenders
}

// Rounds returns the summary of the trials of one contender, without merging histograms.
func Rounds(of bench.Run, trials []bench.TrialResult) Contender {
	return summarize(trials[0].Trial.Label(), trials, of, false)
}

// errorRate returns the error rate of a trial; ok is false without any request.
func errorRate(trial bench.TrialResult) (ratio float64, ok bool) {
	var failed float64
	var all int64
	for _, s := range trial.Steps {
		n := s.Load.Ended()
		failed += s.Load.ErrorRate() * float64(n)
		all += n
	}
	return failed / float64(max(1, all)), all > 0
}

func summarize(label string, trials []bench.TrialResult, of bench.Run, merge bool) Contender {
	c := Contender{
		Label: label, Service: trials[0].Service, Trials: len(trials), Peak: -1,
		Errors: map[bench.ErrorKind]int64{}, Checks: map[bench.CheckStatus]int{},
	}
	c.start(trials)
	c.resources(trials)
	c.costs(trials, of.Profile.PriceVCPUHr)
	var entries []bench.TrialEntry
	for _, trial := range trials {
		entries = append(entries, bench.TrialEntry{Excluded: of.ExclusionOf(trial), Bodies: trial.Bodies()})
	}
	c.Excluded = bench.SumExclusions(entries)
	c.steps(trials, of, merge)
	// A contender with unexpected bodies has no peak: at fewer connections it may only hide its
	// error.
	unexpected := c.Excluded != nil && c.Excluded.Unexpected != nil
	for i, s := range c.Steps {
		c.Errors.Add(s.Failed)
		if !s.Step.WarmUp && !s.Excluded && !unexpected && s.Answered() > 0 &&
			(c.Peak < 0 || s.Throughput.Median > c.Steps[c.Peak].Throughput.Median) {
			c.Peak = i
		}
	}
	return c
}

// start fills in how the trials began and ended.
func (c *Contender) start(trials []bench.TrialResult) {
	var startUps, peakTimes []float64
	for _, trial := range trials {
		if trial.State == bench.TrialComplete {
			c.Complete++
		}
		if trial.Failure != "" {
			c.Failures = append(c.Failures, fmt.Sprintf("round %d: %s", trial.Trial.Round, trial.Failure))
		}
		if trial.State == bench.TrialFailed && !trial.LostNeed() {
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
	}
	c.StartUp, c.PeakTime = NewValue(startUps), NewValue(peakTimes)
}

// resources fills in memory, its growth, and the error rate.
func (c *Contender) resources(trials []bench.TrialResult) {
	var memory, errors []float64
	growing, loaded := 0, 0 // rounds
	for _, trial := range trials {
		if w := growthOf(trial.Steps); w != nil {
			if growing++; c.growth == nil || w.Values[bench.GrowthRate] > c.growth.Values[bench.GrowthRate] {
				c.growth = w
			}
		}
		if len(trial.Steps) > 0 {
			loaded++
		}
		peak, sample := TrialMemoryPeak(trial)
		if peak > c.MemoryPeak {
			c.MemoryPeak, c.MemoryPeakIsSample = peak, sample
		}
		if peak > 0 && trial.State == bench.TrialComplete { // incomplete rounds had less load
			memory = append(memory, float64(peak))
		}
		if rate, ok := errorRate(trial); ok {
			errors = append(errors, rate)
		}
	}
	if 2*growing <= loaded {
		c.growth = nil
	}
	c.Memory, c.ErrorRate = NewValue(memory), NewValue(errors)
}

// costs fills in the cost of a billion requests at a price of a vCPU-hour in US dollars; 0: DefaultPrice.
func (c *Contender) costs(trials []bench.TrialResult, price float64) {
	if price <= 0 {
		price = DefaultPrice
	}
	var each []float64
	var parts []Cost
	needs := map[string][]float64{}
	for _, trial := range trials {
		// The cost of an incomplete trial is mostly that of its start.
		if cost, ok := TrialCost(trial, price); ok && trial.State == bench.TrialComplete {
			parts, each = append(parts, cost), append(each, cost.Total)
			for name, dollars := range NeedCosts(trial, price) {
				needs[name] = append(needs[name], dollars)
			}
		}
	}
	c.CostEach, c.Cost = NewValue(each), medianCost(parts)
	for name, costs := range needs {
		if c.NeedCosts == nil {
			c.NeedCosts = map[string]Value{}
		}
		c.NeedCosts[name] = NewValue(costs)
	}
}

// steps collects the steps of all trials by their index. The rounds of a run have the same steps;
// other files may not, which is reported.
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
		step.Excluded = of.Search == "" && step.excluded(rounds[i], of.Profile)
		c.Steps = append(c.Steps, step)
	}
}

// leftOut adds a warning about something that is not in the summary.
func (c *Contender) leftOut(format string, args ...any) {
	c.Warnings = append(c.Warnings, bench.Warning{Kind: bench.WarnStepLeftOut, Text: fmt.Sprintf(format, args...)})
}

// TrialMemoryPeak returns the peak memory of a trial in bytes, 0 if not known. sample is true if it
// is the largest sample; the true peak may be higher.
func TrialMemoryPeak(trial bench.TrialResult) (peak int64, sample bool) {
	look := func(u *bench.Usage) {
		if u != nil && u.Memory != nil && u.Memory.Peak > peak {
			peak, sample = u.Memory.Peak, u.Memory.PeakIsSample
		}
	}
	// The kernel kills at the limit, which no reading shows.
	if i, e := trial.Instance, trial.Exit; i != nil && i.LimitsEnforced && e != nil && e.OOMKilled {
		peak = i.Limits.Memory
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

// medianCost returns the cost of the median round by Total, the cheaper of two middle ones.
func medianCost(costs []Cost) *Cost {
	if len(costs) == 0 {
		return nil
	}
	s := slices.SortedStableFunc(slices.Values(costs), func(a, b Cost) int { return cmp.Compare(a.Total, b.Total) })
	return &s[(len(s)-1)/2]
}
