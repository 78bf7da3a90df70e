package compare

import (
	"math"
	"slices"

	"github.com/locbench/locbench/internal/analysis"
	compared "github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// verdicts returns the rows of 'locbench compare' for a pair; none if a side is missing.
func verdicts(a, b analysis.Contender, runs []compared.Difference, floor *compared.Floor) map[measure.ID]*compared.Row {
	rows := map[measure.ID]*compared.Row{}
	if a.Label == "" || b.Label == "" {
		return rows
	}
	for _, r := range compared.Pair(a, b, runs, compared.Options{Floor: floor}).Rows {
		if !measure.Get(r.Measure).Comparison.Apart {
			rows[r.Measure] = &r
		}
	}
	return rows
}

// stepVerdicts decides on the throughput of all steps that both sides have, as one family.
// Interleaved rounds of a and b are paired (analysis.Together).
func stepVerdicts(pairs []StepPair, a, b analysis.Contender, broken bool, floor *compared.Floor) {
	rounds, interleaved := analysis.Together([]analysis.Contender{a, b})
	m := measure.Get(measure.Throughput)
	var family []stats.Pair
	var of []*Value
	for i := range pairs {
		f := pairs[i].value(m.ID)
		if !pairs[i].InA || !pairs[i].InB || pairs[i].Step.WarmUp {
			continue
		}
		old, fresh, paired := f.A.Rounds, f.B.Rounds, interleaved[0] && interleaved[1]
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
		row := &compared.Row{Old: compared.Side{Rounds: c.Old.Values}, New: compared.Side{Rounds: c.New.Values}}
		if row.Decide(c); broken {
			row.NotComparable = "other difference"
		}
		row.BelowFloor = c.Ratio != nil && c.Adjusted <= c.Rule.Alpha && !c.Ratio.Interval.Holds(1)
		of[i].Row = row
	}
}

// tiersOf returns the tier of each contender of a run by throughput at peak, from 1, by label;
// none if their limits differ.
func tiersOf(r run, floor *compared.Floor) map[string]int {
	tiers := map[string]int{}
	if r.of.LimitsDiffer() {
		return tiers
	}
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
	Row  *compared.Row // its verdict; nil if it is not a headline measure
}

// Values are the values of a pair, or of one of its steps.
type Values []Value

// value returns the value of one measure, which must be among them.
func (all Values) value(id measure.ID) *Value {
	return &all[slices.IndexFunc(all, func(f Value) bool { return f.ID == id })]
}

// Change returns (B − A) / A; ok is false where it is not known or A is 0.
func (f Value) Change() (ratio float64, ok bool) {
	if !f.A.Known || !f.B.Known || f.A.Value == 0 {
		return 0, false
	}
	ratio = (f.B.Value - f.A.Value) / f.A.Value
	return ratio, !math.IsNaN(ratio) && !math.IsInf(ratio, 0)
}

// Headline compares the main results of two contenders, those of the headline measures with the
// verdict of 'locbench compare'. "At peak" is each side's own peak.
func Headline(a, b analysis.Contender, runs []compared.Difference, floor *compared.Floor) (all Values) {
	rows := verdicts(a, b, runs, floor)
	for _, m := range measure.View(measure.PairContenders) {
		f := Value{Shown: m, A: m.Contender(a.Contender), B: m.Contender(b.Contender), Row: rows[m.ID]}
		// One step for both: only the row has the values.
		if m.Comparison != nil && (m.Comparison.At == measure.AtHalf || m.Comparison.At == measure.AtReference && !m.Comparison.Apart) {
			if f.A, f.B = (measure.Result{}), (measure.Result{}); f.Row != nil {
				f.A = measure.ResultOf(stats.NewValue(f.Row.Old.Rounds))
				f.B = measure.ResultOf(stats.NewValue(f.Row.New.Rounds))
			}
		}
		if f.A.Known || f.B.Known || !m.Optional {
			all = append(all, f)
		}
	}
	return all
}
