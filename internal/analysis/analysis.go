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
)

// Run is an analyzed run.
type Run struct {
	Run        bench.Run
	Trials     []bench.TrialResult // sorted by round
	Contenders []Contender         // in the order in which they first ran

	cached func() *family // nil: not cached
}

// Contender is a contender of a run: its summary, its rounds, and the bottlenecks of its steps.
type Contender struct {
	stats.Contender
	Results []bench.TrialResult     // its trials
	Bounds  map[int]verdict.Summary // by the index of the step

	run  *bench.Run
	of   *Run  // its run; nil: not known
	half *half // set for the reference of a comparison
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
		c := Contender{Contender: sum, run: &r.Run, of: r}
		for _, trial := range r.Trials {
			if trial.Trial.Label() == sum.Label {
				c.Results = append(c.Results, trial)
			}
		}
		c.Bounds = verdict.Rounds(run.Machine.CPUs, c.Results)
		r.Contenders = append(r.Contenders, c)
	}
	r.cached = sync.OnceValue(r.newFamily)
	return r
}

// Ordered returns the contenders in the order of the profile, then the others, then excluded ones.
func (r *Run) Ordered() []Contender {
	all := slices.Clone(r.Contenders)
	slices.SortStableFunc(all, func(a, b Contender) int {
		return cmp.Or(stats.ExcludedLast(a.Contender, b.Contender),
			cmp.Compare(rank(r.Run, a.Results[0].Trial), rank(r.Run, b.Results[0].Trial)), cmp.Compare(a.Label, b.Label))
	})
	return all
}

// rank returns the index of a trial's contender in the profile.
func rank(run bench.Run, trial bench.Trial) int {
	i := slices.Index(run.Profile.Contenders, trial.Selection())
	if i < 0 { // results of older runs name the default variant
		i = slices.Index(run.Profile.Contenders, bench.Selection{Contender: trial.Contender})
	}
	if i < 0 {
		return len(run.Profile.Contenders)
	}
	return i
}

// Planned returns the limits that the profile sets for the contender.
func (c Contender) Planned() bench.Limits {
	if c.run == nil {
		return bench.Limits{}
	}
	return c.run.Profile.LimitsOf(c.Results[0].Trial.Selection())
}

// Settings returns what the profile sets for the contender alone.
func (c Contender) Settings() bench.Settings {
	if c.run == nil {
		return bench.Settings{}
	}
	return c.run.Profile.SettingsOf(c.Results[0].Trial.Selection())
}

// OneRun reports whether two contenders are of one run.
func OneRun(a, b Contender) bool {
	return a.run != nil && b.run != nil && a.run.ID != "" && a.run.ID == b.run.ID
}

// LimitsIntended reports whether the profile of a run sets different limits for two of its
// contenders: then their limits are the subject of the comparison, not a reason to refuse it.
func LimitsIntended(a, b Contender) bool {
	return OneRun(a, b) && a.Planned() != b.Planned()
}

// Half returns the step at half peak, by stats.Contender.HalfPeak; of the reference of a comparison
// the one that counts for all.
func (c Contender) Half() (step bench.Step, share float64, ok bool) {
	if c.half != nil {
		return c.half.step, c.half.share, c.half.ok
	}
	i, share, ok := c.HalfPeak()
	if !ok {
		return bench.Step{}, 0, false
	}
	return c.Steps[i].Step, share, true
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
	paired = make([]bool, len(all))
	kept = slices.Clone(all)
	rounds, ok := stats.Together(sides...)
	if !ok || len(rounds[0]) < stats.MinInterval {
		return kept, paired
	}
	for n, i := range of {
		paired[i] = true
		if len(rounds[n]) < len(all[i].Results) {
			kept[i] = all[i].only(rounds[n])
		}
	}
	return kept, paired
}

// only returns the contender over some of its rounds, with the peak step of all rounds.
func (c Contender) only(rounds []bench.TrialResult) Contender {
	sum := stats.Rounds(*c.run, rounds)
	sum.Excluded = c.Excluded
	sum.Cost, sum.CostEach = c.Cost, c.CostEach // at the price of the run
	if peak, ok := c.PeakStep(); ok {
		if i := slices.IndexFunc(sum.Steps, func(s stats.Step) bool { return s.Index == peak.Index }); i >= 0 {
			sum.Peak = i
		}
	}
	return Contender{Contender: sum, Results: rounds, Bounds: c.Bounds, run: c.run, of: c.of, half: c.half}
}
