package board

import (
	"fmt"
	"maps"
	"slices"

	"locbench/internal/bench"
	"locbench/internal/tui/fold"
	"locbench/internal/tui/look"
	"locbench/internal/tui/ui"
	"locbench/internal/units"
)

// fullColumns are all that is measured of a step.
func (v *view) fullColumns() []look.Column {
	return []look.Column{
		{Title: "  step", Left: true, Max: 34}, {Title: "req/s"}, {Title: "errors"}, {Title: "err %", Drop: 8}, {Title: "p50", Drop: 1}, {Title: "p90", Drop: 7},
		{Title: "p99"}, {Title: "p99.9", Drop: 9}, {Title: "max", Drop: 6}, {Title: "CPU/req"}, {Title: "CPUs", Drop: 5}, {Title: "throttled", Drop: 4},
		{Title: "for", Drop: 10}, {Title: "memory", Drop: 3}, {Title: "peak", Drop: 11}, {Title: v.own("MiB·s"), Drop: 13}, {Title: "sent", Drop: 12}, {Title: "doubt", Left: true, Drop: 2, Max: 36},
	}
}

// stepsPage is the full table of the shown leg, and all that is known of the chosen step.
func (v *view) stepsPage(w, h int) []string {
	if v.leg == nil || len(v.leg.Steps) == 0 {
		return append(v.legFailure(w), v.l.Title.S("steps")+"  none has begun yet")
	}
	n := len(v.leg.Steps)
	if !v.chosen || v.Board.step >= n {
		v.Board.step, v.Board.chosen = n-1, false
	}
	at := v.Board.step
	lines := v.legFailure(w)
	detail := v.detail(v.leg.Steps[at], w)
	// The table has at least half of the room, the chosen step what it needs of the rest.
	rows := max(min(n, (h-len(lines))/2), h-len(lines)-len(detail)-2)
	rows = max(1, min(rows, n, h-len(lines)-2))
	p := &v.pages[steps]
	p.top = ui.Window(p.top, at, n, rows)
	var cells [][]string
	for i := p.top; i < min(n, p.top+rows); i++ {
		cells = append(cells, v.fullRow(v.leg.Steps[i], i == at))
	}
	p.first, p.count = p.top, rows
	header, table := v.l.Table(v.fullColumns(), cells, w)
	lines = append(lines, header)
	for i, line := range table {
		index := p.top + i
		v.hits = append(v.hits, hit{0, len(lines), w, 1, func() { v.Board.step, v.Board.chosen = index, true }})
		lines = append(lines, line)
	}
	lines = append(append(lines, ""), v.scrolled(detail, h-len(lines)-1)...)
	if rest := h - len(lines) - 1; rest >= 9 && w >= 76 {
		lines = append(append(lines, ""), v.multiples(v.leg.Result.Leg.Label(), w, min(rest, 16))...)
	}
	return lines
}

// scrolled is the part of the details that is looked at, in h lines; what is not in sight is told.
func (v *view) scrolled(detail []string, h int) []string {
	if len(detail) <= h || h < 3 {
		v.Board.below = 0
		return detail
	}
	v.Board.below = min(v.Board.below, len(detail)-h+1)
	from := 1 + v.Board.below
	out := append([]string{detail[0]}, detail[from:from+h-2]...)
	left := len(detail) - from - (h - 2)
	text := fmt.Sprintf("%s more: pgdown", plural(left, "line"))
	if left <= 0 {
		out = append([]string{detail[0]}, detail[len(detail)-h+2:]...)
		text = "pgup goes back"
	}
	return append(out, v.l.Faint.S(text))
}

func (v *view) legFailure(w int) []string {
	if v.leg == nil {
		return nil
	}
	return v.failure(w)
}

