package run

import (
	"fmt"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// remark is a sentence about a step, and what it means for the values.
type remark struct {
	trust
	text string
}

// remarks returns what is to say about a step, the worst first.
func (s *Steps) remarks(step *fold.Step) (all []remark) {
	r := step.Result
	switch {
	case r == nil && s.Trial.Result.State != bench.TrialRunning:
		return []remark{{failed, "did not end"}}
	case r == nil:
		return []remark{{untold, "running; values of the last second, errors of the whole step"}}
	}
	for _, x := range plain.Remarks(*r) {
		all = append(all, remark{map[plain.Level]trust{plain.Error: failed, plain.Warning: caution}[x.Level], x.String()})
	}
	if v := s.bounds[step.Index]; v.Bound != "" {
		x, text := untold, boundWords(v)
		if trustOf(s.State.Run.Profile, r, v.Bound) != untold {
			x = trusted
		}
		if outside(v.Bound) {
			x = caution
			if what, option := conclusion.Probe(v.Bound, step.Step, s.Trial.Limits()); option != "" {
				text += ". " + what + ": " + conclusion.Command([]string{option})
			}
		}
		all = append(all, remark{x, text})
	}
	worth := []trust{failed, trusted, caution, untold}
	slices.SortStableFunc(all, func(a, b remark) int { return slices.Index(worth, a.trust) - slices.Index(worth, b.trust) })
	return all
}

// head is the line above the text of a step.
func (s *Steps) head() string {
	t, step, w := s.theme, s.step(), s.size.Width
	if step == nil {
		planned := s.planned()[s.grid.Row()-len(s.steps())]
		return " " + t.Rule(t.Title.S(stepName(planned, ui.Full)), "not started yet", w-2)
	}
	right := ""
	if r := step.Result; r != nil {
		errors := "no errors"
		if n := r.Load.FailedTotal(); n > 0 {
			errors = t.Bad.S(units.Plural(n, "error"))
		}
		right = fmt.Sprintf("%s in %s, %s", units.Plural(r.Load.Succeeded, "success"), units.Duration(r.Load.Elapsed), errors)
	}
	name := fmt.Sprintf("step %d: %s", step.Index+1, stepName(step.Step, ui.Full))
	return " " + t.Rule(t.Title.S(name), right, w-2)
}

// lines are the text of the selected step: what is to say about it, its latencies, and what 'locbench
// run --verbose' prints.
func (s *Steps) lines() (lines []string) {
	t, step, w := s.theme, s.step(), s.size.Width
	if step == nil {
		return nil
	}
	for _, r := range s.remarks(step) {
		c := r.cell()
		lines = append(lines, ui.Hang(" "+t.Tone(c.Tone, c.Text)+" ", said(r.text), w-1, ui.Paint{})...)
	}
	if step.Result == nil {
		return lines
	}
	if l := step.Result.Load.Latency; l.Count > 0 {
		var texts []string
		for _, q := range []struct {
			name string
			at   time.Duration
		}{{"p50", l.P50}, {"p75", l.P75}, {"p90", l.P90}, {"p95", l.P95}, {"p99", l.P99}, {"p99.9", l.P999}, {"max", l.Max}} {
			texts = append(texts, t.Faint.S(q.name)+" "+units.Duration(q.at))
		}
		lines = append(append(lines, ""), flow(texts, " ", w)...)
	}
	var rows []ui.Row
	for _, d := range plain.Details(*step.Result) {
		rows = append(rows, ui.Row{Name: d.Label, Text: said(d.Text)})
	}
	for _, line := range t.Rows(rows, w-1) {
		lines = append(lines, line[1:])
	}
	return lines
}
