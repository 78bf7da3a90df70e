package analysis

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// Requests returns each kind of request at a step over the rounds that completed it; its latencies
// are those of all of them.
func (c Contender) Requests(step stats.Step) []bench.RequestLoad {
	if c.kinds == nil {
		return requestsOf(step)
	}
	once, _ := c.kinds.LoadOrStore(step.Index, sync.OnceValue(func() []bench.RequestLoad { return requestsOf(step) }))
	return once.(func() []bench.RequestLoad)()
}

// requestsOf takes a millisecond for each kind and round.
func requestsOf(step stats.Step) (all []bench.RequestLoad) {
	latencies := map[string][]bench.Latencies{}
	for _, s := range step.Results {
		for _, r := range s.Load.Requests {
			latencies[r.Name] = append(latencies[r.Name], r.Latency)
		}
		all = bench.SumRequests(all, s.Load.Requests)
	}
	for i := range all {
		h, err := hdr.Merge(latencies[all[i].Name]...)
		if all[i].Latency = h.Quantiles(); err != nil { // unreadable: no latencies
			all[i].Latency = bench.Latencies{}
		}
	}
	return all
}

// forMix returns ref with the step at which kinds of requests are compared: that of latency, or, if
// its rate is that of the slowest contender, a closed-loop step, which has more requests.
func (ref Contender) forMix() Contender {
	if step, _, _ := ref.Half(); step.LowestPeak {
		if closed := ref.halfAt(ref.ClosedHalf()); closed.ok {
			ref.half = closed
		}
	}
	return ref
}

// MixStep returns the step at which requests of the mix are shown: of several contenders the one at
// which their kinds are compared; of one that was not measured there, its busiest.
func (c Contender) MixStep() (stats.Step, bool) {
	if c.of != nil && len(c.of.Contenders) > 1 {
		if step, _, ok := c.of.family().ref.forMix().Half(); ok {
			if s := c.measured(step); s.Rounds > 0 {
				return s, true
			}
		}
	}
	return c.BusiestStep()
}

// Kind is a kind of request of the mix on both sides.
type Kind struct {
	Name   string
	Sides  [2]bench.RequestLoad   // over all rounds; Name is "" if the side has none
	Rounds [2][]bench.RequestLoad // of each round that is compared
}

// Kinds returns each kind of request of two contenders at one step, by forMix; none where a side was
// not measured there.
func (c Couple) Kinds() (all []Kind, at bench.Step) {
	m, ref := measure.Get(measure.P99Half), c.Ref.forMix()
	for i, side := range []Contender{c.A, c.B} {
		whole := c.whole[i].StepOf(m, ref)
		if whole.Rounds == 0 {
			return nil, at
		}
		at = whole.Step
		kind := func(name string) *Kind {
			k := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name })
			if k < 0 {
				k, all = len(all), append(all, Kind{Name: name})
			}
			return &all[k]
		}
		for _, r := range c.whole[i].Requests(whole) {
			kind(r.Name).Sides[i] = r
		}
		rounds := side.StepOf(m, ref).Results
		for n, s := range rounds {
			for _, r := range s.Load.Requests {
				k := kind(r.Name)
				if k.Rounds[i] == nil {
					k.Rounds[i] = make([]bench.RequestLoad, len(rounds))
				}
				k.Rounds[i][n] = r
			}
		}
	}
	return all, at
}

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
