package run

import (
	"fmt"
	"slices"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/table"
)

// standing is a contender of the plan, and what is known about it so far.
type standing struct {
	label  string
	mark   int // its place in the profile: mark and color are the same on every page
	trials []*fold.Trial
	// of is nil, and the contender the zero value, until the first of its trials has begun.
	of *analysis.Run
	analysis.Contender
	problems []ui.Problem // why it is excluded
}

// sums keeps the results of the contenders until a step, a trial or a check changes them: to merge
// the latencies at their peaks takes a moment.
type sums struct {
	state *fold.State
	done  progress
	list  []standing
}

// progress is what the results so far depend on, as counts: while it stays the same they do too.
type progress struct{ trials, steps, checks, failed, starts, states int }

func progressOf(s *fold.State) (p progress) {
	for _, t := range s.Trials {
		_, failed, _ := t.Checks()
		p.steps += len(t.Result.Steps)
		p.checks += min(1, len(t.Result.Checks))
		p.failed += failed
		p.states += len(t.Result.State)
		if t.Result.StartUp != nil {
			p.starts++
		}
		if t.Result.State == bench.TrialComplete {
			p.trials++
		}
	}
	return p
}

// of returns the contenders of the plan in its order.
func (k *sums) of(s *fold.State) []standing {
	done := progressOf(s)
	if k.state == s && k.done == done {
		return k.list
	}
	*k = sums{state: s, done: done}
	add := func(label string) *standing {
		i := slices.IndexFunc(k.list, func(one standing) bool { return one.label == label })
		if i < 0 {
			i = len(k.list)
			k.list = append(k.list, standing{label: label, mark: i})
		}
		return &k.list[i]
	}
	for _, sel := range s.Run.Profile.Contenders {
		add(sel.String())
	}
	for _, t := range s.Trials {
		one := add(t.Result.Trial.Label())
		one.trials = append(one.trials, t)
	}
	of := analysis.SoFar(s.Run, s.Results())
	for _, c := range of.Contenders {
		one := add(c.Label)
		if one.of, one.Contender = of, c; c.WhyExcluded() != "" {
			alone := analysis.SoFar(s.Run, c.Results)
			one.problems = problemsOf(s, alone, conclusion.Of(alone, nil).Problems)
		}
	}
	return k.list
}

// name returns the mark and the name, faint if it is not compared.
func (s standing) name(t *ui.Theme) string {
	name := ui.Outside(s.label, nameBytes)
	if s.of == nil || s.WhyExcluded() != "" {
		name = t.Faint.S(name)
	}
	return t.Mark(s.mark) + " " + name
}

// cells returns the row of the contender in a table of measures.
func (s standing) cells(t *ui.Theme, shown []measure.Shown) []table.Cell {
	if s.of == nil {
		return []table.Cell{{Text: s.name(t)}}
	}
	cells := []table.Cell{{Text: s.name(t)}, {Text: s.rounds(t)}}
	for _, m := range shown {
		cells = append(cells, s.cell(m.Measure))
		if m.ID == measure.Throughput {
			at := units.Missing
			if peak, ok := s.PeakStep(); ok {
				at = ui.Outside(peak.Step.Short(), 20)
			}
			cells = append(cells, table.Cell{Text: at})
		}
	}
	return append(cells, conclusion.ChecksCell(s.Checks))
}

// rounds counts the complete rounds of the plan: "1/6", "1/6 ▶", "0/6 ✗".
func (s standing) rounds(t *ui.Theme) string {
	text := fmt.Sprintf("%d/%d", s.Complete, max(s.Trials, len(s.trials)))
	running := func(t *fold.Trial) bool { return t.Result.State == bench.TrialRunning }
	switch {
	case slices.ContainsFunc(s.trials, running):
		text += " " + t.Glyph.Run
	case s.FailedRounds > 0:
		text += " " + t.Glyph.Cross
	}
	return text
}

// cell is a measure of the contender, at its peak or of whole trials.
func (s standing) cell(m measure.Measure) table.Cell {
	f := m.Contender(s.Contender.Contender)
	c := table.Cell{Text: m.Text(f)}
	x := s.Excluded
	switch {
	case !f.Known:
	case m.ID == measure.ErrorRate && f.Value > 0:
		c.Tone = table.Bad
	case m.ID == measure.MemoryPeak && x != nil && x.Cause != nil && x.Cause.Kind == bench.CauseKilled:
		c.Tone = table.Bad
	case s.WhyExcluded() != "":
		c.Tone = table.Faint
	}
	return c
}
