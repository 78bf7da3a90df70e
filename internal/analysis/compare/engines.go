package compare

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// Agreement is how far the client's load engines agree on one contender: pairs of steps with equal
// load, one with each engine, on one start of the contender.
type Agreement struct {
	Contender string       `json:"contender"`
	Made      time.Time    `json:"made"` // start of the run
	Loads     []EnginePair `json:"loads"`
	// the embedded store ran in the client: the client's CPU time contains its own
	StoreInClient bool `json:"store_in_client,omitempty"`
}

// EnginePair is the agreement at one load.
type EnginePair struct {
	Step  string `json:"step"`  // "64 connections"
	Pairs int    `json:"pairs"` // complete pairs without errors; only these count
	// pairs with an error or a rejected request, that ended early, or that another engine loaded
	LeftOut  int              `json:"left_out,omitempty"`
	Measures []EngineMeasures `json:"measures"`
}

// EngineMeasures are the values of one measure with the two engines.
type EngineMeasures struct {
	Measure string       `json:"measure"` // "throughput", "p50", "p99", "contender CPU/req", "client CPU/req"
	Fast    float64      `json:"fast"`    // median of the pairs, in 1/s or ns
	Vegeta  float64      `json:"vegeta"`
	Ratio   *stats.Ratio `json:"ratio,omitempty"` // vegeta to fast; nil: too few pairs, or not measured

	unit measure.Unit
}

// clientCPU is the name of the measure that is the client's own.
const clientCPU = "client CPU/req"

// engineMeasures are the measures by which the engines are compared.
var engineMeasures = []struct {
	name string
	unit measure.Unit
	of   func(bench.StepResult) (float64, bool)
}{
	{"throughput", measure.PerSecond, measure.Get(measure.Throughput).Of},
	{"p50", measure.Nanoseconds, measure.Get(measure.P50).Of},
	{"p99", measure.Nanoseconds, measure.Get(measure.P99).Of},
	{"contender CPU/req", measure.Nanoseconds, measure.Get(measure.CPURequest).Of},
	{clientCPU, measure.Nanoseconds, func(s bench.StepResult) (float64, bool) {
		l := s.Load
		return float64(l.ClientCPU) / float64(max(1, l.Succeeded)), l.ClientCPU > 0 && l.Succeeded > 0
	}},
}

// withoutEngine returns the load of a step, whatever its engine.
func withoutEngine(s bench.Step) bench.Step {
	s.Name = strings.TrimSuffix(s.Name, ", "+string(s.Engine))
	s.Engine = ""
	return s
}

// EnginesAgree returns how far the load engines agree in a run whose steps have their own engines.
func EnginesAgree(r *analysis.Run) (Agreement, error) {
	if len(r.Contenders) != 1 {
		return Agreement{}, errors.New("no single contender in these results")
	}
	a := Agreement{
		Contender: r.Contenders[0].Label, Made: r.Run.Started,
		StoreInClient: r.Run.Store.Kind.Traits().InClient,
	}
	var all []load
	var first *bench.StepResult
	for _, trial := range r.Contenders[0].Results {
		for i := range trial.Steps {
			s := &trial.Steps[i]
			switch {
			case s.Step.Engine == "":
				first = nil
			case first != nil && first.Step.Engine != s.Step.Engine && withoutEngine(first.Step).Same(withoutEngine(s.Step)):
				all = pairUp(all, *first, *s)
				first = nil
			default:
				first = s
			}
		}
	}
	for _, l := range all {
		a.Loads = append(a.Loads, l.pair())
	}
	if len(a.Loads) == 0 {
		return a, errors.New("no pair of steps ran with both engines")
	}
	return a, nil
}

// load has the pairs of steps of one load: the steps with fast, and those with vegeta.
type load struct {
	step    bench.Step
	steps   [2][]bench.StepResult
	leftOut int
}

// pairUp adds two steps to those of their load.
func pairUp(all []load, one, other bench.StepResult) []load {
	of := withoutEngine(one.Step)
	i := slices.IndexFunc(all, func(l load) bool { return l.step.Same(of) })
	if i < 0 {
		i = len(all)
		all = append(all, load{step: of})
	}
	if other.Step.Engine == bench.EngineFast {
		one, other = other, one
	}
	for _, s := range []bench.StepResult{one, other} {
		if l := s.Load; s.Aborted != "" || l.FailedTotal() > 0 || l.Rejected.Total() > 0 || l.Engine() != s.Step.Engine {
			all[i].leftOut++
			return all
		}
	}
	all[i].steps[0], all[i].steps[1] = append(all[i].steps[0], one), append(all[i].steps[1], other)
	return all
}

