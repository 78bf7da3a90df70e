package compare

import (
	"locbench/internal/bench"
	"locbench/internal/stats"
)

// together keeps of several contenders the rounds in which they took turns with each other, and tells that it did: the i-th values belong together
// then. Those with too few such rounds to be compared at all stay as they are. Where fewer than two are left, or too few rounds that they have in
// common, all stay as they are.
func together(all []contender) (kept []contender, paired bool) {
	var sides [][]bench.LegResult
	var of []int
	for i, c := range all {
		turns := 0
		for _, leg := range c.legs {
			if _, took := leg.TookTurns(); took && leg.State == bench.LegComplete {
				turns++
			}
		}
		if turns >= stats.MinInterval {
			sides, of = append(sides, c.legs), append(of, i)
		}
	}
	rounds, ok := stats.Together(sides...)
	if !ok || len(rounds[0]) < stats.MinInterval {
		return all, false
	}
	kept = append(kept, all...)
	for n, i := range of {
		summary := stats.Summarise(rounds[n], 0)[0]
		summary.Cost, summary.CostEach = all[i].Cost, all[i].CostEach // at the run's price
		kept[i] = contender{summary, rounds[n]}
	}
	return kept, true
}

// aligned tells whether all samples that are large enough to be compared have as many values.
func aligned(samples [][]float64) bool {
	var there [][]float64
	for _, s := range samples {
		if len(s) >= stats.MinInterval {
			there = append(there, s)
		}
	}
	return stats.SameLength(there...)
}
