package stats

import (
	"cmp"
	"fmt"
	"math"
)

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
