package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTiers(t *testing.T) {
	base := []float64{98, 99, 100, 101, 102, 103}
	samples := [][]float64{
		times(base, 0.5),               // 0: third tier
		base,                           // 1: with 2 and 3 in the first
		times(base, 1.01),              // 2: the best median
		{70, 80, 85, 90, 120, 130},     // 3: a low median, not significantly worse
		times(base, 0.8),               // 4: second
		{100, 101},                     // 5: too few rounds
		{1, 2, 3, 4, 5, 0},             // 6: no ratio
		times([]float64(base), 0.8001), // 7: second
	}
	got := Rule{}.Tiers(samples, true, false, nil)
	if fmt.Sprint(got.Tiers) != "[[2 1 3] [7 4] [0]]" || !slices.Equal(got.Unknown, []int{5, 6}) || got.RoundsNeeded != 0 || len(got.Pairs) != 15 {
		t.Errorf("%+v", got)
	}
	// Lower is better.
	if got = (Rule{}).Tiers(samples, false, false, nil); len(got.Tiers) != 3 || fmt.Sprint(got.Tiers[:2]) != "[[0] [4 7 3]]" {
		t.Errorf("tiers of times %+v", got.Tiers)
	}
	if got = (Rule{}).Tiers(nil, true, false, nil); got.Tiers != nil || got.Unknown != nil || got.RoundsNeeded != 0 {
		t.Error("nothing has tiers")
	}
}

// Eight contenders have 28 pairs, for which the smallest p value needs seven rounds per side.
func TestRoundsNeeded(t *testing.T) {
	samples := func(contenders, n int) [][]float64 {
		var all [][]float64
		for i := range contenders {
			s := make([]float64, n)
			for j := range s {
				s[j] = float64(100*(i+1) + j)
			}
			all = append(all, s)
		}
		return all
	}
	for _, test := range []struct{ contenders, rounds, tiers, needed int }{{2, 6, 2, 0}, {7, 6, 7, 0}, {8, 6, 1, 1}, {8, 7, 8, 0}, {1, 6, 1, 0}} {
		got := Rule{}.Tiers(samples(test.contenders, test.rounds), true, false, nil)
		if len(got.Tiers) != test.tiers || got.RoundsNeeded != test.needed {
			t.Errorf("%d contenders, %d rounds: %d tiers, %d more rounds needed", test.contenders, test.rounds, len(got.Tiers), got.RoundsNeeded)
		}
	}
}

func TestChangePoints(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 11))
	var series []float64
	for _, part := range []struct {
		n     int
		level float64
	}{{12, 100}, {10, 90}, {15, 110}} {
		series = append(series, rounds(rng, part.n, part.level, 0.01)...)
	}
	found, err := ChangePoints(series, 0.05)
	if err != nil || len(found) != 2 || found[0].At != 12 || found[1].At != 22 {
		t.Fatalf("found %+v, %v", found, err)
	}
	if c := found[0]; math.Abs(c.Before-100) > 2 || math.Abs(c.After-90) > 2 || c.P > 0.05 || c.P <= 0 {
		t.Errorf("first: %+v", c)
	}
	again, _ := ChangePoints(series, 0.05)
	if !slices.Equal(found, again) {
		t.Error("another result for the same series")
	}
	for name, series := range map[string][]float64{
		"none": nil, "one": {1}, "constant": {5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, "one outlier": {5, 5, 5, 5, 9, 5, 5, 5, 5, 5}, "five": {1, 1, 1, 9, 9},
	} {
		t.Run(name, func(t *testing.T) {
			if found, err := ChangePoints(series, 0.05); err != nil || len(found) != 0 {
				t.Errorf("%s: %+v, %v", name, found, err)
			}
		})
	}
	// Six against six, with too many permutations to try all, and three against three, where two of
	// twenty permutations are as clear.
	if found, _ := ChangePoints([]float64{1, 2, 3, 1, 2, 3, 7, 8, 9, 7, 8, 9}, 0.05); len(found) != 1 || found[0].At != 6 {
		t.Errorf("six against six: %+v", found)
	}
	if found, _ := ChangePoints([]float64{1, 2, 3, 4, 15, 16, 17, 18}, 0.05); len(found) != 1 || found[0].At != 4 {
		t.Errorf("four against four: %+v", found)
	}
	if _, err := ChangePoints([]float64{1, math.NaN()}, 0.05); err == nil {
		t.Error("not a number")
	}
	if _, err := ChangePoints([]float64{1, 2}, 1); err == nil {
		t.Error("alpha 1")
	}
}
