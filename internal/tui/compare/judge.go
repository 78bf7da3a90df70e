package compare

import (
	"fmt"
	"math"
	"strings"

	"locbench/internal/analysis"
	compared "locbench/internal/compare"
	"locbench/internal/measure"
	"locbench/internal/stats"
)

// Said is what the rounds support, as package stats decides it.
type Said struct {
	Verdict    stats.Verdict // Better: B is
	Ratio      string        // of B to A with its interval, in words; "" without one
	Need       int           // rounds on each side that the verdict takes at least, where there are fewer; else 0
	More       int           // of CannotTell: about so many more rounds on each side would tell; 0: nobody knows
	Same       float64       // the margin of Same: .03 is 3 %
	BelowFloor bool          // certain, and smaller than what the machine can show
	Broken     bool          // something else differs, which decides about the figures
	Unmeasured bool          // on one side or both
	Doubts     []string      // outliers, groups, a drift: shown, and left out of nothing
	row        *compared.Row
}

// judge is what 'locbench compare' says of the headline measures of a pair; nothing where a side is
// missing.
func judge(a, b analysis.Contender, runs []compared.Difference, floor *compared.Floor) map[measure.ID]*Said {
	said := map[measure.ID]*Said{}
	if a.Label == "" || b.Label == "" {
		return said
	}
	result := compared.Pair(a, b, runs, compared.Options{Floor: floor})
	for i := range result.Rows {
		r := &result.Rows[i]
		if measure.Get(r.Measure).Claim.Apart {
			continue
		}
		s := &Said{
			Verdict: r.Verdict, More: r.More, Same: stats.DefaultMargin, Broken: r.NotComparable != "", Doubts: r.Doubts, row: r,
			BelowFloor: r.BelowFloor && r.Verdict == stats.CannotTell, Unmeasured: len(r.Old.Rounds) == 0 || len(r.New.Rounds) == 0,
		}
		if min(len(r.Old.Rounds), len(r.New.Rounds)) < stats.MinInterval {
			s.Need = stats.MinInterval
		}
		if r.Ratio != nil {
			s.Ratio = stats.Ratio{Estimate: r.Ratio.Estimate, Interval: stats.Interval{Low: r.Ratio.Low, High: r.Ratio.High}}.Words()
		}
		said[r.Measure] = s
	}
	return said
}

// sides are the figures that a verdict is about, for a measure that no step of the table has by
// itself.
func (s *Said) sides() (a, b measure.Figure) {
	of := func(x compared.Side) measure.Figure {
		if x.Median == nil {
			return measure.Figure{}
		}
		return measure.FigureOf(stats.NewValue(x.Rounds))
	}
	if s == nil {
		return a, b
	}
	return of(s.row.Old), of(s.row.New)
}

// judgeSteps decides the throughput of all steps that both sides have, as one family. Rounds in
// which a and b took turns are paired as everywhere (analysis.Together).
func judgeSteps(pairs []StepPair, a, b analysis.Contender, broken bool, floor *compared.Floor) {
	rounds, turns := analysis.Together([]analysis.Contender{a, b})
	m := measure.Get(measure.Throughput)
	var family []stats.Pair
	var of []*Figure
	for i := range pairs {
		if f := pairs[i].figure(measure.Throughput); pairs[i].InA && pairs[i].InB && !pairs[i].Step.WarmUp {
			old, fresh := f.A.Rounds, f.B.Rounds
			paired := turns[0] && turns[1]
			if paired {
				old, fresh = rounds[0].At(m, pairs[i].Step), rounds[1].At(m, pairs[i].Step)
			}
			family = append(family, stats.Pair{
				Measure: pairs[i].Step.Name, HigherIsBetter: true, Old: old, New: fresh, Paired: paired && stats.SameLength(old, fresh), Floor: floor.Of(measure.Throughput),
			})
			of = append(of, f)
		}
	}
	for i, c := range (stats.Rule{}).Compare(family) {
		s := &Said{Verdict: c.Verdict, More: c.More, Same: c.Rule.Margin, Broken: broken, Doubts: c.Doubts, Unmeasured: !c.Old.Known() || !c.New.Known()}
		if min(len(c.Old.Values), len(c.New.Values)) < stats.MinInterval {
			s.Need = stats.MinInterval
		}
		if c.Ratio != nil {
			s.Ratio = c.Ratio.Words()
			s.BelowFloor = c.Verdict == stats.CannotTell && c.Adjusted <= c.Rule.Alpha && !c.Ratio.Interval.Holds(1)
		}
		of[i].Said = s
	}
}

// doubts are those of the headline, each with its figure and its side: "peak throughput, A: round 4
// stands apart: ×2 of the median".
func doubts(head []Figure) (list []string) {
	for _, f := range head {
		if f.Said == nil {
			continue
		}
		for _, d := range f.Said.Doubts {
			if text, ok := strings.CutPrefix(d, "old: "); ok {
				d = "A: " + text
			} else if text, ok := strings.CutPrefix(d, "new: "); ok {
				d = "B: " + text
			}
			list = append(list, fmt.Sprintf("%s, %s", f.Head, d))
		}
	}
	return list
}

// tiersOf are the tiers of a run's contenders by their throughput at the peak, from 1, by label;
// who is in none is not in it.
func tiersOf(r run, floor *compared.Floor) map[string]int {
	tiers := map[string]int{}
	for _, p := range r.Standing(measure.Throughput, stats.Rule{Floor: floor.Of(measure.Throughput)}).Places {
		if p.Tier > 0 {
			tiers[p.Contender] = p.Tier
		}
	}
	return tiers
}

// Figure is one measure of two sides.
type Figure struct {
	measure.Shown
	A, B measure.Figure
	Said *Said // what the rounds say of it; nil where nobody asks: of the figures that are no headline measures
}

// Change is (B − A) / A; ok is false where that is not known, or A is 0.
func (f Figure) Change() (ratio float64, ok bool) {
	if !f.A.Known || !f.B.Known || f.A.Value == 0 {
		return 0, false
	}
	ratio = (f.B.Value - f.A.Value) / f.A.Value
	return ratio, !math.IsNaN(ratio) && !math.IsInf(ratio, 0)
}

// Headline compares the figures by which a contender is chosen, and says of the declared headline
// measures among them what 'locbench compare' says. Those "at the peak" are of the step with each
// side's own peak.
func Headline(a, b analysis.Contender, runs []compared.Difference, floor *compared.Floor) (all []Figure) {
	said := judge(a, b, runs, floor)
	for _, m := range measure.View(measure.PairFigures) {
		f := Figure{Shown: m, A: m.Contender(a.Contender), B: m.Contender(b.Contender), Said: said[m.ID]}
		if m.Claim != nil && m.Claim.At == measure.AtHalf { // at half of A's peak, on both sides
			f.A, f.B = f.Said.sides()
		}
		if f.A.Known || f.B.Known || !m.Optional {
			all = append(all, f)
		}
	}
	return all
}
