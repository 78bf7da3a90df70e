// Package analysis computes, once for a run, the summaries of its contenders, the bottlenecks of
// their steps, and their tiers. Text, report, Markdown, dashboard and comparison render the same
// analysis, so they cannot disagree, and no histogram is merged twice. The package is pure.
package analysis

import (
	"cmp"
	"slices"
	"sync"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
)

// Run is an analyzed run.
type Run struct {
	Run        bench.Run
	Trials     []bench.TrialResult // sorted by round
	Contenders []Contender         // in the order in which they first ran

	family func() *family // what the contenders are compared by; made once
}

// Contender is a contender of a run: its summary, its rounds, and the bottlenecks of its steps.
type Contender struct {
	stats.Contender
	Results []bench.TrialResult     // its trials
	Bounds  map[int]verdict.Summary // by the index of the step

	of    *Run      // its run; nil: not known
	half  *half     // set for the reference of a comparison
	kinds *sync.Map // what Requests returns, made once, by the index of the step
}

// Of analyses a run. trials may be a part of the run's trials, in any order.
func Of(run bench.Run, trials []bench.TrialResult) *Run { return of(run, trials, stats.Summarize) }

// SoFar analyses a run that is not complete. It is faster than Of: it merges only the latencies at
// the peaks, which takes a millisecond each.
func SoFar(run bench.Run, trials []bench.TrialResult) *Run {
	return of(run, trials, stats.SummarizePeaks)
}

func of(run bench.Run, trials []bench.TrialResult,
	summarize func(bench.Run, []bench.TrialResult) []stats.Contender) *Run {
	r := &Run{Run: run, Trials: slices.Clone(trials)}
	slices.SortStableFunc(r.Trials, func(a, b bench.TrialResult) int { return cmp.Compare(a.Trial.Round, b.Trial.Round) })
	for _, sum := range summarize(run, r.Trials) {
		c := Contender{Contender: sum, of: r, kinds: &sync.Map{}}
		for _, trial := range r.Trials {
			if trial.Trial.Label() == sum.Label {
				c.Results = append(c.Results, trial)
			}
		}
		c.Bounds = verdict.Rounds(run.Machine.CPUs, c.Results)
		r.Contenders = append(r.Contenders, c)
	}
	r.family = sync.OnceValue(r.newFamily)
	return r
}

// InProfile returns the contenders in the order of the profile, then the others.
func (r *Run) InProfile() []Contender {
	all := slices.Clone(r.Contenders)
	slices.SortStableFunc(all, func(a, b Contender) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Label, b.Label))
	})
	return all
}

// Run returns the run of the contender; nil: not known.
func (c Contender) Run() *Run { return c.of }

// Steps returns the steps of the profile and any others that a trial ran, by their indices.
func (r *Run) Steps() map[int]bench.Step {
	steps := map[int]bench.Step{}
	for _, trial := range r.Trials {
		for _, s := range trial.Steps {
			steps[s.Index] = s.Step
		}
	}
	for i, s := range r.Run.Profile.Steps {
		steps[i] = s
	}
	return steps
}

// AtIndex returns the step with an index; the zero value if it did not run.
func (c Contender) AtIndex(index int) (none stats.Step) {
	if i := slices.IndexFunc(c.Steps, func(s stats.Step) bool { return s.Index == index }); i >= 0 {
		return c.Steps[i]
	}
	return none
}

// Ordered returns the contenders as InProfile does, excluded ones last.
func (r *Run) Ordered() []Contender {
	all := r.InProfile()
	slices.SortStableFunc(all, func(a, b Contender) int { return stats.ExcludedLast(a.Contender, b.Contender) })
	return all
}

// profile returns the profile of the contender's run, and its place there.
func (c Contender) profile() (p bench.Profile, of bench.Selection) {
	if c.of == nil {
		return p, of
	}
	return c.of.Run.Profile, c.Results[0].Trial.Selection()
}

// rank returns the index of the contender in the profile.
func (c Contender) rank() int {
	p, of := c.profile()
	if i := slices.Index(p.Contenders, of); i >= 0 {
		return i
	}
	return len(p.Contenders)
}

// Planned returns the limits that the profile sets for the contender.
func (c Contender) Planned() bench.Limits {
	p, of := c.profile()
	return p.LimitsOf(of)
}

// Threads returns the median number of threads of the contender after the warm-up; ok is false if it
// is not known.
func (c Contender) Threads() (n int, ok bool) {
	var all []int64
	for _, t := range c.Results {
		if n, ok := t.Threads(); ok {
			all = append(all, int64(n))
		}
	}
	median, ok := stats.Median(all)
	return int(median), ok
}

// OneRun reports whether two contenders are of one run.
func OneRun(a, b Contender) bool {
	return a.of != nil && b.of != nil && a.of.Run.ID != "" && a.of.Run.ID == b.of.Run.ID
}

// LimitsIntended reports whether the profile of a run sets different limits for two of its
// contenders: then their limits are the subject of the comparison, not a reason to refuse it.
func LimitsIntended(a, b Contender) bool {
	return OneRun(a, b) && a.Planned() != b.Planned()
}

