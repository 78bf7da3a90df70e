package run

import (
	"fmt"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/table"
)

// nameBytes is the most of a name from a run that is shown.
const nameBytes = 70

// stepName names a step, briefly in a small terminal.
func stepName(s bench.Step, class ui.Class) string {
	name := s.Title()
	if class != ui.Full {
		if name = s.At(); s.WarmUp {
			name += " (warm-up)"
		}
	}
	return ui.Outside(name, nameBytes)
}

// stepSign says whether a step has ended: it runs, was stopped early, did not end, or is complete.
func stepSign(t *ui.Theme, trial *fold.Trial, s *fold.Step) string {
	switch {
	case s.Result == nil && trial.Result.State == bench.TrialRunning:
		return t.Glyph.Run
	case s.Result == nil:
		return "!"
	case s.Result.Aborted != "":
		return t.Glyph.Cross
	}
	return "✓"
}

// measures returns the columns of a place, without optional ones that no step of the trial has.
func measures(p measure.Place, t *fold.Trial) []measure.Shown {
	return slices.DeleteFunc(measure.View(p), func(m measure.Shown) bool {
		return m.Optional && !slices.ContainsFunc(t.Result.Steps, func(r bench.StepResult) bool {
			return m.Worth(m.Of(r))
		})
	})
}

// stepCell is a measure of a step; of one that has not ended, its last second, and all errors.
func stepCell(m measure.Measure, t *fold.Trial, s *fold.Step) table.Cell {
	f := measure.Result{}
	if s.Result == nil {
		f.Value, f.Known = lastSecond(m.ID, t, s)
	} else {
		if of, ok := s.Result.Throttling(); ok && m.ID == measure.Throttled {
			return table.Cell{Text: fmt.Sprintf("%d/%d", of.Throttled, of.Periods)}
		}
		f.Value, f.Known = m.Of(*s.Result)
		f.AtLeast = m.AtLeast != nil && m.AtLeast(*s.Result)
		f.Estimate = m.Estimate != nil && m.Estimate(*s.Result)
	}
	c := table.Cell{Text: m.Text(f)}
	if (m.ID == measure.Errors || m.ID == measure.ErrorRate) && f.Value > 0 {
		c.Tone = table.Bad
	}
	return c
}

// lastSecond returns a measure of the newest window in which requests were sent, or of the newest
// reading of the counters. Quantiles of windows do not add up; errors do.
func lastSecond(id measure.ID, t *fold.Trial, s *fold.Step) (v float64, ok bool) {
	load, usage, errors := latest(t, s)
	switch {
	case id == measure.Errors:
		return float64(errors), true
	case t.Result.State != bench.TrialRunning:
		return 0, false
	case load != nil:
		seconds, found := map[measure.ID]float64{
			measure.P50: load.P50, measure.P90: load.P90, measure.P99: load.P99, measure.Max: load.Max,
		}[id]
		if found {
			return seconds * 1e9, seconds > 0
		}
		if id == measure.Throughput {
			return load.Throughput, true
		}
	}
	if usage == nil {
		return 0, false
	}
	switch id {
	case measure.InUse:
		return usage.CPUs, usage.Known
	case measure.CPURequest:
		if load == nil || load.Throughput <= 0 {
			return 0, false
		}
		return usage.CPUs / load.Throughput * 1e9, usage.Known
	case measure.Throttled:
		return usage.Throttled, usage.Throttled >= 0
	case measure.MemoryUsed:
		return usage.Used, usage.Used > 0
	case measure.MemoryPeak:
		return usage.Peak, usage.Peak > 0
	}
	return 0, false
}

// latest returns the newest window of a step in which requests were sent and the newest reading of
// the counters, nil where there is none, and the step's errors so far.
func latest(t *fold.Trial, s *fold.Step) (load *fold.LoadPoint, usage *fold.UsagePoint, errors int64) {
	if n := len(t.Usage); n > 0 && t.Usage[n-1].T >= s.From {
		usage = &t.Usage[n-1]
	}
	for i := len(t.Load) - 1; i >= 0 && t.Load[i].T >= s.From; i-- {
		p := &t.Load[i]
		if load == nil {
			load = p
		}
		for _, n := range p.Kinds {
			errors += max(0, n)
		}
	}
	return load, usage, errors
}

// trust says how far the values of a step are those of the contender.
type trust int

const (
	untold trust = iota // of a warm-up, or of a step that runs
	trusted
	caution // something else may have limited them
	failed
)

// trustOf returns the trust in a finished step.
func trustOf(p bench.Profile, r *bench.StepResult, by verdict.Bound) trust {
	_, unexpected := r.Load.TooManyUnexpected(p.MaxUnexpected)
	worst, _ := r.Load.WorstErrors()
	switch {
	case r.Aborted != "" || len(r.Missed()) > 0 || unexpected || worst > p.ErrorsAllowed():
		return failed
	case r.Step.WarmUp:
		return untold
	case len(r.AllWarnings()) > 0 || outside(by):
		return caution
	}
	return trusted
}

// outside reports whether a bottleneck may be the client or the machine, not the contender.
func outside(by verdict.Bound) bool {
	return by == verdict.Machine || by == verdict.Client || by == verdict.Unclear
}

// cell is the sign of a trust.
func (x trust) cell() table.Cell {
	return [...]table.Cell{
		{Text: units.Missing, Tone: table.Faint}, {Text: "✓", Tone: table.Good}, {Text: "!", Tone: table.Notice},
		{Text: "✗", Tone: table.Bad},
	}[x]
}

// boundCell names the bottleneck of a finished step.
func boundCell(v verdict.Verdict, r *bench.StepResult) table.Cell {
	text := boundName(v.Bound)
	if busy, _, ok := r.HostShare(); ok && v.Bound == verdict.Machine {
		text += " " + units.Percent(busy)
	}
	return table.Cell{Text: text}
}

func boundName(by verdict.Bound) string {
	if by == verdict.Unclear {
		return "no limit"
	}
	return string(by)
}

// boundWords is the bottleneck as a sentence.
func boundWords(v verdict.Verdict) string {
	if v.Bound == verdict.Unclear {
		return v.Text
	}
	return "bound by " + string(v.Bound) + ": " + v.Text
}

// flow writes texts one after the other in lines of at most w cells with a margin.
func flow(texts []string, margin string, w int) (lines []string) {
	line := ""
	for _, text := range texts {
		switch {
		case line == "":
			line = margin + text
		case fit.Width(line)+2+fit.Width(text) > w:
			lines, line = append(lines, line), margin+text
		default:
			line += "  " + text
		}
	}
	return append(lines, line)
}
