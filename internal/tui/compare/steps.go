package compare

import (
	"fmt"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/stats"
)

// StepPair is one step of the ladder in two runs; a side without it has nothing Known.
type StepPair struct {
	Step       bench.Step
	InA, InB   bool
	Throughput Figure
	P99        Figure
	CPURequest Figure
	Errors     Figure
}

// StepPairs sets the steps of a and b beside each other, by what they ask for: connections or rate. Of equal steps the first stands beside
// the first. Those of one side alone keep their place among its others.
func StepPairs(a, b Contender) []StepPair {
	keysA, keysB := keys(a.Steps), keys(b.Steps)
	inA, inB := index(keysA), index(keysB)
	var out []StepPair
	next := 0
	onlyB := func(until int) {
		for ; next < until; next++ {
			if _, both := inA[keysB[next]]; !both {
				out = append(out, pairOf(a, b, nil, &b.Steps[next]))
			}
		}
	}
	for i, key := range keysA {
		j, both := inB[key]
		if !both {
			out = append(out, pairOf(a, b, &a.Steps[i], nil))
			continue
		}
		onlyB(j)
		out = append(out, pairOf(a, b, &a.Steps[i], &b.Steps[j]))
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

func pairOf(a, b Contender, sa, sb *stats.Step) StepPair {
	p := StepPair{InA: sa != nil, InB: sb != nil}
	side := func(c Contender, s *stats.Step, of func(Contender, stats.Step) Side) Side {
		if s == nil {
			return Side{}
		}
		return of(c, *s)
	}
	figure := func(name string, unit Unit, higher bool, of func(Contender, stats.Step) Side) Figure {
		return Figure{Name: name, Unit: unit, Higher: higher, A: side(a, sa, of), B: side(b, sb, of)}
	}
	if sa != nil {
		p.Step = sa.Step
	} else {
		p.Step = sb.Step
	}
	p.Throughput = figure("throughput", PerSecond, true, func(_ Contender, s stats.Step) Side { return ofValue(s.Throughput) })
	p.P99 = figure("p99", Nanoseconds, false, func(c Contender, s stats.Step) Side { return c.quantile(s, p99) })
	p.CPURequest = figure("CPU/req", Nanoseconds, false, func(_ Contender, s stats.Step) Side { return ofValue(s.CPURequest) })
	p.Errors = figure("errors", Share, false, func(c Contender, s stats.Step) Side {
		var rounds []float64
		for _, r := range c.rounds(s) {
			if r.Load.FailedTotal()+r.Load.AllSucceeded() > 0 {
				rounds = append(rounds, r.Load.ErrorRatio())
			}
		}
		return ofRounds(s.ErrorRatio(), s.FailedTotal()+s.Succeeded > 0, rounds)
	})
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
