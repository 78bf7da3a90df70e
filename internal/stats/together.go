package stats

import (
	"maps"
	"slices"

	"locbench/internal/bench"
)

// MinPaired is how many rounds in turns it takes to find a difference in one of five measures: the
// smallest p value of n pairs is 2 / 2ⁿ.
const MinPaired = 8

// Together keeps, of the legs of several sides, those of the rounds in which all sides took turns
// with each other and were complete, in the same order for each: the i-th values belong together.
// ok is false where there is no such round, or one side has several legs of it.
func Together(sides ...[]bench.LegResult) (kept [][]bench.LegResult, ok bool) {
	if len(sides) < 2 {
		return nil, false
	}
	rounds := make([]map[int64]bench.LegResult, len(sides)) // by when they began
	for i, legs := range sides {
		rounds[i] = map[int64]bench.LegResult{}
		for _, leg := range legs {
			since, turns := leg.TookTurns()
			if !turns || leg.State != bench.LegComplete {
				continue
			}
			if _, twice := rounds[i][since.UnixNano()]; twice {
				return nil, false
			}
			rounds[i][since.UnixNano()] = leg
		}
	}
	kept = make([][]bench.LegResult, len(sides))
	for _, k := range slices.Sorted(maps.Keys(rounds[0])) {
		if slices.ContainsFunc(rounds, func(r map[int64]bench.LegResult) bool { _, there := r[k]; return !there }) {
			continue
		}
		for i, r := range rounds {
			kept[i] = append(kept[i], r[k])
		}
	}
	return kept, len(kept[0]) > 0
}

// SameLength tells whether all samples have as many values, as samples must whose values belong
// together.
func SameLength(samples ...[]float64) bool {
	return !slices.ContainsFunc(samples, func(s []float64) bool { return len(s) != len(samples[0]) })
}