// At returns the values of the rounds that completed the step.
func (c Contender) At(m measure.Measure, step bench.Step) (values []float64) {
	if slices.ContainsFunc(c.Steps, func(s stats.Step) bool { return s.Step.Same(step) && s.Excluded }) {
		return nil
	}
	for _, trial := range c.Results {
		// Use the last of several equal steps: the earlier ones are warm-ups.
		for _, s := range slices.Backward(trial.Steps) {
			if s.Step.Same(step) {
				if v, ok := m.Of(s); ok && v > 0 && s.Aborted == "" {
					values = append(values, v)
				}
				break
			}
		}
	}
	return values
}

// Together reduces contenders to the rounds in which they were interleaved with each other, so
// their i-th values are pairs; paired says for which contenders it did. A round that one of them
// did not complete is removed from all: giving up the pairs would add the differences between
// rounds, which pairs share, to the noise. Contenders with too few such rounds stay unchanged. All
// stay unchanged if fewer than two contenders, or too few common rounds, are left.
func Together(all []Contender) (kept []Contender, paired []bool) {
	return together(all, func(Contender) bool { return true })
}

// together is Together for the contenders for which may returns true; the others stay unchanged.
func together(all []Contender, may func(Contender) bool) (kept []Contender, paired []bool) {
	var sides [][]bench.TrialResult
	var of []int
	for i, c := range all {
		complete := 0
		for _, trial := range c.Results {
			if _, interleaved := trial.Interleaved(); interleaved && trial.State == bench.TrialComplete {
				complete++
			}
		}
		if complete >= stats.MinInterval && may(c) {
			sides, of = append(sides, c.Results), append(of, i)
		}
	}
	kept, paired = slices.Clone(all), make([]bool, len(all))
	if rounds, ok := stats.Together(sides...); ok && len(rounds[0]) >= stats.MinInterval {
		for n, i := range of {
			paired[i], kept[i] = true, all[i].only(rounds[n])
		}
	}
	return kept, paired
}

// only returns the contender over some of its rounds, with the peak step of all rounds.
func (c Contender) only(rounds []bench.TrialResult) Contender {
	if len(rounds) == len(c.Results) {
		return c
	}
	sum := stats.Rounds(c.of.Run, rounds)
	sum.Excluded = c.Excluded
	sum.Cost, sum.CostEach, sum.NeedCosts = c.Cost, c.CostEach, c.NeedCosts // at the price of the run
	if peak, ok := c.PeakStep(); ok {
		if i := slices.IndexFunc(sum.Steps, func(s stats.Step) bool { return s.Index == peak.Index }); i >= 0 {
			sum.Peak = i
		}
	}
	c.Contender, c.Results, c.kinds = sum, rounds, &sync.Map{}
	return c
}

// Causes returns why the contender is slow in most of its rounds, as its own threads say; of one that
// is excluded only if that is for its errors.
func (c Contender) Causes() []verdict.Cause {
	if c.of == nil || c.WhyExcluded() != "" && (c.Excluded == nil || !c.Excluded.OnlyErrors()) {
		return nil
	}
	return verdict.Causes(c.of.Run.Machine.CPUs, c.Results)
}

// Flaw says what is wrong with contenders in most of their rounds, whatever their measures are: none
// of them is recommended.
type Flaw struct {
	Of   []int // indices of the contenders
	Text string
}

// Flaws returns the flaws of contenders: memory that grows with the requests, and freezes. name
// returns the name of a contender; nil: its label.
func Flaws(all []Contender, name func(i int) string) (found []Flaw) {
	for i, c := range all {
		w, ok := c.MemoryGrowth()
		if !ok || c.WhyExcluded() != "" {
			continue
		}
		of := safe.Line(c.Label, 60)
		if name != nil {
			of = name(i)
		}
		found = append(found, Flaw{[]int{i}, of + ": " + safe.Line(w.Text, 200) + " (" + Leak + ")."})
	}
	return append(found, Freezes(all, name)...)
}

// Leak is the likely cause of memory that grows with the requests.
const Leak = "a leak, or a cache without a limit"

// steady returns which rounds of each contender are compared in a measure; nil: all. A round that was not
// in a steady state leaves with those of the contenders that were interleaved with it.
func steady(m measure.Measure, ref Contender, all []Contender, paired []bool) [][]bool {
	keep, common := make([][]bool, len(all)), []bool(nil)
	if k := m.Comparison.Kind; k == stats.FromStartToStop || k == stats.OfErrors {
		return keep
	}
	for i, c := range all {
		of, enough := c.StepOf(m, ref).Steady()
		switch {
		case !paired[i]:
			keep[i] = stats.KeepSteady(of, stats.MinInterval)
		case !enough: // it is in no pair
		case common == nil:
			common = of
		case len(common) == len(of):
			for n, is := range of {
				common[n] = common[n] && is
			}
		}
	}
	for i := range all {
		if paired[i] {
			keep[i] = stats.KeepSteady(common, stats.MinPaired)
		}
	}
	return keep
}

// only returns the values of the rounds that are kept, if each round has one.
func only(values []float64, keep []bool) (kept []float64) {
	if len(keep) != len(values) {
		return values
	}
	for i, v := range values {
		if keep[i] {
			kept = append(kept, v)
		}
	}
	return kept
}
