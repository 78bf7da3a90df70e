package compare

import (
	"cmp"
	"slices"

	"locbench/internal/analysis"
	"locbench/internal/bench"
	"locbench/internal/measure"
	"locbench/internal/stats"
)

// StepPair is one step of the ladder in two runs; a side without it has nothing Known.
type StepPair struct {
	Step     bench.Step
	InA, InB bool
	Figures  []Figure // of the measures that are PairSteps
}

// figure is that of one measure, which must be among them.
func (p *StepPair) figure(id measure.ID) *Figure {
	i := slices.IndexFunc(p.Figures, func(f Figure) bool { return f.ID == id })
	return &p.Figures[i]
}

// StepPairs sets the steps of a and b beside each other, by what they ask for: connections or rate.
// Of equal steps the first stands beside the first. Those of one side alone keep their place among
// its others.
func StepPairs(a, b analysis.Contender) []StepPair {
	taken := make([]bool, len(b.Steps))
	partner := make([]int, len(a.Steps))
	for i, s := range a.Steps {
		partner[i] = -1
		for j, t := range b.Steps {
			if !taken[j] && s.Step.Same(t.Step) {
				partner[i], taken[j] = j, true
				break
			}
		}
	}
	var out []StepPair
	next := 0
	onlyB := func(until int) {
		for ; next < until; next++ {
			if !taken[next] {
				out = append(out, pairOf(nil, &b.Steps[next]))
			}
		}
	}
	for i, j := range partner {
		if j < 0 {
			out = append(out, pairOf(&a.Steps[i], nil))
			continue
		}
		onlyB(j)
		out = append(out, pairOf(&a.Steps[i], &b.Steps[j]))
		next = max(next, j+1)
	}
	onlyB(len(b.Steps))
	return out
}

func pairOf(a, b *stats.Step) StepPair {
	p := StepPair{InA: a != nil, InB: b != nil, Step: cmp.Or(a, b).Step}
	for _, m := range measure.View(measure.PairSteps) {
		f := Figure{Shown: m}
		if a != nil {
			f.A = m.Over(*a)
		}
		if b != nil {
			f.B = m.Over(*b)
		}
		p.Figures = append(p.Figures, f)
	}
	return p
}
