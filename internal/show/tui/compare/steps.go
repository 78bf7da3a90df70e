package compare

import (
	"cmp"
	"slices"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// StepPair is one step of two runs; the values of a side without it are not Known.
type StepPair struct {
	Step     bench.Step
	InA, InB bool
	Values   // of the measures of measure.PairSteps
}

// StepPairs pairs the steps of a and b with the same load (connections or rate), equal ones in
// their order. Steps without a partner keep their place.
func StepPairs(a, b analysis.Contender) (out []StepPair) {
	alone := make([]*stats.Step, len(b.Steps)) // those of b without a partner
	for j := range b.Steps {
		alone[j] = &b.Steps[j]
	}
	partner := make([]int, len(a.Steps))
	for i, s := range a.Steps {
		j := slices.IndexFunc(alone, func(t *stats.Step) bool { return t != nil && s.Step.Same(t.Step) })
		if partner[i] = j; j >= 0 {
			alone[j] = nil
		}
	}
	next := 0
	onlyB := func(until int) {
		for ; next < until; next++ {
			if alone[next] != nil {
				out = append(out, pairOf(nil, alone[next]))
			}
		}
	}
	for i, j := range partner {
		onlyB(j)
		var other *stats.Step
		if j >= 0 {
			other = &b.Steps[j]
		}
		out = append(out, pairOf(&a.Steps[i], other))
	}
	onlyB(len(b.Steps))
	return out
}

func pairOf(a, b *stats.Step) StepPair {
	p := StepPair{InA: a != nil, InB: b != nil, Step: cmp.Or(a, b).Step}
	a, b = cmp.Or(a, &stats.Step{}), cmp.Or(b, &stats.Step{})
	for _, m := range measure.View(measure.PairSteps) {
		p.Values = append(p.Values, Value{Shown: m, A: m.Over(*a), B: m.Over(*b)})
	}
	return p
}
