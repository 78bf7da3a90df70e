package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
)

// When a difference between two contenders is named as a likely cause.
const (
	moreLog      = 2.0  // times the bytes per request of the other
	leastLog     = 16   // bytes per request that are worth a word
	moreSwitches = 3.0  // times the context switches per request of the other
	idler        = 0.8  // of the other's CPUs in use at the same load
	moreWork     = 1.25 // times the CPU time per request, its own or of a need: it waits for more work, not for a lock
	mostOfIt     = 2. / 3
	allOfIt      = 0.95 // of the change of the CPU time per request
)

// Why returns what is known of the causes of a change: the requests that have changed more than all
// others, and what counters say about the worse side. All outputs have it after the verdict.
func (c Contender) Why() (all []string) {
	if text := c.Mostly(); text != "" {
		all = append(all, text)
	}
	return append(all, c.Causes...)
}

// worse returns the side that is worse in throughput, p99 or CPU time, and in which of them it suffers;
// -1 without a verdict.
func (c Contender) worse() (side int, suffers map[measure.ID]bool) {
	side, suffers = -1, map[measure.ID]bool{}
	for _, id := range []measure.ID{measure.Throughput, measure.P99Half, measure.CPURequest} {
		i := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Measure == id && r.NotComparable == "" })
		if i < 0 {
			continue
		}
		of := map[stats.Verdict]int{stats.Better: 0, stats.Worse: 1}
		if is, decided := of[c.Rows[i].Verdict]; decided && (side < 0 || is == side) {
			side, suffers[id] = is, true
		}
	}
	return side, suffers
}

// causes returns what the counters say about each side, the worse one first: what its own threads do,
// and of the worse one how much it logs, and whether its threads wait for each other. first is what to do
// about the worse side; "" without a verdict.
func (c Contender) causes(couple analysis.Couple) (all []string, first string) {
	worse, suffers := c.worse()
	both, waiting := [2]analysis.Contender{couple.A, couple.B}, false
	own := func(i int) {
		for _, cause := range both[i].Causes() {
			all = append(all, c.side(i)+": "+safe.Line(cause.String(), 600)+".")
			if i == worse {
				first = cmp.Or(first, c.side(i)+": "+cause.Remedy)
				waiting = waiting || cause.Kind == verdict.Narrow || cause.Kind == verdict.Starving
			}
		}
	}
	if worse < 0 {
		own(0)
		own(1)
		return all, ""
	}
	own(worse)
	if text := c.ofKind(couple); text != "" {
		all = append(all, text)
	}
	at := func(i int) stats.Step { return both[i].StepOf(measure.Get(measure.CPURequest), couple.Ref) }
	one, other := at(worse), at(1-worse)
	name, than := safe.Line(c.sides[worse].Label, 60), safe.Line(c.sides[1-worse].Label, 60)
	if name == than {
		name, than = "the "+sides[worse], "the "+sides[1-worse]
	}
	add := func(look, text string) { all, first = append(all, text), cmp.Or(first, look) }
	if peak, ok := both[worse].PeakStep(); ok && suffers[measure.Throughput] {
		if by := both[worse].Bounds[peak.Index]; by.Bound == verdict.Threads {
			add(name+": "+safe.Line(by.Text, 400), name+": "+safe.Line(by.Text, 400)+".")
		}
	}
	if x, y, ok := apart(one, other, logged); ok && x >= leastLog && x >= moreLog*y {
		text := fmt.Sprintf("%s logs %s per request, %s %s", name, units.Bytes(int64(x)), than, units.Bytes(int64(y)))
		if cpus, known := stats.Median(rounds(one, bench.StepResult.LogCPUs)); known && cpus >= 0.01 {
			text += fmt.Sprintf("; the engine uses %.2f CPUs for that", cpus)
		}
		add("Look at what "+name+" logs", text+".")
	}
	x, y, ok := apart(one, other, switches)
	if how := waits(one, other); ok && how != "" && !waiting && x >= moreSwitches*y && (suffers[measure.Throughput] || suffers[measure.P99Half]) {
		add("Look for the lock or pool that threads of "+name+" wait for", fmt.Sprintf("%s has %.1f context switches per request at %s, %s %.1f, with %s: its threads wait for a lock or a pool.",
			name, x, one.Step.Words(), than, y, how))
	}
	own(1 - worse)
	return all, first
}

