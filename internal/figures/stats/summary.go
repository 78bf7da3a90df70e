package stats

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
)

// Value is a value per round.
type Value struct {
	Values   []float64 // in the order of the rounds
	Median   float64
	Interval *Interval // 95% CI of the median; nil below MinInterval values
}

// Known reports whether any round has a value.
func (v Value) Known() bool { return len(v.Values) > 0 }

// Duration returns the median of a value in nanoseconds.
func (v Value) Duration() time.Duration { return time.Duration(v.Median) }

// NewValue returns the Value of a sample with one value per round.
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
	Trials             int      // number of rounds
	Complete           int      // rounds that ran every step
	Failures           []string // of each round that is not complete
	FailedRounds       int      // rounds that the contender failed; aborted ones, and those of a lost need, do not count
	StartUp            Value    // nanoseconds
	PeakTime           Value    // nanoseconds, from TimeToPeak
	Steps              []Step
	Peak               int // index into Steps of the measured step with the highest median throughput above 0; -1 without one
	Errors             bench.Kinds
	MemoryPeak         int64            // bytes, the highest of all rounds; 0: not known
	MemoryPeakIsSample bool             // MemoryPeak is the largest sample; the true peak may be higher
	Memory             Value            // bytes, the highest of each complete round
	ErrorRate          Value            // errors / (errors + successes) of each round with requests
	Cost               *Cost            // cost of the median round by Total; nil: not known
	CostEach           Value            // dollars per billion requests of each round
	NeedCosts          map[string]Value // the same of each need, by its name; see NeedCosts
	Checks             map[bench.CheckStatus]int
	Warnings           bench.Warnings   // about steps and latencies that are not in the summary
	Excluded           *bench.Exclusion // why it is excluded; nil: it is not

	growth       *bench.Warning // of memory in most rounds, with the highest rate
	firstFailure string         // failure of the first failed round
}

// MemoryGrowth returns the warning of memory that grew in most rounds, with the highest rate of
// all; ok is false without one.
func (c Contender) MemoryGrowth() (w bench.Warning, ok bool) {
	if c.growth == nil {
		return w, false
	}
	return *c.growth, true
}

// WhyExcluded returns why the contender is not compared, as a predicate on one line: unexpected
// responses, errors or failed rounds; "" if it is compared.
func (c Contender) WhyExcluded() string {
	switch {
	case c.Excluded != nil && c.Excluded.Cause != nil && c.Trials > 1:
		return safe.Line(fmt.Sprintf("%s, in %d of %s", c.Excluded, c.FailedRounds,
			units.Plural(c.Trials, "round")), 500)
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

// ExcludedLast orders excluded contenders after all others.
func ExcludedLast(a, b Contender) int {
	return cmp.Compare(min(1, len(a.WhyExcluded())), min(1, len(b.WhyExcluded())))
}

// PeakStep returns the step with the highest median throughput; ok is false if there is none.
func (c Contender) PeakStep() (Step, bool) {
	if c.Peak < 0 || c.Peak >= len(c.Steps) {
		return Step{}, false
	}
	return c.Steps[c.Peak], true
}

// PeakThroughput returns the throughput at the peak step. Without one it is 0 in each round if
// nothing succeeded in any measured step, and not known otherwise.
func (c Contender) PeakThroughput() Value {
	if peak, ok := c.PeakStep(); ok {
		return peak.Throughput
	}
	if nothing, ok := c.NothingStep(); ok {
		return nothing.Throughput
	}
	return Value{}
}

// NothingStep returns the measured step with the most rounds if nothing succeeded in any measured
// step of any round; ok is false if something did, or if no step was measured.
func (c Contender) NothingStep() (step Step, ok bool) {
	for _, s := range c.Steps {
		switch {
		case s.Step.WarmUp || s.Rounds == 0:
		case s.Answered() > 0:
			return Step{}, false
		case s.Rounds > step.Rounds:
			step, ok = s, true
		}
	}
	return step, ok
}

// BusiestStep returns the peak step or, without one, the measured step with the most requests,
// errors and rejected ones included; ok is false without any request.
func (c Contender) BusiestStep() (busiest Step, ok bool) {
	if peak, ok := c.PeakStep(); ok {
		return peak, true
	}
	var most int64
	for _, s := range c.Steps {
		if sent := s.Ended(); !s.Step.WarmUp && sent > most {
			busiest, most = s, sent
		}
	}
	return busiest, most > 0
}

// ErrorsTotal returns the number of errors in all steps of all rounds.
func (c Contender) ErrorsTotal() int64 { return c.Errors.Total() }

// TotalErrorRate returns the error rate of all steps of all rounds together; ok is false without
// any request.
func (c Contender) TotalErrorRate() (ratio float64, ok bool) {
	var failed float64
	var all int64
	for _, s := range c.Steps {
		n := s.Ended()
		failed, all = failed+s.ErrorRate()*float64(n), all+n
	}
	return failed / float64(max(1, all)), all > 0
}

// Compared returns the number of bodies compared in all steps of all rounds, and whether an error
// rate of a step is an estimate from these.
func (c Contender) Compared() (bodies int64, estimate bool) {
	for _, s := range c.Steps {
		bodies, estimate = bodies+s.Checked, estimate || s.ErrorRateIsEstimate()
	}
	return bodies, estimate
}

// Unread returns the number of bodies that were to be compared and were not looked at.
func (c Contender) Unread() (n int64) {
	for _, s := range c.Steps {
		n += s.UnreadTotal()
	}
	return n
}

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

// HalfPeak returns the index in Steps of the step at half peak: the open-loop step at 50% of peak,
// or of the lowest peak, if the profile has one, else the closed-loop step with the same requests,
// up to the peak, that is nearest to half. share is its throughput over that of the highest step; ok
// is false without a peak.
func (c Contender) HalfPeak() (step int, share float64, ok bool) {
	for i, s := range c.Steps {
		if s.Step.PeakShare == 0.5 && !s.Step.WarmUp && s.Rounds > 0 {
			return i, 0.5, true
		}
	}
	return c.ClosedHalf()
}

// ClosedHalf is HalfPeak without the open-loop steps.
func (c Contender) ClosedHalf() (step int, share float64, ok bool) {
	peak, known := c.PeakStep()
	if !known {
		return 0, 0, false
	}
	nearest := math.Inf(1)
	for i, s := range c.Steps {
		if s.Index > peak.Index || s.Excluded || s.Step.WarmUp || s.Step.Open() || s.Step.Request != peak.Step.Request {
			continue
		}
		part := 1. // of a peak with a success in fewer than half of the rounds
		if peak.Throughput.Median > 0 {
			part = s.Throughput.Median / peak.Throughput.Median
		} else if s.Index < peak.Index {
			continue
		}
		if off := math.Abs(math.Log(2 * part)); off < nearest {
			step, share, ok, nearest = i, part, true, off
		}
	}
	return step, share, ok
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
