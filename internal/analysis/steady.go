package analysis

import (
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

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
