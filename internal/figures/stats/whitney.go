package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// ExactLimit is the total number of values up to which MannWhitney is exact.
const ExactLimit = 60

// Test is the result of MannWhitney or SignedRank.
type Test struct {
	// number of pairs in which x is larger, ties count one half; Paired: sum of the ranks in which y
	// is larger
	U      float64
	P      float64 // two-sided: twice the smaller tail, at most 1
	Exact  bool    // false: normal approximation
	Ties   bool    // some values are equal
	Paired bool    // signed-rank test
}

// MannWhitney tests whether x and y come from the same distribution (H. B. Mann and D. R. Whitney,
// Annals of Mathematical Statistics 18, 1947). Up to ExactLimit values the p value is exact, even
// with ties (E. L. Lehmann, Nonparametrics, 1975, section 1.4). Beyond, it is approximated.
func MannWhitney(x, y []float64) (Test, error) {
	if err := cmp.Or(finite(x, y), enough(1, x, y)); err != nil {
		return Test{}, fmt.Errorf("test: %w", err)
	}
	ranks, ties := doubledRanks(slices.Concat(x, y))
	n, m := len(x), len(y)
	of := sum(ranks[:n])
	t := Test{U: float64(of-n*(n+1)) / 2, Exact: n+m <= ExactLimit, Ties: ties > 0}
	if t.Exact {
		t.P = exactP(ranks, n, of)
	} else {
		t.P = normalP(t.U, float64(n*m)/2, varianceOfU(float64(n), float64(m), ties))
	}
	return t, nil
}

// doubledRanks returns twice the mid-ranks of all values, which are integers, and the sum of t³ − t
// over the groups of t equal values.
func doubledRanks(all []float64) (ranks []int, ties float64) {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(all[a], all[b]) })
	ranks = make([]int, len(all))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && all[order[j]] == all[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			ranks[k] = i + 1 + j // first rank i+1, last rank j
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	return ranks, ties
}

// exactP returns the p value of the sum of n doubled ranks.
func exactP(ranks []int, n, of int) float64 {
	// Use the smaller sample: the other one has the rest of the sum.
	if n > len(ranks)-n {
		n, of = len(ranks)-n, sum(ranks)-of
	}
	return twoSided(rankSums(ranks, n), of)
}

// rankSums counts, for every sum, the subsets of n ranks with that sum.
func rankSums(ranks []int, n int) []float64 {
	width := sum(ranks) + 1
	counts := make([]float64, (n+1)*width)
	counts[0] = 1
	reached := 0
	for i, r := range ranks {
		reached += r
		for size := min(i+1, n); size >= 1; size-- {
			from, to := counts[(size-1)*width:size*width], counts[size*width:(size+1)*width]
			for s := reached; s >= r; s-- {
				to[s] += from[s-r]
			}
		}
	}
	return counts[n*width:]
}

func sum(xs []int) (all int) {
	for _, x := range xs {
		all += x
	}
	return all
}

// twoSided returns twice the smaller tail, at most 1, of a distribution over 0, 1, 2 …
func twoSided(ways []float64, at int) float64 {
	var below, above, all float64
	for s, w := range ways {
		all += w
		if s <= at {
			below += w
		}
		if s >= at {
			above += w
		}
	}
	return min(1, 2*min(below, above)/all)
}

func varianceOfU(n, m, ties float64) float64 { return n * m / 12 * (n + m + 1 - ties/((n+m)*(n+m-1))) }

// normalP returns the p value by the normal approximation, with a continuity correction of 1/2.
func normalP(u, mean, variance float64) float64 {
	if variance <= 0 { // all values are the same
		return 1
	}
	z := (math.Abs(u-mean) - 0.5) / math.Sqrt(variance)
	return min(1, math.Erfc(z/math.Sqrt2))
}

// normalQuantile returns the p quantile of the standard normal distribution.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// Weighted is a p value of a family of tests.
type Weighted struct {
	P      float64
	Weight float64 // share of the family's error, of tests that have one place in it together; 0: 1
}

func (w Weighted) weight() float64 { return cmp.Or(w.Weight, 1) }

// tests returns for how many tests test i of a family is corrected at most.
func tests(family []Weighted, i int) int {
	sum := 0.0
	for _, w := range family {
		sum += w.weight()
	}
	return int(math.Ceil(sum/family[i].weight() - 1e-9))
}

// Holm returns the p values of a family of tests, corrected for their number and weights (S. Holm,
// Scandinavian Journal of Statistics 6, 1979). The tests may depend on each other. A value outside 0
// to 1 becomes 1; the order stays.
func Holm(family []Weighted) []float64 {
	order := make([]int, len(family))
	adjusted := make([]float64, len(family))
	rest := 0.0
	for i, w := range family {
		order[i], adjusted[i] = i, 1
		if w.P >= 0 && w.P <= 1 {
			adjusted[i] = w.P
		}
		rest += w.weight()
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(adjusted[a]/family[a].weight(), adjusted[b]/family[b].weight())
	})
	largest := 0.0
	for _, k := range order {
		largest = max(largest, min(1, adjusted[k]/family[k].weight()*rest))
		rest -= family[k].weight()
		adjusted[k] = largest
	}
	return adjusted
}
