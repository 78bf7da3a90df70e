package compare

import (
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
	// embedded needs: the client's CPU time contains theirs
	InClient []string `json:"needs_in_client,omitempty"`
}

// EnginePair is the agreement at one load.
type EnginePair struct {
	Step  string `json:"step"`  // "64 connections"
	Pairs int    `json:"pairs"` // complete pairs without errors; only these count
	// pairs with an error or a rejected request, that ended early, or that another engine loaded
	LeftOut  int              `json:"left_out,omitempty"`
	Measures []EngineMeasures `json:"measures"`

	of    bench.Step
	steps [2][]bench.StepResult // with fast, and with vegeta
}

// EngineMeasures are the values of one measure with the two engines.
type EngineMeasures struct {
	Measure string       `json:"measure"` // "throughput", "p50", "p99", "contender CPU/req", "client CPU/req"
	Fast    float64      `json:"fast"`    // median of the pairs, in 1/s or ns
	Vegeta  float64      `json:"vegeta"`
	Ratio   *stats.Ratio `json:"ratio,omitempty"` // vegeta to fast; nil: too few pairs, or not measured
}

// engineMeasures are the measures by which the engines are compared; the last is the client's own.
var engineMeasures = []struct {
	name string
	unit measure.Unit
	of   func(bench.StepResult) (float64, bool)
}{
	{"throughput", measure.PerSecond, measure.Get(measure.Throughput).Of},
	{"p50", measure.Nanoseconds, measure.Get(measure.P50).Of},
	{"p99", measure.Nanoseconds, measure.Get(measure.P99).Of},
	{"contender CPU/req", measure.Nanoseconds, measure.Get(measure.CPURequest).Of},
	{"client CPU/req", measure.Nanoseconds, func(s bench.StepResult) (float64, bool) {
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
	a := Agreement{Contender: r.Contenders[0].Label, Made: r.Run.Started}
	for _, n := range r.Run.Needs {
		if n.From.Traits().InClient {
			a.InClient = append(a.InClient, n.Name)
		}
	}
	for _, trial := range r.Contenders[0].Results {
		var first bench.StepResult // of the next pair; without an engine: none
		for _, s := range trial.Steps {
			one, other := first.Step, s.Step
			if one.Engine != "" && other.Engine != "" && one.Engine != other.Engine && withoutEngine(one).Same(withoutEngine(other)) {
				a.add(first, s)
				s = bench.StepResult{}
			}
			first = s
		}
	}
	if len(a.Loads) == 0 {
		return a, errors.New("no pair of steps ran with both engines")
	}
	for i := range a.Loads {
		a.Loads[i].measure()
	}
	return a, nil
}

// add adds two steps to those of their load.
func (a *Agreement) add(one, other bench.StepResult) {
	of := withoutEngine(one.Step)
	i := slices.IndexFunc(a.Loads, func(l EnginePair) bool { return l.of.Same(of) })
	if i < 0 {
		i = len(a.Loads)
		a.Loads = append(a.Loads, EnginePair{Step: of.Title(), of: of})
	}
	if other.Step.Engine == bench.EngineFast {
		one, other = other, one
	}
	p := &a.Loads[i]
	for _, s := range []bench.StepResult{one, other} {
		if l := s.Load; s.Aborted != "" || l.FailedTotal() > 0 || l.Rejected.Total() > 0 || l.Engine() != s.Step.Engine {
			p.LeftOut++
			return
		}
	}
	p.Pairs++
	p.steps[0], p.steps[1] = append(p.steps[0], one), append(p.steps[1], other)
}

// measure compares the engines at the load.
func (p *EnginePair) measure() {
	for _, m := range engineMeasures {
		var fast, vegeta []float64
		for i := range p.Pairs {
			x, known := m.of(p.steps[0][i])
			y, knownToo := m.of(p.steps[1][i])
			if known && knownToo {
				fast, vegeta = append(fast, x), append(vegeta, y)
			}
		}
		row := EngineMeasures{Measure: m.name}
		row.Fast, _ = stats.Median(fast)
		row.Vegeta, _ = stats.Median(vegeta)
		if ratio, err := stats.PairedRatio(fast, vegeta, .95); err == nil {
			row.Ratio = &ratio
		}
		p.Measures = append(p.Measures, row)
	}
}

// Text writes the agreement as text: a row for each measure at each load, then what follows.
func (a Agreement) Text(w io.Writer) error {
	t := table.Table{Columns: []table.Column{{Title: "load", Left: true}, {Title: "measure", Left: true}, {Title: "fast"},
		{Title: "vegeta"}, {Title: "vegeta vs fast", Left: true}}}
	for _, l := range a.Loads {
		load := safe.Line(l.Step, 100) + ", " + units.Plural(l.Pairs, "pair")
		for i, m := range l.Measures {
			row := []string{load, m.Measure, units.Missing, units.Missing, "not measured"}
			if unit := engineMeasures[i].unit; m.Fast > 0 {
				row[2], row[3], row[4] = unit.Text(m.Fast), unit.Text(m.Vegeta), fmt.Sprintf("needs %d pairs", stats.MinInterval)
			}
			if m.Ratio != nil {
				row[4] = m.Ratio.Words()
			}
			t.Add(row...)
			load = ""
		}
		if last := &t.Rows[len(t.Rows)-1]; l.LeftOut > 0 {
			last.Below = []string{fmt.Sprintf("%d left out (errors, rejected requests, or ended early)", l.LeftOut)}
		}
	}
	_, err := fmt.Fprintf(w, "%s, one start: pairs of steps with the load engines fast and vegeta\n%s\n%s\n",
		safe.Line(a.Contender, 200), t.Text(0), a.conclusion())
	return err
}

// conclusion returns what the user learns.
func (a Agreement) conclusion() string {
	var parts []string
	for i, m := range engineMeasures[:len(engineMeasures)-1] {
		if r, _ := a.worst(i, farEnd); r != nil {
			parts = append(parts, m.name+" "+within(farEnd(*r)))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("No load has %d pairs without errors: how far the engines agree is not known. Use fewer connections, "+
			"or more --rounds.", stats.MinInterval)
	}
	text := fmt.Sprintf("At all loads the engines agree within: %s\n"+
		"(the farther ends of the 95%% CIs; more --rounds, a longer --duration or an idle machine make these narrower).\n"+
		"Between runs with different engines, a difference up to that may come from the engine alone: compare runs with\n"+
		"the same --engine. 'locbench compare' reports a difference in it.", strings.Join(parts, ", "))
	cost, at := a.worst(len(engineMeasures)-1, func(r stats.Ratio) float64 { return r.Estimate })
	if cost == nil {
		return text
	}
	text += fmt.Sprintf("\nClient CPU time per request, vegeta vs fast: at most %s, at %s", cost.Words(), safe.Line(at, 100))
	if len(a.InClient) > 0 {
		text += "; both contain that of " + safe.Line(strings.Join(a.InClient, ", "), 100)
	}
	return text + "."
}

// worst returns the ratio of a measure with the highest value of all loads, and its load; nil if
// there is none.
func (a Agreement) worst(measure int, value func(stats.Ratio) float64) (worst *stats.Ratio, at string) {
	for _, l := range a.Loads {
		if r := l.Measures[measure].Ratio; r != nil && (worst == nil || value(*r) > value(*worst)) {
			worst, at = r, l.Step
		}
	}
	return worst, at
}

// within returns a distance from 1 as a percentage, or as a factor from 400% on.
func within(far float64) string {
	if far >= 4 {
		return fmt.Sprintf("×%.3g", 1+far)
	}
	return fmt.Sprintf("%.1f%%", 100*far)
}
