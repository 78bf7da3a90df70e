package compare

import (
	"locbench/internal/bench"
	"locbench/internal/stats"
)

// together keeps of several contenders the rounds in which all took turns with each other, and tells that it did: the i-th values belong together
// then. Where they did not, or one of them has no such round, all is as it was.
func together(all []contender) (kept []contender, paired bool) {
	sides := make([][]bench.LegResult, len(all))
	for i, c := range all {
		sides[i] = c.legs
	}
	rounds, ok := stats.Together(sides...)
	if !ok {
		return all, false
	}
	for i, c := range all {
		summary := stats.Summarise(rounds[i], 0)[0]
		summary.Cost, summary.CostEach = c.Cost, c.CostEach // at the run's price
		kept = append(kept, contender{summary, rounds[i]})
	}
	return kept, true
}

// alignedOrEmpty tells whether all samples that have any values have as many.
func alignedOrEmpty(samples [][]float64) bool {
	var there [][]float64
	for _, s := range samples {
		if len(s) > 0 {
			there = append(there, s)
		}
	}
	return stats.SameLength(there...)
}
