package compare

import (
	"fmt"
	"slices"
	"strings"

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

// StepPairs sets the steps of a and b beside each other, by what they ask for: connections or rate. Of equal steps the first stands beside
// the first. Those of one side alone keep their place among its others.
func StepPairs(a, b analysis.Contender) []StepPair {
	keysA, keysB := keys(a.Steps), keys(b.Steps)
	inA, inB := index(keysA), index(keysB)
	var out []StepPair
	next := 0
	onlyB := func(until int) {
		for ; next < until; next++ {
			if _, both := inA[keysB[next]]; !both {
				out = append(out, pairOf(nil, &b.Steps[next]))
			}
		}
	}
	for i, key := range keysA {
		j, both := inB[key]
		if !both {
			out = append(out, pairOf(&a.Steps[i], nil))
			continue
		}
		onlyB(j)
		out = append(out, pairOf(&a.Steps[i], &b.Steps[j]))
		next = max(next, j+1)
	}
	onlyB(len(keysB))
	return out
}

func keys(steps []stats.Step) []string {
	count := map[string]int{}
	out := make([]string, len(steps))
	for i, s := range steps {
		st := s.Step
		key := fmt.Sprintf("%v %d %g %g %g", st.WarmUp, st.Connections, st.Rate, st.RampTo, st.PeakShare)
		if st.Wave != nil {
			key += fmt.Sprintf(" wave %v", *st.Wave)
		}
		if st.Arrivals != nil {
			key += fmt.Sprintf(" arrivals %v", *st.Arrivals)
		}
		count[key]++
		out[i] = fmt.Sprintf("%s #%d", key, count[key])
	}
	return out
}

func index(keys []string) map[string]int {
	out := map[string]int{}
	for i, k := range keys {
		out[k] = i
	}
	return out
}

func pairOf(a, b *stats.Step) StepPair {
	p := StepPair{InA: a != nil, InB: b != nil}
	if a != nil {
		p.Step = a.Step
	} else {
		p.Step = b.Step
	}
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

// Short is the name of a step for narrow columns: "64", "w 1" for warm-ups, "500/s".
func (p StepPair) Short() string {
	s := p.Step
	var name string
	switch {
	case s.Connections > 0:
		name = fmt.Sprint(s.Connections)
	case s.PeakShare > 0:
		name = fmt.Sprintf("%.0f%%", 100*s.PeakShare)
	case s.Rate > 0:
		name = fmt.Sprintf("%g/s", s.Rate)
	default:
		name = s.Name
	}
	if s.WarmUp {
		name = strings.TrimSpace("w " + name)
	}
	return name
}