func (v *view) fullRow(s *fold.Step, chosen bool) []string {
	mark := "  "
	if chosen {
		mark = v.l.Glyph.Cursor + " "
	}
	name := mark + v.stepName(s.Step)
	if chosen {
		name = v.l.Accent.S(name)
	}
	r := s.Result
	if r == nil {
		row := v.runningRow(s)
		m := v.missing()
		return []string{name, row[1], row[2], m, row[3], m, row[4], m, m, row[5], m, row[6], m, row[7], m, m, m, row[8]}
	}
	l := r.Load
	usage := v.usageCells(r)
	cpus, throttledFor, peak, memoryRate := v.missing(), v.missing(), v.missing(), v.missing()
	if d, ok := r.CPU(); ok {
		if between := r.After.At.Sub(r.Before.At); between > 0 {
			cpus = fmt.Sprintf("%.2f", float64(d)/float64(between))
		}
	}
	if t, ok := r.Throttling(); ok {
		throttledFor = v.duration(t.Time)
	}
	if r.After != nil && r.After.Memory != nil {
		peak = units.Bytes(r.After.Memory.Peak)
		if r.After.Memory.PeakIsSample {
			peak = v.l.Glyph.AtLeast + peak
		}
	}
	if x, ok := r.MemorySeconds(); ok {
		memoryRate = fmt.Sprintf("%.3g", x)
	}
	ratio := "0"
	if l.FailedTotal() > 0 {
		ratio = percent(l.ErrorRatio())
	}
	q := l.Latency
	return []string{
		name, rate(l.Throughput()), v.errorCount(l.FailedTotal()), ratio, v.quantile(q, q.P50), v.quantile(q, q.P90), v.quantile(q, q.P99), v.quantile(q, q.P999), v.quantile(q, q.Max),
		usage[0], cpus, usage[1], throttledFor, usage[2], peak, memoryRate, units.Count(l.Sent), v.l.Warn.S(v.own(doubt(r, v.leg.Limits()))),
	}
}

// detail is all that is known of a step beside its figures.
func (v *view) detail(s *fold.Step, w int) []string {
	title := v.l.Title.S(fmt.Sprintf("step %d: %s", s.Index+1, v.stepName(s.Step)))
	if s.Step.Duration > 0 {
		title += ", " + units.Approx(s.Step.Duration)
	}
	r := s.Result
	if r == nil {
		return []string{title, fmt.Sprintf("%s so far; its figures are those of the last one", plural(s.Windows, "window"))}
	}
	lines := []string{title}
	add := func(paint look.Paint, mark, text string) {
		for i, line := range v.l.Wrap(text, max(10, w-4), 0) {
			if i == 0 {
				lines = append(lines, paint.S(v.l.Fit(mark, 2)+line))
			} else {
				lines = append(lines, paint.S("  "+line))
			}
		}
	}
	if r.Aborted != "" {
		add(v.l.Bad, v.l.Glyph.Cross, "ended early: "+v.out(r.Aborted, textBytes))
	}
	l := r.Load
	if len(l.Failed) == 0 {
		lines = append(lines, v.l.Glyph.Check+" no errors, "+units.Count(l.Succeeded)+" successes in "+v.duration(l.Elapsed))
	}
	for _, kind := range slices.Sorted(maps.Keys(l.Failed)) {
		text := units.Count(l.Failed[kind]) + " " + v.l.Glyph.Times + " " + v.out(string(kind), nameBytes)
		if example := l.Examples[kind]; example != "" {
			text += ", the first: " + v.out(example, lineBytes)
		}
		add(v.l.Bad, v.l.Glyph.Cross, text)
	}
	v.openLoop(l, add)
	for _, warning := range slices.Concat(l.Warnings, r.Warnings) {
		add(v.l.Warn, "!", "warning: "+v.out(warning, textBytes))
	}
	return lines
}

// openLoop tells how punctual the load was, where it came by the clock.
func (v *view) openLoop(l bench.Load, add func(look.Paint, string, string)) {
	if l.LatencyOf != bench.FromDue && l.Dropped == 0 && l.Late == 0 {
		return
	}
	text := fmt.Sprintf("%s came due, %s late, %s dropped, at most %s in use", units.Count(l.Scheduled), units.Count(l.Late), units.Count(l.Dropped), plural(l.MostOpen, "connection"))
	if l.Lag.Count > 0 {
		text += ", from due to sent p99 " + v.duration(l.Lag.P99)
	}
	add(look.Paint{}, " ", text)
}
