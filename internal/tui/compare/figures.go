package compare

import (
	"math"

	"locbench/internal/analysis"
	compared "locbench/internal/compare"
	"locbench/internal/measure"
)

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
