package stats

import (
	"fmt"
	"math"
	"slices"
)

// Ratio says how many times as large the values of one sample are as those of another.
type Ratio struct {
	Estimate  float64  // Hodges and Lehmann's: the median of the ratios of all pairs
	OfMedians float64  // the ratio of the two medians, as tables show them; it may lie outside the interval where a sample has gaps
	Interval  Interval // of the ratio
	Exact     bool     // the interval's confidence is at least as wanted; else it is approximated
}

// RatioOf tells the ratio of y to x with an interval of at least the wanted confidence (0.95, say).
//
// If y is distributed as x times an unknown factor, the factors that the Mann-Whitney test would
// not reject are those between the k-th smallest and the k-th largest ratio of all pairs, so that
// the interval and the test cannot disagree: it leaves 1 out where the test rejects. k comes from
// the null distribution of U: exact up to ExactLimit values, from there the normal approximation
// (J. L. Hodges and E. L. Lehmann, Annals of Mathematical Statistics 34, 1963; M. Hollander, D. A.
// Wolfe and E. Chicken, Nonparametric Statistical Methods, 2014, section 4.3, on logarithms). With
// ties the closed interval still has the confidence, and is wider than need be (G. E. Noether,
// Journal of the American Statistical Association 62, 1967).
//
// The error is a NeedRounds where the samples are too small for any interval of that confidence
// (for 0.95 four and four are enough), or a BadValue.
func RatioOf(x, y []float64, confidence float64) (Ratio, error) {
	if !(confidence > 0 && confidence < 1) {
		return Ratio{}, fmt.Errorf("ratio: confidence %g: not between 0 and 1", confidence)
	}
	for _, sample := range [][]float64{x, y} {
		if err := positive(sample); err != nil {
			return Ratio{}, fmt.Errorf("ratio: %w", err)
		}
	}
	n, m := len(x), len(y)
	if err := enough(1, x, y); err != nil {
		return Ratio{}, fmt.Errorf("ratio: %w", err)
	}
	k, reached := criticalRank(n, m, confidence)
	if k == 0 {
		return Ratio{}, fmt.Errorf("ratio: %w", NeedRounds{min(n, m), leastRounds(n, m, confidence)})
	}
	ratios := make([]float64, 0, n*m)
	for _, a := range x {
		for _, b := range y {
			ratios = append(ratios, b/a)
		}
	}
	slices.Sort(ratios)
	mx, _ := Median(x)
	my, _ := Median(y)
	return Ratio{
		Estimate:  geometricMiddle(ratios),
		OfMedians: my / mx,
		Interval:  Interval{Low: ratios[k-1], High: ratios[n*m-k], Confidence: reached},
		Exact:     n+m <= ExactLimit,
	}, nil
}

// geometricMiddle is the median on logarithms of sorted positive values.
func geometricMiddle(s []float64) float64 {
	n := len(s)
	if n%2 == 1 || s[n/2-1] == s[n/2] {
		return s[n/2]
	}
	return math.Sqrt(s[n/2-1]) * math.Sqrt(s[n/2])
}

// criticalRank is the largest k for which the interval from the k-th smallest to the k-th largest
// of the n·m pairs has the confidence, and the one that it reaches; 0 where there is none.
func criticalRank(n, m int, confidence float64) (k int, reached float64) {
	if n+m > ExactLimit {
		a, b := float64(n), float64(m)
		deviation := math.Sqrt(a * b * (a + b + 1) / 12)
		k = int(a*b/2 - normalQuantile((1+confidence)/2)*deviation)
		if k < 1 {
			return 0, 0
		}
		return k, confidence
	}
	// tail is P(U ≤ k−1); the interval from the k-th on has confidence 1 − 2·tail.
	tail := 0.0
	for u, p := range nullU(n, m) {
		tail += p
		if u+1 > n*m/2 || 1-2*tail < confidence {
			break
		}
		k, reached = u+1, 1-2*tail
	}
	return k, reached
}

// nullU is the distribution of U without ties under equal distributions: the chance of each value
// from 0 to n·m.
func nullU(n, m int) []float64 {
	// The number of ways is the coefficient of q^u in the Gaussian binomial: multiply by 1 −
	// q^(m+i), divide by 1 − q^i.
	ways := make([]float64, n*m+1)
	ways[0] = 1
	for i := 1; i <= n; i++ {
		for u := n * m; u >= m+i; u-- {
			ways[u] -= ways[u-m-i]
		}
		for u := i; u <= n*m; u++ {
			ways[u] += ways[u-i]
		}
	}
	all := 0.0
	for _, w := range ways {
		all += w
	}
	for u := range ways {
		ways[u] /= all
	}
	return ways
}

// leastRounds is how many values the smaller sample (or both, where they are equal) must have for
// an interval.
func leastRounds(n, m int, confidence float64) int {
	small, large := min(n, m), max(n, m)
	for size := small + 1; size <= MaxRounds; size++ {
		if k, _ := criticalRank(size, max(size, large), confidence); k > 0 {
			return size
		}
	}
	return MaxRounds
}
