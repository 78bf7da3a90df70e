package analysis

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// sustained is the least share of its rate that an open-loop step has as throughput.
const sustained = 0.95

// EqualLoad returns the rate at which the latencies of contenders are set side by side: the highest
// rate of an open-loop step that all which are compared sustain, else two thirds of their lowest
// peak, rounded down to one digit; 0 without closed-loop steps of at least two of them.
func EqualLoad(all []Contender) float64 {
	lowest, n := math.Inf(1), 0
	var rates []float64
	for _, c := range all {
		if peak, ok := c.PeakStep(); ok && !peak.Step.Open() && c.WhyExcluded() == "" {
			lowest, n = min(lowest, peak.Throughput.Median), n+1
			for _, s := range c.Steps {
				rates = append(rates, rateOf(s))
			}
		}
	}
	slices.Sort(rates)
	for _, rate := range slices.Backward(rates) {
		if rate > 0 && n > 1 && !slices.ContainsFunc(all, func(c Contender) bool {
			_, ok := c.stepAt(rate)
			return !ok && c.WhyExcluded() == ""
		}) {
			return rate
		}
	}
	if n < 2 || lowest < 2 {
		return 0
	}
	rate := lowest * 2 / 3
	digit := math.Pow10(int(math.Floor(math.Log10(rate))))
	return math.Floor(rate/digit) * digit
}

// stepAt returns the open-loop step with a constant rate, that of all requests, which c sustains.
func (c Contender) stepAt(rate float64) (at stats.Step, ok bool) {
	for _, s := range c.Steps {
		own := rateOf(s)
		if s.Step.CheckInterleave() == nil && own > 0 && math.Abs(math.Log(own/rate)) <= math.Log1p(maxRateApart) &&
			!s.Step.WarmUp && !s.Excluded && s.Step.Request == "" && s.Throughput.Median >= sustained*own &&
			measure.Get(measure.P99).Over(s).Known {
			return s, true
		}
	}
	return at, false
}

// LatencyAt is a latency at a rate.
type LatencyAt struct {
	Value    time.Duration
	Measured bool // at an open-loop step with this rate; else from closed-loop steps
	AtMost   bool // all steps have higher rates: the value is the lowest of theirs
}

// P99At returns the p99 of a contender at a rate: at an open-loop step with this rate, else between
// the two closed-loop steps up to its peak whose throughputs enclose the rate, interpolated on a
// logarithmic scale. ok is false above its peak, or without valid steps.
func (c Contender) P99At(rate float64) (at LatencyAt, ok bool) {
	peak, ok := c.PeakStep()
	if !ok || rate <= 0 || rate > peak.Throughput.Median {
		return at, false
	}
	m := measure.Get(measure.P99)
	if s, ok := c.stepAt(rate); ok {
		return LatencyAt{Value: time.Duration(m.Over(s).Value), Measured: true}, true
	}
	var steps []stats.Step
	for _, s := range c.Steps {
		if !s.Step.WarmUp && !s.Excluded && !s.Step.Open() && s.Step.Request == peak.Step.Request && s.Rounds > 0 &&
			s.Index <= peak.Index && m.Over(s).Known && s.Throughput.Median > 0 {
			steps = append(steps, s)
		}
	}
	slices.SortStableFunc(steps, func(a, b stats.Step) int { return cmp.Compare(a.Throughput.Median, b.Throughput.Median) })
	for i, s := range steps {
		above, p99 := s.Throughput.Median, m.Over(s).Value
		switch {
		case above < rate:
		case i == 0 && above > rate:
			for _, faster := range steps { // at a lower rate the latency is not higher than at any of these
				p99 = min(p99, m.Over(faster).Value)
			}
			return LatencyAt{Value: time.Duration(p99), AtMost: true}, true
		case i == 0:
			return LatencyAt{Value: time.Duration(p99)}, true
		default:
			below, before := steps[i-1].Throughput.Median, m.Over(steps[i-1]).Value
			share := (rate - below) / (above - below)
			return LatencyAt{Value: time.Duration(math.Exp(math.Log(before) + share*math.Log(p99/before)))}, true
		}
	}
	return at, false
}
