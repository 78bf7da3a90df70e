// Package stats turns the results of legs into the figures of tables and reports: medians and their
// intervals, cost, and a summary of each contender over its rounds. It also says what those figures
// support: whether one sample (a value of each round) differs from another (Rule), which contenders
// cannot be told apart (Tiers), and where a history changed (ChangePoints). It is pure: no I/O, no
// clock, and the same answer every time. Reference values of the tests come from SciPy and R:
// testdata/reference.py and reference.R.
//
// Quantiles of latency are never averaged: over rounds, the histograms are merged (package hdr).
package stats

import (
	"math"
	"slices"
)

// MinInterval is the least number of values for which a 95 % interval of the median exists.
const MinInterval = 6

// Number is what can have a median: counts, durations, rates.
type Number interface{ ~int64 | ~float64 }

// Median is the middle value, or the mean of the two middle ones; ok is false without values.
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
	// Written so that it cannot overflow where both have the same sign.
	return low + (high-low)/2, true
}

// Interval is a confidence interval.
type Interval struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"-"` // that it really has: 0.96875 for six values
}

// MedianInterval is the narrowest symmetric interval between two values of the sample that holds
// the median of what it was drawn from with the wanted confidence (0.95, say), whatever the
// distribution: the number of values below it is binomial. ok is false of too small a sample.
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
