package run

import (
	"fmt"
	"math"
	"slices"
	"time"

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
	r := s.Result
	if r == nil {
		r = lastSecond(t, s)
	} else if of, ok := r.Throttling(); ok && m.ID == measure.Throttled {
		return table.Cell{Text: fmt.Sprintf("%d/%d", of.Throttled, of.Periods)}
	}
	v, known := m.Of(*r)
	known = known && (s.Result != nil || m.Unit != measure.Nanoseconds || v > 0) // a window lacks some quantiles
	f := measure.Result{Value: v, Known: known, AtLeast: m.AtLeast != nil && m.AtLeast(*r), Estimate: m.Estimate != nil && m.Estimate(*r)}
	c := table.Cell{Text: m.Text(f)}
	if (m.ID == measure.Errors || m.ID == measure.ErrorRate) && f.Value > 0 {
		c.Tone = table.Bad
	}
	return c
}

// lastSecond is the newest window of a step and its newest reading of the counters, as a result. Quantiles of
// windows do not add up; errors do, and are those of the whole step. Of a trial that has ended it has these alone.
func lastSecond(t *fold.Trial, s *fold.Step) *bench.StepResult {
	r, length := &bench.StepResult{}, bench.Duration(0)
	r.Load.Failed = map[bench.ErrorKind]int64{}
	running := t.Result.State == bench.TrialRunning
	for i := len(t.Load) - 1; i >= 0 && t.Load[i].T >= s.From; i-- {
		p := &t.Load[i]
		if running && length == 0 {
			ns := func(seconds float64) bench.Duration { return bench.Duration(seconds * 1e9) }
			length = ns(p.Length)
			r.Load.Elapsed, r.Load.Succeeded = length, int64(math.Round(p.Throughput*p.Length))
			r.Load.Latency = bench.Latencies{Count: r.Load.Succeeded, P50: ns(p.P50), P90: ns(p.P90), P99: ns(p.P99), Max: ns(p.Max)}
		}
		for kind, n := range p.Kinds {
			r.Load.Failed[kind] += max(0, n)
		}
	}
	if n := len(t.Usage); running && n > 0 && t.Usage[n-1].T >= s.From {
		u, at := t.Usage[n-1], time.Unix(0, 0)
		r.After = &bench.Usage{At: at.Add(length)}
		if u.Used > 0 {
			r.After.Memory = &bench.Memory{Used: int64(u.Used), Peak: int64(u.Peak)}
		}
		if u.Known {
			r.Before, r.After.CPU = &bench.Usage{At: at}, bench.Duration(u.CPUs*float64(length))
		}
		if u.Known && u.Throttled >= 0 {
			const periods = 1e6 // of which the share is that many
			r.Before.Throttling = &bench.Throttling{}
			r.After.Throttling = &bench.Throttling{Periods: periods, Throttled: int64(u.Throttled * periods)}
		}
	}
	return r
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
	text := string(v.Bound)
	if v.Bound == verdict.Unclear {
		text = "no limit"
	}
	if busy, _, ok := r.HostShare(); ok && v.Bound == verdict.Machine {
		text += " " + units.Percent(busy)
	}
	return table.Cell{Text: text}
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
