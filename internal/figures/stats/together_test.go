package stats

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// interleaved returns a round that started at since; 0: not interleaved.
func interleaved(round int, since int64, state bench.TrialState) bench.TrialResult {
	l := bench.TrialResult{Trial: bench.Trial{Contender: "x", Round: round}, State: state, Steps: []bench.StepResult{{}}}
	if since > 0 {
		l.Steps = append(l.Steps, bench.StepResult{Interleave: &bench.Interleave{Since: time.Unix(since, 0),
			With: []string{"y"}}})
	}
	return l
}

func TestTogether(t *testing.T) {
	const done = bench.TrialComplete
	a := []bench.TrialResult{interleaved(1, 10, done), interleaved(2, 20, done), interleaved(3, 30, bench.TrialFailed),
		interleaved(4, 0, done), interleaved(5, 50, done)}
	b := []bench.TrialResult{interleaved(5, 50, done), interleaved(1, 10, done), interleaved(2, 21, done),
		interleaved(3, 30, done)} // the second one of another table
	kept, ok := Together(a, b)
	testenv.Need(t, ok && len(kept) == 2 && len(kept[0]) == 2 && len(kept[1]) == 2, "%v, kept %+v", ok, kept)
	for _, side := range kept {
		testenv.Check(t, side[0].Trial.Round == 1 && side[1].Trial.Round == 5,
			"rounds %d and %d", side[0].Trial.Round, side[1].Trial.Round)
	}
	for name, sides := range map[string][][]bench.TrialResult{
		"one side": {a}, "none": nil, "nothing in common": {a[:1], b[:1]}, "at a stretch": {a[3:4], a[3:4]},
		"twice": {append(a, a[0]), b},
	} {
		t.Run(name, func(t *testing.T) {
			kept, ok := Together(sides...)
			testenv.Check(t, !ok, "%s: %+v", name, kept)
		})
	}
}

func TestTiersOfPairs(t *testing.T) {
	var samples [][]float64
	for k := range 3 {
		var s []float64
		for i := range 10 {
			s = append(s, float64(1+i%5)*(1-.1*float64(k))*(1+.001*float64((i+k)%3)))
		}
		samples = append(samples, s)
	}
	got := (Rule{}).Tiers(samples, true, true, nil)
	testenv.Check(t, len(got.Tiers) == 3, "round against round: %+v", got)
	testenv.Equal(t, len((Rule{}).Tiers(samples, true, false, nil).Tiers), 1, "side by side")
	// The smallest p value of n pairs is 2 / 2ⁿ; three comparisons take seven rounds.
	for i := range samples {
		samples[i] = samples[i][:6]
	}
	testenv.Equal(t, len((Rule{}).Tiers(samples, true, true, nil).Tiers), 1, "six rounds")
}
