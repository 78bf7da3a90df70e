package analysis

import (
	"slices"
	"sync"

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
