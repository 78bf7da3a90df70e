package analysis

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// EqualLoad returns the rate at which the latencies of contenders are set side by side: two thirds
// of the lowest peak of those that are compared, rounded down to one digit; 0 without closed-loop
// steps of at least two of them.
func EqualLoad(all []Contender) float64 {
	lowest, n := math.Inf(1), 0
	for _, c := range all {
		if peak, ok := c.PeakStep(); ok && !peak.Step.Open() && c.WhyExcluded() == "" {
			lowest, n = min(lowest, peak.Throughput.Median), n+1
		}
	}
	if n < 2 || lowest < 2 {
		return 0
	}
	rate := lowest * 2 / 3
	digit := math.Pow10(int(math.Floor(math.Log10(rate))))
	return math.Floor(rate/digit) * digit
}

// LatencyAt is a latency at a rate, from closed-loop steps.
type LatencyAt struct {
	Value  time.Duration
	AtMost bool // all steps have higher rates: the value is the lowest of theirs
}

// P99At returns the p99 of a contender at a rate: between the two steps up to its peak whose
// throughputs enclose the rate, interpolated on a logarithmic scale. ok is false above its peak, or
// without valid steps.
func (c Contender) P99At(rate float64) (at LatencyAt, ok bool) {
	peak, ok := c.PeakStep()
	if !ok || rate <= 0 || rate > peak.Throughput.Median {
		return at, false
	}
	m := measure.Get(measure.P99)
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
			return LatencyAt{time.Duration(p99), true}, true
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
