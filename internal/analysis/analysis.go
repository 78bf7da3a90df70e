// Package analysis works out, once for a run, what its figures support: the summaries of its
// contenders, what bound their steps, and how they stand. Text, report, Markdown, dashboard and
// comparison render it, so that they cannot disagree and no histogram is merged twice. It is pure.
package analysis

import (
	"cmp"
	"slices"

	"locbench/internal/bench"
	"locbench/internal/measure"
	"locbench/internal/stats"
	"locbench/internal/units"
	"locbench/internal/verdict"
)

// Run is a run, analysed.
type Run struct {
	Run        bench.Run
	Legs       []bench.LegResult // by their rounds
	Contenders []Contender       // in the order in which they first ran
}

// Contender is one of them: its summary, its rounds, and what bound its steps.
type Contender struct {
	stats.Contender
	Results []bench.LegResult       // its legs
	Bounds  map[int]verdict.Summary // by the index of the step
}

// Of analyses a run. Legs may be fewer than the run's, and in any order.
func Of(run bench.Run, legs []bench.LegResult) *Run {
	r := &Run{Run: run, Legs: slices.Clone(legs)}
	slices.SortStableFunc(r.Legs, func(a, b bench.LegResult) int { return cmp.Compare(a.Leg.Round, b.Leg.Round) })
	for _, sum := range stats.Summarise(r.Legs, run.Profile.PriceVCPUHr) {
		c := Contender{Contender: sum}
		for _, leg := range r.Legs {
			if leg.Leg.Label() == sum.Label {
				c.Results = append(c.Results, leg)
			}
		}
		c.Bounds = verdict.Rounds(run.Machine.CPUs, c.Results)
		r.Contenders = append(r.Contenders, c)
	}
	return r
}

// Ordered are the contenders in the order of the profile, and after them those not in it.
func (r *Run) Ordered() []Contender {
	all := slices.Clone(r.Contenders)
	slices.SortStableFunc(all, func(a, b Contender) int {
		return cmp.Or(cmp.Compare(Rank(r.Run, a.Results[0].Leg), Rank(r.Run, b.Results[0].Leg)), cmp.Compare(a.Label, b.Label))
	})
	return all
}

// Rank is the place of a leg's contender in the profile.
func Rank(run bench.Run, leg bench.Leg) int {
	i := slices.IndexFunc(run.Profile.Contenders, func(s bench.Selection) bool {
		return s.Contender == leg.Contender && (s.Variant == leg.Variant || s.Variant == "")
	})
	if i < 0 {
		return len(run.Profile.Contenders)
	}
	return i
}

// Errors are those of all requests of all legs, as a share.
func (c Contender) Errors() float64 {
	var failed, all int64
	for _, s := range c.Steps {
		failed += s.FailedTotal()
		all += s.FailedTotal() + s.Succeeded
	}
	return float64(failed) / float64(max(1, all))
}

// Failed is how many of its rounds failed.
func (c Contender) Failed() (n int) {
	for _, leg := range c.Results {
		if leg.State == bench.LegFailed {
			n++
		}
	}
	return n
}

// StepOf is the step that a measure is of, where it is of one; half is a step of both sides.
func (c Contender) StepOf(m measure.Measure, half bench.Step) stats.Step {
	switch m.Claim.At {
	case measure.AtPeak:
		peak, _ := c.PeakStep()
		return peak
	case measure.AtHalf:
		for _, s := range slices.Backward(c.Steps) {
			if s.Step.Same(half) {
				return s
			}
		}
	}
	return stats.Step{}
}

// Half is the step at half of the peak, by stats.Contender.HalfPeak.
func (c Contender) Half() (step bench.Step, share float64, ok bool) {
	i, share, ok := c.HalfPeak()
	if !ok {
		return bench.Step{}, 0, false
	}
	return c.Steps[i].Step, share, true
}

// At are the values of the rounds that finished the step.
func (c Contender) At(m measure.Measure, step bench.Step) (values []float64) {
	for _, leg := range c.Results {
		// Of several steps of that name the last: the earlier ones warm up.
		for _, s := range slices.Backward(leg.Steps) {
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

// Samples are the values of two sides, one of each round that has one, and what they are of. At
// half of the peak the old side chooses the step, and the new one is measured at the same.
func Samples(m measure.Measure, a, b Contender) (old, fresh []float64, at string, doubts []string) {
	switch m.Claim.At {
	case measure.OfLife:
		old, fresh := m.Contender(a.Contender), m.Contender(b.Contender)
		if old.AtLeast || fresh.AtLeast {
			doubts = append(doubts, m.Claim.Guess)
		}
		return old.Rounds, fresh.Rounds, "", doubts
	case measure.AtHalf:
		step, share, ok := a.Half()
		if !ok {
			return nil, nil, "", nil
		}
		at = step.Name
		if step.PeakShare == 0 {
			at += " (" + units.Percent(share) + " of the old peak)"
		}
		return a.At(m, step), b.At(m, step), at, nil
	}
	peakA, okA := a.PeakStep()
	peakB, okB := b.PeakStep()
	switch {
	case okA && okB && peakA.Step.Name != peakB.Step.Name:
		at = peakA.Step.Name + " → " + peakB.Step.Name
	case okA:
		at = peakA.Step.Name
	case okB:
		at = peakB.Step.Name
	}
	return m.Over(peakA).Rounds, m.Over(peakB).Rounds, at, nil
}
