package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Ratio is the ratio between the values of two samples.
type Ratio struct {
	Estimate float64 `json:"estimate"` // Hodges-Lehmann estimate: the median of the ratios of all pairs
	Interval         // CI of the ratio
}

// RatioOf returns the ratio of y to x with a CI of at least the confidence: the factors that the
// Mann-Whitney test would not reject, exact up to ExactLimit values (J. L. Hodges and E. L.
// Lehmann, Annals of Mathematical Statistics 34, 1963; M. Hollander, D. A. Wolfe and E. Chicken,
// Nonparametric Statistical Methods, 2014, section 4.3, on logarithms). With ties it is
// conservative. The error is a NeedRounds (0.95 takes four and four values), or a BadValue.
func RatioOf(x, y []float64, confidence float64) (Ratio, error) {
	if err := cmp.Or(between("confidence", confidence), positive(x, y), enough(1, x, y)); err != nil {
		return Ratio{}, fmt.Errorf("ratio: %w", err)
	}
	ratios := make([]float64, 0, len(x)*len(y))
	for _, a := range x {
		for _, b := range y {
			ratios = append(ratios, b/a)
		}
	}
	return newRatio("ratio", ratios, min(len(x), len(y)), func(rounds int) (int, float64) {
		return criticalRank(rounds, max(rounds, len(x), len(y)), confidence)
	})
}

// newRatio returns the Ratio for all ratios of a number of rounds. The CI is from the k-th smallest
// to the k-th largest ratio; critical returns k and the confidence for a number of rounds.
func newRatio(name string, ratios []float64, rounds int, critical func(int) (int, float64)) (Ratio, error) {
	k, confidence := critical(rounds)
	if k == 0 {
		need := rounds + 1
		for ; need < MaxRounds; need++ {
			if k, _ := critical(need); k > 0 {
				break
			}
		}
		return Ratio{}, fmt.Errorf("%s: %w", name, NeedRounds{rounds, need})
	}
	slices.Sort(ratios)
	return Ratio{geometricMiddle(ratios), Interval{ratios[k-1], ratios[len(ratios)-k], confidence}}, nil
}

// geometricMiddle returns the median of sorted positive values, on a logarithmic scale.
func geometricMiddle(s []float64) float64 {
	n := len(s)
	if n%2 == 1 || s[n/2-1] == s[n/2] {
		return s[n/2]
	}
	return math.Sqrt(s[n/2-1]) * math.Sqrt(s[n/2])
}

// criticalRank returns the largest k for which the interval from the k-th smallest to the k-th
// largest of the n·m pairs has the confidence, and the confidence reached; 0 if there is none.
func criticalRank(n, m int, confidence float64) (k int, reached float64) {
	if n+m > ExactLimit {
		a, b := float64(n), float64(m)
		return normalRank(a*b/2, a*b*(a+b+1)/12, confidence), confidence
	}
	n, m = min(n, m), max(n, m)
	least := n * (n + 1) / 2 // sum of the ranks
	return cutTails(rankSums(upTo(n+m), n)[least:least+n*m+1], confidence)
}

// normalRank returns the critical rank by the normal approximation.
func normalRank(mean, variance, confidence float64) int {
	return max(0, int(mean-normalQuantile((1+confidence)/2)*math.Sqrt(variance)))
}

// cutTails returns the largest k for which the values between the k lowest and the k highest have
// the confidence, and the confidence reached. ways counts the ways to reach each value.
func cutTails(ways []float64, confidence float64) (k int, reached float64) {
	all, tail := 0.0, 0.0
	for _, w := range ways {
		all += w
	}
	for i, w := range ways {
		tail += w / all
		if 1-2*tail < confidence {
			break
		}
		k, reached = i+1, 1-2*tail
	}
	return k, reached
}

// upTo returns the ranks of n distinct values.
func upTo(n int) []int {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	return ranks
}

// PairedRatio returns the ratio of y to x for paired values. The CI covers the geometric means of
// two ratios (each with itself included) that the signed-rank test would not reject, exact up to
// ExactLimit pairs (sources of RatioOf, sections 3.2 and 3.3). The error is a NeedRounds (0.95
// takes six pairs), or a BadValue.
func PairedRatio(x, y []float64, confidence float64) (Ratio, error) {
	if err := cmp.Or(between("confidence", confidence), pairs(x, y), positive(x, y)); err != nil {
		return Ratio{}, fmt.Errorf("paired ratio: %w", err)
	}
	return newRatio("paired ratio", walsh(x, y), len(x),
		func(rounds int) (int, float64) { return signedRank(rounds, confidence) })
}

// walsh returns the geometric means of any two ratios of y to x, each with itself included. It
// divides products, which leastValue and mostValue keep in the range of float64, so the mean of a
// ratio and its inverse is exactly 1.
func walsh(x, y []float64) (means []float64) {
	for i := range x {
		means = append(means, y[i]/x[i])
		for j := range i {
			means = append(means, math.Sqrt(y[i]*y[j])/math.Sqrt(x[i]*x[j]))
		}
	}
	return means
}

// SignedRank runs Wilcoxon's test on the logarithms of ratios (F. Wilcoxon, Biometrics Bulletin 1,
// 1945). U is the sum of the ranks of ratios above 1; equal pairs are omitted. Pairs of 0 and another
// value have the highest ranks, since their ratios have no bound. Up to ExactLimit pairs the p value
// is exact, even with ties.
func SignedRank(x, y []float64) (Test, error) {
	if err := cmp.Or(pairs(x, y), fromZero(x, y), enough(1, x)); err != nil {
		return Test{}, fmt.Errorf("signed-rank test: %w", err)
	}
	var off, size []float64 // of the pairs that differ
	for i := range x {
		if x[i] != y[i] {
			// The ranks are those of the logarithms. Quotients instead make equal ratios of
			// different values exactly equal.
			off, size = append(off, y[i]-x[i]), append(size, max(x[i], y[i])/min(x[i], y[i]))
		}
	}
	n := len(off)
	if n == 0 {
		return Test{P: 1, Exact: true, Ties: true, Paired: true}, nil
	}
	ranks, ties := doubledRanks(size)
	above := 0
	for i, r := range ranks {
		if off[i] > 0 {
			above += r
		}
	}
	t := Test{U: float64(above) / 2, Exact: n <= ExactLimit, Ties: ties > 0 || n < len(x), Paired: true}
	if t.Exact {
		t.P = twoSided(subsetSums(ranks), above)
		return t, nil
	}
	m := float64(n)
	t.P = normalP(t.U, m*(m+1)/4, m*(m+1)*(2*m+1)/24-ties/48)
	return t, nil
}

// subsetSums counts, for every sum, the subsets of the ranks with that sum.
func subsetSums(ranks []int) []float64 {
	ways := make([]float64, sum(ranks)+1)
	ways[0] = 1
	reached := 0
	for _, r := range ranks {
		reached += r
		for s := reached; s >= r; s-- {
			ways[s] += ways[s-r]
		}
	}
	return ways
}

// signedRank returns the critical rank among the n·(n+1)/2 means of pairs, as criticalRank does.
func signedRank(n int, confidence float64) (k int, reached float64) {
	if m := float64(n); n > ExactLimit {
		return normalRank(m*(m+1)/4, m*(m+1)*(2*m+1)/24, confidence), confidence
	}
	return cutTails(subsetSums(upTo(n)), confidence)
}

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
