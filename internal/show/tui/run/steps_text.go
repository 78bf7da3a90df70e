package run

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/show/tui/chart"
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
	if step == nil {
		return nil
	}
	r := step.Result
	add := func(x trust, text string) { all = append(all, remark{x, said(text)}) }
	switch {
	case r == nil && s.Trial.Result.State != bench.TrialRunning:
		return []remark{{failed, "did not end"}}
	case r == nil:
		return []remark{{untold, "running; values of the last second, errors of the whole step"}}
	}
	for _, x := range plain.Remarks(*r) {
		add(map[plain.Level]trust{plain.Error: failed, plain.Warning: caution}[x.Level], x.String())
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
		add(x, text)
	}
	if text := openLoop(r.Load); text != "" {
		add(untold, text)
	}
	for _, name := range r.Needs() {
		if text := measure.NeedWords(name, *r); text != "" {
			add(untold, text)
		}
	}
	worth := []trust{failed, trusted, caution, untold}
	slices.SortStableFunc(all, func(a, b remark) int { return slices.Index(worth, a.trust) - slices.Index(worth, b.trust) })
	return all
}

// openLoop counts the requests that were not sent when scheduled.
func openLoop(l bench.Load) string {
	if l.LatencyOf != bench.FromScheduled && l.Dropped == 0 && l.Late == 0 {
		return ""
	}
	text := fmt.Sprintf("%s scheduled, %s late, %s dropped, up to %s in use", units.Count(l.Scheduled),
		units.Count(l.Late), units.Count(l.Dropped), units.Plural(l.MaxOpenConnections, "connection"))
	if l.Lag.Count > 0 {
		text += ", send delay p99 " + units.Duration(l.Lag.P99)
	}
	return text
}

// lines draws a remark.
func (r remark) lines(t *ui.Theme, w int) []string {
	c := r.cell()
	return ui.Hang(" "+t.Tone(c.Tone, c.Text)+" ", r.text, w-1, ui.Paint{})
}

// detail is what the table has no room for: the selected step in sentences, and its latencies.
func (s *Steps) detail(w int) []ui.Block {
	step := s.step()
	head, remarks := s.head(step, w), s.remarks(step)
	if len(remarks) > 0 {
		head = append(head, remarks[0].lines(s.theme, w)...)
	}
	if s.size.Class == ui.Full {
		head = slices.Insert(head, 0, "")
	}
	blocks := []ui.Block{ui.Text(3, head...)}
	for _, r := range remarks[min(1, len(remarks)):] {
		if s.size.Class == ui.Full || r.trust > trusted {
			blocks = append(blocks, ui.Text(6, r.lines(s.theme, w)...))
		}
	}
	shown := step
	if step == nil || step.Result == nil { // its place stays filled
		shown = s.steps()[s.newest()]
	}
	if !s.decode(shown) {
		return blocks
	}
	if s.size.Class == ui.Full {
		blocks = append(blocks, ui.Text(5, slices.Insert(s.percentiles(shown.Result.Load.Latency, w), 0, "")...))
	}
	if s.size.Class == ui.Column {
		return blocks
	}
	if shown != step {
		blocks = append(blocks, ui.Text(4, s.theme.Faint.S(" latencies of "+numbered(shown))))
	}
	return append(blocks, ui.Block{Priority: 4, Least: chart.LeastHistogram, Most: ui.Rest, Draw: func(w, h int) string {
		return strings.Join(s.spread.Draw(s.theme, w-1, h), "\n")
	}})
}

func numbered(step *fold.Step) string {
	return fmt.Sprintf("step %d: %s", step.Index+1, stepName(step.Step, ui.Full))
}

// head is the line above the details of a step.
func (s *Steps) head(step *fold.Step, w int) []string {
	if step == nil {
		planned := s.planned()[s.grid.Row()-len(s.steps())]
		return []string{" " + s.theme.Rule(s.theme.Title.S(stepName(planned, ui.Full)), "not started yet", w-2)}
	}
	right := ""
	if r := step.Result; r != nil {
		errors := "no errors"
		if n := r.Load.FailedTotal(); n > 0 {
			errors = s.theme.Bad.S(units.Plural(n, "error"))
		}
		right = fmt.Sprintf("%s in %s, %s", units.Plural(r.Load.Succeeded, "success"), units.Duration(r.Load.Elapsed), errors)
	}
	left := s.theme.Title.S(numbered(step))
	return []string{" " + s.theme.Rule(left, right, w-2)}
}

// decode reads the latencies of a finished step; false: there are none.
func (s *Steps) decode(step *fold.Step) bool {
	if step == nil || step.Result == nil {
		return false
	}
	if s.spread.of != step.Result {
		s.spread = spread{step.Result, chart.NewHistogram(step.Result.Load.Latency)}
	}
	return !s.spread.Empty()
}

// percentiles are those of a finished step.
func (s *Steps) percentiles(l bench.Latencies, w int) []string {
	var texts []string
	for _, q := range []struct {
		name string
		at   time.Duration
	}{{"p50", l.P50}, {"p75", l.P75}, {"p90", l.P90}, {"p95", l.P95}, {"p99", l.P99}, {"p99.9", l.P999}, {"max", l.Max}} {
		texts = append(texts, s.theme.Faint.S(q.name)+" "+units.Duration(q.at))
	}
	return flow(texts, " ", w)
}

// all is all that is known about a step.
func (s *Steps) all(step *fold.Step, w int) []string {
	lines := s.head(step, w)
	for _, r := range s.remarks(step) {
		lines = append(lines, r.lines(s.theme, w)...)
	}
	var texts []string
	for _, m := range append(measures(measure.ScreenSteps, s.Trial), measures(measure.ScreenMoreSteps, s.Trial)[1:]...) {
		if c := stepCell(m.Measure, s.Trial, step); c.Text != units.Missing && !m.Quantile() {
			texts = append(texts, s.theme.Faint.S(m.Name)+" "+s.theme.Tone(c.Tone, c.Text))
		}
	}
	lines = append(append(lines, ""), flow(texts, " ", w)...)
	if s.decode(step) {
		lines = append(append(lines, s.percentiles(step.Result.Load.Latency, w)...), s.spread.Draw(s.theme, w-1, 14)...)
	}
	return lines
}