// ofKind says which threads of the runtime make most of a certain change of the CPU time per request; ""
// if none do. Where a runtime does that work on threads that serve, it is not known: then only contenders
// in one language have it.
func (c Contender) ofKind(couple analysis.Couple) string {
	m := measure.Get(measure.CPURequest)
	i := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Measure == m.ID })
	if i < 0 || c.Rows[i].Ratio == nil || c.Rows[i].Verdict != stats.Better && c.Rows[i].Verdict != stats.Worse {
		return ""
	}
	row, changes, apart := c.Rows[i], [4]float64{}, [2]bool{} // of all, compilers, collectors, one of these two
	for side, of := range []analysis.Contender{couple.A, couple.B} {
		var values [4][]float64
		for _, s := range of.StepOf(m, couple.Ref).Results {
			t, _, ok := s.ThreadTime()
			cpu, known := m.Of(s)
			if !ok || !known {
				return ""
			}
			apart[side] = apart[side] || t.Compiled+t.Collected+t.Runtime > 0
			for k, d := range []bench.Duration{t.Compiled, t.Collected, t.Runtime} {
				values[k+1] = append(values[k+1], float64(d)/float64(s.Load.Counted()))
			}
			values[0] = append(values[0], cpu)
		}
		for k, all := range values {
			median, _ := stats.Median(all)
			changes[k] += median * float64(2*side-1)
		}
	}
	a, b := couple.A.Results[0].Service.Language, couple.B.Results[0].Service.Language
	if !(apart[0] && apart[1]) && (a == "" || a != b) || changes[0]*(row.Ratio.Estimate-1) <= 0 {
		return ""
	}
	for k, whose := range []string{"the compilers'", "the collectors'", "the compilers' and collectors'"} {
		if share := changes[k+1] / changes[0]; share >= mostOfIt {
			part := map[bool]string{true: "all of it ", false: "most of it "}[share >= allOfIt]
			return changed(m, *row.Ratio, false) + " at " + safe.Line(row.At, 60) + ": " + part + whose + "."
		}
	}
	return ""
}

// apart returns the medians of a value over the rounds of two steps; ok is false unless each of the
// first is above all of the second.
func apart(one, other stats.Step, of func(bench.StepResult) (float64, bool)) (x, y float64, ok bool) {
	values := func(s stats.Step) (all []float64) {
		for _, r := range s.Results {
			if v, known := of(r); known {
				all = append(all, v)
			}
		}
		return all
	}
	a, b := values(one), values(other)
	if len(a) == 0 || len(b) == 0 || slices.Min(a) <= slices.Max(b) {
		return 0, 0, false
	}
	x, _ = stats.Median(a)
	y, _ = stats.Median(b)
	return x, y, true
}

func logged(s bench.StepResult) (perRequest float64, ok bool) {
	l, ok := s.Log()
	return float64(l.Bytes) / float64(max(1, s.Load.Ended())), ok
}

// switches are those per request, if most of them are voluntary: the others come from a lack of CPUs.
func switches(s bench.StepResult) (perRequest float64, ok bool) {
	voluntary, involuntary, ok := s.Switches()
	return float64(voluntary+involuntary) / float64(max(1, s.Load.Ended())), ok && voluntary >= involuntary
}

// waits says how a step shows that its requests wait, though they take no more CPU time than those
// of another, also of needs: it uses fewer CPUs at the same load, or has a lower p50; "" if not.
func waits(one, other stats.Step) string {
	ratio := func(of func(bench.StepResult) float64) float64 {
		x, _ := stats.Median(rounds(one, of))
		y, _ := stats.Median(rounds(other, of))
		return x / y
	}
	if ratio(func(r bench.StepResult) float64 { cpu, _ := r.CPUPerRequest(); return float64(cpu) }) > moreWork {
		return ""
	}
	for _, name := range measure.Needs([]stats.Step{one}) {
		m := measure.CPUOfNeed(name)
		if ratio(func(r bench.StepResult) float64 { cpu, _ := m.Of(r); return cpu }) > moreWork {
			return ""
		}
	}
	switch {
	case ratio(func(r bench.StepResult) float64 { cpus, _ := r.CPUs(); return cpus }) < idler:
		return "fewer CPUs in use"
	case ratio(func(r bench.StepResult) float64 { return float64(r.Load.Latency.P50) }) < 1:
		return "a lower p50"
	}
	return ""
}

// rounds returns a value of each round of a step.
func rounds(s stats.Step, of func(bench.StepResult) float64) (all []float64) {
	for _, r := range s.Results {
		all = append(all, of(r))
	}
	return all
}