// pair returns the agreement at the load.
func (l load) pair() EnginePair {
	p := EnginePair{Step: l.step.Title(), Pairs: len(l.steps[0]), LeftOut: l.leftOut}
	for _, m := range engineMeasures {
		row := EngineMeasures{Measure: m.name, unit: m.unit}
		var fast, vegeta []float64
		for i := range l.steps[0] {
			x, known := m.of(l.steps[0][i])
			y, knownToo := m.of(l.steps[1][i])
			if known && knownToo {
				fast, vegeta = append(fast, x), append(vegeta, y)
			}
		}
		row.Fast, _ = stats.Median(fast)
		row.Vegeta, _ = stats.Median(vegeta)
		if ratio, err := stats.PairedRatio(fast, vegeta, .95); err == nil {
			row.Ratio = &ratio
		}
		p.Measures = append(p.Measures, row)
	}
	return p
}

// Text writes the agreement as text: a table for each load, then what follows from them.
func (a Agreement) Text(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, one start: pairs of steps with the load engines fast and vegeta\n", safe.Line(a.Contender, 200))
	for _, l := range a.Loads {
		fmt.Fprintf(&b, "\n%s   %s", safe.Line(l.Step, 100), units.Plural(l.Pairs, "pair"))
		if l.LeftOut > 0 {
			fmt.Fprintf(&b, ", %d left out (errors, rejected requests, or ended early)", l.LeftOut)
		}
		b.WriteByte('\n')
		t := table.Table{Columns: []table.Column{{Title: "measure", Left: true}, {Title: "fast"}, {Title: "vegeta"},
			{Title: "vegeta vs fast", Left: true}}}
		for _, m := range l.Measures {
			row := []string{m.Measure, units.Missing, units.Missing, "not measured"}
			if m.Fast > 0 {
				row = []string{m.Measure, m.unit.Text(m.Fast), m.unit.Text(m.Vegeta), fmt.Sprintf("needs %d pairs", stats.MinInterval)}
			}
			if m.Ratio != nil {
				row[3] = m.Ratio.Words()
			}
			t.Add(row...)
		}
		for _, line := range t.Lines(0, nil) {
			b.WriteString("  " + line + "\n")
		}
	}
	b.WriteByte('\n')
	a.conclude(&b)
	_, err := w.Write(b.Bytes())
	return err
}

// conclude writes what the user learns.
func (a Agreement) conclude(b *bytes.Buffer) {
	var parts []string
	var cost *stats.Ratio
	costAt := ""
	for i, m := range engineMeasures {
		most := -1.
		for _, l := range a.Loads {
			ratio := l.Measures[i].Ratio
			switch {
			case ratio == nil:
			case m.name != clientCPU:
				most = max(most, farEnd(*ratio))
			case cost == nil || ratio.Estimate > cost.Estimate:
				cost, costAt = ratio, l.Step
			}
		}
		if most >= 0 {
			parts = append(parts, m.name+" "+within(most))
		}
	}
	if len(parts) == 0 {
		fmt.Fprintf(b, "No load has %d pairs without errors: how far the engines agree is not known. Use fewer connections, "+
			"or more --rounds.\n", stats.MinInterval)
		return
	}
	fmt.Fprintf(b, "At all loads the engines agree within: %s\n", strings.Join(parts, ", "))
	b.WriteString("(the farther ends of the 95% CIs; more --rounds, a longer --duration or an idle machine make these narrower).\n" +
		"Between runs with different engines, a difference up to that may come from the engine alone: compare runs with\n" +
		"the same --engine. 'locbench compare' reports a difference in it.\n")
	if cost == nil {
		return
	}
	fmt.Fprintf(b, "Client CPU time per request, vegeta vs fast: at most %s, at %s", cost.Words(), safe.Line(costAt, 100))
	if a.StoreInClient {
		b.WriteString("; both contain the embedded store's")
	}
	b.WriteString(".\n")
}

// within returns a distance from 1 as a percentage, or as a factor from 400% on.
func within(far float64) string {
	if far >= 4 {
		return fmt.Sprintf("×%.3g", 1+far)
	}
	return fmt.Sprintf("%.1f%%", 100*far)
}
