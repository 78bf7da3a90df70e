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

// kept is what was made of a run, until a step, a trial or a check changes it: to merge latencies
// takes a moment.
type kept[T any] struct {
	at   progress
	made bool
	it   T
}

func (k *kept[T]) of(s *fold.State, made func(*fold.State) T) T {
	if at := progressOf(s); !k.made || k.at != at {
		*k = kept[T]{at, true, made(s)}
	}
	return k.it
}

// progress is what the results so far depend on, as counts: while it stays the same they do too.
type progress struct {
	of                                            *fold.State
	trials, steps, checks, failed, starts, states int
	ended                                         bool
}

func progressOf(s *fold.State) progress {
	p := progress{of: s, ended: s.Ended != nil}
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

// soFar concludes what is known of a run in progress.
func soFar(s *fold.State) *ending {
	e := &ending{of: analysis.SoFar(s.Run, s.Results())}
	e.Conclusion = conclusion.Of(e.of, nil)
	e.problems = problemsOf(s, e.of, e.Problems)
	return e
}

// standings returns the contenders of the plan in its order.
func standings(s *fold.State) (list []standing) {
	add := func(label string) *standing {
		i := slices.IndexFunc(list, func(one standing) bool { return one.label == label })
		if i < 0 {
			i = len(list)
			list = append(list, standing{label: label, mark: i})
		}
		return &list[i]
	}
	for _, sel := range s.Run.Profile.Contenders {
		add(sel.String())
	}
	for _, t := range s.Trials {
		one := add(t.Result.Trial.Label())
		one.trials = append(one.trials, t)
	}
	end := soFar(s)
	for _, c := range end.of.Contenders {
		one := add(c.Label)
		one.of, one.Contender = end.of, c
		for _, p := range end.problems {
			if p.contender == said(c.Label) && !p.Warning {
				one.problems = append(one.problems, p.Problem)
			}
		}
	}
	return list
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
