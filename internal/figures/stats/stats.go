// Package stats computes from the results of trials the numbers of tables and reports: medians and
// their CIs, cost, and a summary of each contender over its rounds. It also decides whether two
// samples (a value per round) differ (Rule), and which contenders are in one tier (Tiers). It is
// pure: no I/O and no clock. Reference values of the tests come from SciPy and R:
// testdata/reference.py and signed.R.
//
// Quantiles of latency are never averaged: over rounds, the histograms are merged (package hdr).
package stats

import (
	"fmt"
	"math"
	"slices"
)

// MinInterval is the minimum number of values for a 95% CI of the median.
const MinInterval = 6

// Number is a type with a median: counts, durations, rates.
type Number interface{ ~int64 | ~float64 }

// Median returns the middle value, or the mean of the two middle ones; ok is false without values.
func Median[T Number](xs []T) (median T, ok bool) {
	n := len(xs)
	if n == 0 {
		return 0, false
	}
	s := slices.Sorted(slices.Values(xs))
	if n%2 == 1 {
		return s[n/2], true
	}
	low, high := s[n/2-1], s[n/2]
	// This form cannot overflow if both have the same sign.
	return low + (high-low)/2, true
}

// Interval is a confidence interval.
type Interval struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"-"` // actual confidence: 0.96875 for six values
}

// MedianInterval returns the narrowest symmetric CI of the median with at least the confidence,
// between two values of the sample, for any distribution. ok is false if the sample is too small.
func MedianInterval(xs []float64, confidence float64) (Interval, bool) {
	n := len(xs)
	ways := make([]float64, n+1) // Binomial(n, 1/2); logarithms keep a large n in range
	for k := range ways {
		ways[k] = math.Exp(logChoose(n, k) - float64(n)*math.Ln2)
	}
	k, reached := cutTails(ways, confidence)
	if k == 0 || between("confidence", confidence) != nil {
		return Interval{}, false
	}
	s := slices.Sorted(slices.Values(xs))
	return Interval{s[k-1], s[n-k], reached}, true
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// MaxRounds limits the size of a sample, because tests look at every pair of values.
const MaxRounds = 1000

// The range of values for ratios: positive, and with a finite ratio of any two.
const (
	leastValue = 1e-150
	mostValue  = 1e150
)

// NeedRounds is the error of a method that got fewer values than it needs.
type NeedRounds struct {
	Have, Need int
}

func (e NeedRounds) Error() string {
	if e.Have == 1 {
		return fmt.Sprintf("1 round, need ≥ %d", e.Need)
	}
	return fmt.Sprintf("%d rounds, need ≥ %d", e.Have, e.Need)
}

// BadValue is the error about a value that is not finite or, for a ratio, not positive.
type BadValue struct {
	Index int // in the sample, from 0
	Value float64
	Why   string
}

func (e BadValue) Error() string {
	return fmt.Sprintf("round %d: value %g: %s", e.Index+1, e.Value, e.Why)
}

// finite checks samples for methods that compare values.
func finite(samples ...[]float64) error {
	for _, xs := range samples {
		if len(xs) > MaxRounds {
			return fmt.Errorf("sample: %d values: at most %d", len(xs), MaxRounds)
		}
		for i, x := range xs {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return BadValue{i, x, "not a finite number"}
			}
		}
	}
	return nil
}

// positive checks samples for methods that use ratios.
func positive(samples ...[]float64) error {
	for _, xs := range samples {
		if err := finite(xs); err != nil {
			return err
		}
		if i := slices.IndexFunc(xs, func(x float64) bool { return x < leastValue || x > mostValue }); i >= 0 {
			return BadValue{i, xs[i], "a ratio needs positive values"}
		}
	}
	return nil
}

// fromZero checks samples for methods that compare by ranks, where 0 is a value.
func fromZero(samples ...[]float64) error {
	for _, xs := range samples {
		if err := finite(xs); err != nil {
			return err
		}
		if i := slices.IndexFunc(xs, func(x float64) bool { return x != 0 && (x < leastValue || x > mostValue) }); i >= 0 {
			return BadValue{i, xs[i], "a ratio needs positive values"}
		}
	}
	return nil
}

// AllZero reports whether there are values and all are 0.
func AllZero(xs []float64) bool { return len(xs) > 0 && zeros(xs) == len(xs) }

// zeros returns how many values are 0.
func zeros(xs []float64) (n int) {
	for _, x := range xs {
		if x == 0 {
			n++
		}
	}
	return n
}

// between checks that a share is between 0 and 1, ends excluded.
func between(name string, share float64) error {
	if share > 0 && share < 1 {
		return nil
	}
	return fmt.Errorf("%s %g: not between 0 and 1", name, share)
}

// pairs checks that samples are paired.
func pairs(x, y []float64) error {
	if len(x) != len(y) {
		return fmt.Errorf("%d and %d values: not pairs", len(x), len(y))
	}
	return nil
}

func enough(need int, samples ...[]float64) error {
	for _, xs := range samples {
		if len(xs) < need {
			return NeedRounds{len(xs), need}
		}
	}
	return nil
}
