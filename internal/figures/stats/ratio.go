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
