package compare

import (
	"math"
	"slices"

	"locbench/internal/analysis"
	compared "locbench/internal/analysis/compare"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
)

// judge returns what 'locbench compare' says of the headline measures of a pair; nothing where a side is
// missing.
func judge(a, b analysis.Contender, runs []compared.Difference, floor *compared.Floor) map[measure.ID]*compared.Row {
	said := map[measure.ID]*compared.Row{}
	if a.Label == "" || b.Label == "" {
		return said
	}
	for _, r := range compared.Pair(a, b, runs, compared.Options{Floor: floor}).Rows {
		if !measure.Get(r.Measure).Comparison.Apart {
			said[r.Measure] = &r
		}
	}
	return said
}

// judgeSteps decides the throughput of all steps that both sides have, as one family. Rounds in
// which a and b took turns are paired as everywhere (analysis.Together).
func judgeSteps(pairs []StepPair, a, b analysis.Contender, broken bool, floor *compared.Floor) {
	rounds, turns := analysis.Together([]analysis.Contender{a, b})
	m := measure.Get(measure.Throughput)
	var family []stats.Pair
	var of []*Value
	for i := range pairs {
		f := pairs[i].figure(m.ID)
		if !pairs[i].InA || !pairs[i].InB || pairs[i].Step.WarmUp {
			continue
		}
		old, fresh, paired := f.A.Rounds, f.B.Rounds, turns[0] && turns[1]
		if paired {
			old, fresh = rounds[0].At(m, pairs[i].Step), rounds[1].At(m, pairs[i].Step)
		}
		family = append(family, stats.Pair{
			HigherIsBetter: true, Floor: floor.Of(m.ID),
			Old: old, New: fresh, Paired: paired && stats.SameLength(old, fresh),
		})
		of = append(of, f)
	}
	for i, c := range (stats.Rule{}).Compare(family) {
		said := &compared.Row{Old: compared.Side{Rounds: c.Old.Values}, New: compared.Side{Rounds: c.New.Values}}
		if said.Decide(c); broken {
			said.NotComparable = "other difference"
		}
		said.BelowFloor = c.Ratio != nil && c.Adjusted <= c.Rule.Alpha && !c.Ratio.Interval.Holds(1)
		of[i].Said = said
	}
}

// tiersOf returns the tiers of a run's contenders by their throughput at peak, from 1, by label;
// who is in none is not in it.
func tiersOf(r run, floor *compared.Floor) map[string]int {
	tiers := map[string]int{}
	for _, p := range r.of.Standing(measure.Throughput, stats.Rule{Floor: floor.Of(measure.Throughput)}).Places {
		if p.Tier > 0 {
			tiers[p.Contender] = p.Tier
		}
	}
	return tiers
}

// Value is one measure of two sides.
type Value struct {
	measure.Shown
	A, B measure.Result
	Said *compared.Row // what the rounds say of it; nil of figures that are not headline measures
}

// Values are those of a pair, or of one of its steps.
type Values []Value

// figure returns that of one measure, which must be among them.
func (all Values) figure(id measure.ID) *Value {
	return &all[slices.IndexFunc(all, func(f Value) bool { return f.ID == id })]
}

// Change returns (B − A) / A; ok is false where that is not known, or A is 0.
func (f Value) Change() (ratio float64, ok bool) {
	if !f.A.Known || !f.B.Known || f.A.Value == 0 {
		return 0, false
	}
	ratio = (f.B.Value - f.A.Value) / f.A.Value
	return ratio, !math.IsNaN(ratio) && !math.IsInf(ratio, 0)
}

// Headline compares the figures by which a contender is chosen, and says of the declared headline
// measures among them what 'locbench compare' says. Those "at peak" are of the step with each
// side's own peak.
func Headline(a, b analysis.Contender, runs []compared.Difference, floor *compared.Floor) (all Values) {
	said := judge(a, b, runs, floor)
	for _, m := range measure.View(measure.PairContenders) {
		f := Value{Shown: m, A: m.Contender(a.Contender), B: m.Contender(b.Contender), Said: said[m.ID]}
		if m.Comparison != nil && m.Comparison.At == measure.AtHalf { // at half of A's peak, on both sides: of no step here
			if f.A, f.B = (measure.Result{}), (measure.Result{}); f.Said != nil {
				f.A = measure.ResultOf(stats.NewValue(f.Said.Old.Rounds))
				f.B = measure.ResultOf(stats.NewValue(f.Said.New.Rounds))
			}
		}
		if f.A.Known || f.B.Known || !m.Optional {
			all = append(all, f)
		}
	}
	return all
}
