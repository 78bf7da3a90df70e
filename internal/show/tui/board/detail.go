package board

import (
	"fmt"
	"maps"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

func (v *view) numbered(s *fold.Step) string {
	return fmt.Sprintf("step %d: %s", s.Index+1, v.stepName(s.Step))
}

// bodies returns the size of the bodies of the successful responses; "" where it is not known.
func (v *view) bodies(l bench.Load) string {
	if l.Bytes <= 0 || l.Succeeded <= 0 {
		return ""
	}
	text := ", bodies " + units.Bytes(l.Bytes) + ": " + units.Bytes(l.Bytes/l.Succeeded) + " each"
	if s := l.Elapsed.Seconds(); s > 0 {
		text += ", " + size(float64(l.Bytes)/s) + "/s"
	}
	return text
}

func (v *view) detail(s *fold.Step, w int) []string {
	title := v.l.Title.S(v.numbered(s))
	if s.Step.Duration > 0 {
		title += ", " + units.Length(s.Step.Duration)
	}
	r := s.Result
	if r == nil {
		return []string{title, fmt.Sprintf("%s so far; showing the last one",
			units.Plural(s.Windows, "window"))}
	}
	lines := []string{title}
	add := func(paint ui.Paint, mark, text string) {
		for i, line := range v.l.Wrap(text, max(10, w-4), 0) {
			if i > 0 {
				mark = ""
			}
			lines = append(lines, paint.S(v.l.Fit(mark, 2)+line))
		}
	}
	if r.Aborted != "" {
		add(v.l.Bad, v.l.Glyph.Cross, "stopped early: "+v.out(r.Aborted, textBytes))
	}
	l := r.Load
	text := units.Count(l.Succeeded) + " successes in " + v.duration(l.Elapsed) + v.bodies(l)
	if l.Checked > 0 {
		text += ", " + units.Count(l.Checked) + " bodies compared"
	}
	if n := l.UnreadTotal(); n > 0 {
		text += ", " + units.Count(n) + " not looked at"
	}
	if e := l.Engine(); e != "" {
		text += ", load engine " + string(e)
	}
	if len(l.Failed) == 0 {
		lines = append(lines, v.l.Wrap(v.l.Glyph.Check+" no errors, "+text, max(10, w), 0)...)
	} else {
		add(ui.Paint{}, " ", text)
	}
	if len(l.Statuses) > 1 || len(l.Rejected) > 0 {
		add(ui.Paint{}, " ", "responses by status: "+l.Statuses.String())
	}
	for _, kind := range slices.Sorted(maps.Keys(l.Failed)) {
		text := units.Count(l.Failed[kind]) + " " + v.l.Glyph.Times + " " + v.out(kind.Words(), nameBytes)
		if example := l.Examples[kind]; example != "" {
			text += ", first: " + v.out(example, lineBytes)
		}
		add(v.l.Bad, v.l.Glyph.Cross, text)
	}
	switch b := v.verdict(r); b.Bound {
	case "":
	case verdict.Unclear:
		add(ui.Paint{}, " ", "bottleneck unclear: "+v.own(b.Text))
	default:
		add(ui.Paint{}, " ", "bound by "+v.own(string(b.Bound)+": "+b.Text))
	}
	v.openLoop(l, add)
	for _, j := range r.Missed() {
		add(v.l.Bad, v.l.Glyph.Cross, "threshold missed: "+v.out(j.Text, textBytes))
	}
	for _, warning := range r.AllWarnings() {
		add(v.l.Warn, "!", "warning: "+v.out(warning.Text, textBytes))
	}
	return lines
}

func (v *view) openLoop(l bench.Load, add func(ui.Paint, string, string)) {
	if l.LatencyOf != bench.FromScheduled && l.Dropped == 0 && l.Late == 0 {
		return
	}
	text := fmt.Sprintf("%s scheduled, %s late, %s dropped, up to %s in use", units.Count(l.Scheduled),
		units.Count(l.Late), units.Count(l.Dropped), units.Plural(l.MaxOpenConnections, "connection"))
	if l.Lag.Count > 0 {
		text += ", send delay p99 " + v.duration(l.Lag.P99)
	}
	add(ui.Paint{}, " ", text)
}
