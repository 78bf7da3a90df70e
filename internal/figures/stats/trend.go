package stats

import (
	"cmp"
	"math"
	"slices"
)

// Trend tests a sample, in the order of the rounds, for a trend. s is Kendall's S, and p its
// two-sided p value (H. B. Mann, Econometrica 13, 1945): exact without ties up to ExactLimit
// values, with ties up to eight. p is 1 below MinOutlierValues values, or if a value is not a
// number.
func Trend(xs []float64) (s int, p float64) {
	n := len(xs)
	if n < MinOutlierValues || finite(xs) != nil {
		return 0, 1
	}
	ranks, _ := doubledRanks(xs)
	s = kendall(ranks)
	size := max(s, -s)
	switch tied := ties(ranks); {
	case size == 0:
		return s, 1
	case len(tied) == 0 && n <= ExactLimit:
		return s, kendallP(n, size)
	case n <= allOrders:
		return s, shareOfOrders(ranks, func(order []int) bool {
			o := kendall(order)
			return max(o, -o) >= size
		})
	default:
		of := func(t float64) float64 { return t * (t - 1) * (2*t + 5) }
		variance := of(float64(n))
		for _, t := range tied {
			variance -= of(float64(t))
		}
		return s, math.Erfc(float64(size-1) / math.Sqrt(variance/18) / math.Sqrt2)
	}
}

func kendall(ranks []int) (s int) {
	for i, a := range ranks {
		for _, b := range ranks[i+1:] {
			s += cmp.Compare(b, a)
		}
	}
	return s
}

// ties returns the sizes of the groups of equal ranks.
func ties(ranks []int) (sizes []int) {
	count := map[int]int{}
	for _, r := range ranks {
		count[r]++
	}
	for _, c := range count {
		if c > 1 {
			sizes = append(sizes, c)
		}
	}
	return sizes
}

// kendallP returns the chance that |S| of n distinct values in random order is at least size.
func kendallP(n, size int) float64 {
	// S is the number of pairs minus twice the inversions. The share of permutations of i values with
	// k inversions is the mean over those of i−1 values with k−i+1 to k inversions.
	pairs := n * (n - 1) / 2
	share := make([]float64, pairs+1)
	share[0] = 1
	for i := 2; i <= n; i++ {
		next := make([]float64, pairs+1)
		for k, v := range share {
			for j := k; j < min(k+i, pairs+1); j++ {
				next[j] += v / float64(i)
			}
		}
		share = next
	}
	p := 0.0
	for k, v := range share {
		if s := pairs - 2*k; max(s, -s) >= size {
			p += v
		}
	}
	return min(1, p)
}

// allOrders is the number of values up to which all permutations are tried.
const allOrders = 8

// shareOfOrders returns the share of all permutations of xs for which holds returns true.
func shareOfOrders(xs []int, holds func([]int) bool) float64 {
	as, all, order := 0, 0, slices.Clone(xs)
	permute(order, len(order), func() {
		if all++; holds(order) {
			as++
		}
	})
	return float64(as) / float64(all)
}

// permute calls visit for every order of the first k values (Heap's algorithm).
func permute(xs []int, k int, visit func()) {
	if k <= 1 {
		visit()
		return
	}
	for i := range k {
		permute(xs, k-1, visit)
		if i == k-1 {
			return
		}
		if k%2 == 0 {
			xs[i], xs[k-1] = xs[k-1], xs[i]
		} else {
			xs[0], xs[k-1] = xs[k-1], xs[0]
		}
	}
}
