package stats

import (
	"fmt"
	"math"
	"slices"
)

// MaxRounds bounds the size of a sample: tests look at every pair of values.
const MaxRounds = 1000

// The values of a sample for tests and ratios: positive, and far enough from the ends of float64
// that a ratio of two is finite.
const (
	leastValue = 1e-150
	mostValue  = 1e150
)

// NeedRounds is the answer of a method that was given fewer values than it takes; it is an error.
type NeedRounds struct {
	Have, Need int
}

func (e NeedRounds) Error() string {
	if e.Have == 1 {
		return fmt.Sprintf("1 round, need ≥ %d", e.Need)
	}
	return fmt.Sprintf("%d rounds, need ≥ %d", e.Have, e.Need)
}

// BadValue tells of a value that no method here takes: not a number, infinite, or, for a ratio, not
// positive; it is an error.
type BadValue struct {
	Index int // in the sample, from 0
	Value float64
	Why   string
}

func (e BadValue) Error() string {
	return fmt.Sprintf("round %d: value %g: %s", e.Index+1, e.Value, e.Why)
}

// finite checks samples for methods that only compare values.
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

// positive checks samples for methods that look at ratios.
func positive(samples ...[]float64) error {
	for _, xs := range samples {
		if err := finite(xs); err != nil {
			return err
		}
		if i := slices.IndexFunc(xs, func(x float64) bool { return x < leastValue || x > mostValue }); i >= 0 {
			return BadValue{i, xs[i], "a ratio takes positive values"}
		}
	}
	return nil
}

// between checks a share.
func between(name string, share float64) error {
	if share > 0 && share < 1 {
		return nil
	}
	return fmt.Errorf("%s %g: not between 0 and 1", name, share)
}

// pairs checks samples of which the i-th values belong together.
func pairs(x, y []float64) error {
	if len(x) != len(y) {
		return fmt.Errorf("%d values and %d, which are no pairs", len(x), len(y))
	}
	return positive(x, y)
}

func enough(need int, samples ...[]float64) error {
	for _, xs := range samples {
		if len(xs) < need {
			return NeedRounds{len(xs), need}
		}
	}
	return nil
}
