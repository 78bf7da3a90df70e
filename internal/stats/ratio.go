package stats

import (
	"cmp"
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
// It has the factors that the Mann-Whitney test would not reject: those between the k-th smallest
// and the k-th largest ratio of all pairs, with k from the null distribution of U, exact up to
// ExactLimit values, from there the normal approximation (J. L. Hodges and E. L. Lehmann, Annals of
// Mathematical Statistics 34, 1963; M. Hollander, D. A. Wolfe and E. Chicken, Nonparametric
// Statistical Methods, 2014, section 4.3, on logarithms). With ties it is wider than need be (G. E.
// Noether, Journal of the American Statistical Association 62, 1967). The error is a NeedRounds
// where there are too few values (for 0.95 four and four are enough), or a BadValue.
func RatioOf(x, y []float64, confidence float64) (Ratio, error) {
	if !(confidence > 0 && confidence < 1) {
		return Ratio{}, fmt.Errorf("ratio: confidence %g: not between 0 and 1", confidence)
	}
	if err := cmp.Or(positive(x), positive(y), enough(1, x, y)); err != nil {
		return Ratio{}, fmt.Errorf("ratio: %w", err)
	}
	n, m := len(x), len(y)
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
	return newRatio(x, y, ratios, k, reached, n+m <= ExactLimit), nil
}

// newRatio is made of all ratios, of which the interval is from the k-th smallest to the k-th largest.
func newRatio(x, y, ratios []float64, k int, confidence float64, exact bool) Ratio {
	slices.Sort(ratios)
	mx, _ := Median(x)
	my, _ := Median(y)
	in := Interval{Low: ratios[k-1], High: ratios[len(ratios)-k], Confidence: confidence}
	return Ratio{Estimate: geometricMiddle(ratios), OfMedians: my / mx, Interval: in, Exact: exact}
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
	return cutTails(nullU(n, m), 1, confidence)
}

// cutTails is the largest k for which the k lowest of all ways and the k highest leave the confidence
// between them.
func cutTails(ways []float64, all, confidence float64) (k int, reached float64) {
	tail := 0.0
	for i, w := range ways[:(len(ways)-1)/2] {
		tail += w / all
		if 1-2*tail < confidence {
			break
		}
		k, reached = i+1, 1-2*tail
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
