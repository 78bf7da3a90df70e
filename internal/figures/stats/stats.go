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

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
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

// Step is one step of a contender over all rounds that completed it.
type Step struct {
	Index          int
	Step           bench.Step
	Rounds         int                 // rounds that completed it; all values except Outcomes and Requests are of these
	Aborted        int                 // rounds in which it ended early
	Excluded       bool                // too many errors or unexpected bodies: it is never the peak, and not compared
	Drifting       int                 // of Rounds: with a bench.Drift
	Warming        int                 // of Drifting: rounds in which the contender became faster
	bench.Outcomes                     // in all rounds, aborted ones included, with lead-ins and drains
	Requests       []bench.RequestLoad // the same by kind of request; without latencies
	Throughput     Value               // successes per second
	Latency        bench.Latencies     // of the successes of all rounds; see Histogram
	Results        []bench.StepResult  // of the rounds that completed it; package measure takes all other values from them
}

// Answered returns in how many rounds a request succeeded within the measured interval.
func (s Step) Answered() (rounds int) {
	for _, v := range s.Throughput.Values {
		if v > 0 {
			rounds++
		}
	}
	return rounds
}

// ErrorRate returns bench.Load.ErrorRate of all rounds together; 0 without any request.
func (s Step) ErrorRate() float64 { return s.all().ErrorRate() }

// StatusWords returns "200: 1,449, 429: 5,798; rejected 80% of requests (429)"; "" if all responses
// had the same status and none was rejected.
func (s Step) StatusWords() string {
	text, rejected := s.Statuses.String(), s.RejectedWords()
	switch {
	case rejected != "":
		return text + "; " + rejected
	case len(s.Statuses) > 1:
		return text
	}
	return ""
}

// all returns the counts of all rounds.
func (s Step) all() bench.Load {
	return bench.Load{Outcomes: s.Outcomes, Requests: s.Requests}
}

// newStep summarizes one step. An error is about the latency only.
func newStep(rounds []bench.StepResult, merge bool) (Step, error) {
	s := Step{Index: rounds[0].Index, Step: rounds[0].Step}
	var throughput []float64
	for _, r := range rounds {
		if r.Ending == bench.EndedByNeed { // its errors are not the contender's
			s.Aborted++
			continue
		}
		s.Outcomes.Add(r.Load.Whole())
		s.Requests = bench.SumRequests(s.Requests, r.Load.Requests)
		if r.Aborted != "" {
			s.Aborted++
			continue
		}
		s.Rounds++
		if r.Drift.Own() {
			s.Drifting++
			if r.Drift.Warming() {
				s.Warming++
			}
		}
		throughput = append(throughput, r.Load.Throughput())
		s.Results = append(s.Results, r)
	}
	s.Throughput = NewValue(throughput)
	switch {
	case len(s.Results) == 1:
		s.Latency = s.Results[0].Load.Latency
	case merge:
		h, err := s.Histogram()
		s.Latency = h.Quantiles()
		return s, err
	}
	return s, nil
}

// Histogram returns the merged latencies of all rounds, which are not cached; nil without any.
func (s Step) Histogram() (*hdr.Histogram, error) {
	rounds := make([]bench.Latencies, len(s.Results))
	for i, r := range s.Results {
		rounds[i] = r.Load.Latency
	}
	return hdr.Merge(rounds...)
}

// excluded reports whether the step has too many errors or, in any round, unexpected bodies.
func (s Step) excluded(rounds []bench.StepResult, p bench.Profile) bool {
	for _, r := range rounds {
		if _, over := r.Load.TooManyUnexpected(p.MaxUnexpected); over {
			return true
		}
	}
	worst, _ := s.all().WorstErrors()
	return worst > p.ErrorsAllowed()
}

// Steady returns which of its Results were in a steady state, and whether it can be compared: enough were
// for a verdict, or all but one in eight.
func (s Step) Steady() (of []bool, enough bool) {
	least := MinInterval
	for _, r := range s.Results {
		of = append(of, !r.Drift.Own())
		if r.Interleave != nil && len(r.Interleave.With) > 0 {
			least = MinPaired
		}
	}
	return of, s.Drifting == 0 || s.Rounds-s.Drifting >= least || 8*s.Drifting <= s.Rounds
}

// KeepSteady returns which rounds are compared; nil: all, as these are less than a verdict takes.
func KeepSteady(steady []bool, least int) []bool {
	left := 0
	for _, is := range steady {
		if is {
			left++
		}
	}
	if left < least || left == len(steady) {
		return nil
	}
	return steady
}

// DriftWords returns "still warming up in 2 of 6 rounds"; "" if all were in a steady state.
func (s Step) DriftWords() string {
	if s.Drifting == 0 {
		return ""
	}
	name := bench.Unstable
	if s.Warming > 0 {
		name = bench.StillWarmingUp
	}
	if s.Rounds == 1 {
		return name
	}
	return fmt.Sprintf("%s in %d of %d rounds", name, s.Drifting, s.Rounds)
}
