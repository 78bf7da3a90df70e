package stats

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// A sample has the values with the lowest ranks, whether they came to it or to samples merged into
// it, and all values if there are fewer.
func TestSample_LowestRanks(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 100, 5000} {
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		one, other := NewSample[uint64](n, 1, 1), NewSample[uint64](n, 1, 2)
		var ranks []uint64
		for i := range 1000 {
			rank, s := rng.Uint64N(1<<40), one
			if i%3 == 0 {
				s = other
			}
			ranks = append(ranks, rank)
			if s.seen++; rank < s.kept[0].rank {
				s.Keep(rank, rank)
			}
		}
		one.Merge(other, func(*uint64) {})
		slices.Sort(ranks)
		got := one.Values(cmp.Compare[uint64])
		want := ranks[:min(n, len(ranks))]
		testenv.Check(t, slices.Equal(got, want) && one.Seen() == 1000, "%d of %d: %d values, want %d", n, one.Seen(), len(got), len(want))
	}
}

// Each value is in the sample equally often, the first and the last one too.
func TestSample_Uniform(t *testing.T) {
	const values, n, samples = 20, 5, 4000
	var times [values]float64
	for seed := range uint64(samples) {
		s := NewSample[int](n, seed, 7)
		for v := range values {
			if rank, keep := s.Draw(); keep {
				s.Keep(rank, v)
			}
		}
		testenv.Need(t, s.Seen() == values, "%d values seen", s.Seen())
		for _, v := range s.Values(cmp.Compare[int]) {
			times[v]++
		}
	}
	const mean = samples * n / values
	for v, k := range times {
		if k < mean-130 || k > mean+130 { // 4.7 standard deviations; the seeds are fixed
			t.Errorf("value %d is in %v of %d samples, want about %d", v, k, samples, mean)
		}
	}
}

func TestSample_Allocations(t *testing.T) {
	s := NewSample[[8]int](64, 1, 1)
	n := testing.AllocsPerRun(1000, func() {
		if rank, keep := s.Draw(); keep {
			s.Keep(rank, [8]int{})
		}
	})
	testenv.Check(t, n == 0, "%g allocations a value", n)
}
