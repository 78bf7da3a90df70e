package board

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

func (v *view) overview(w, h int) []string {
	lines := v.failure(w)
	top := len(lines)
	h -= top
	switch {
	case w >= 150 && h >= 30:
		left := w * 52 / 100
		return append(lines, ui.SideBySide(2, v.stack(left, h, 0, top), v.side(w-left-2, h))...)
	case h >= 28:
		rows := min(max(3, len(v.trial.Steps)+len(v.planned())+1), h-24)
		lines = append(lines, v.stack(w, h-rows, 0, top)...)
		return append(lines, v.table(w, rows)...)
	case w >= 76:
		return append(lines, v.grid(w, h, top)...)
	case h < leastNarrow:
		return v.small(w, h+top)
	}
	return append(lines, v.narrow(w, h, top)...)
}

// leastNarrow is the least height with room for two charts of three lines, three values, the axis
// and a table of four lines.
const leastNarrow = 2*3 + 3 + 1 + 4

func (v *view) narrow(w, h, y int) []string {
	a := v.axis(w)
	rest := v.newestValues(w, y, cpu, memory, failures)
	rows := max(4, min(len(v.trial.Steps)+len(v.planned())+1, h-len(rest)-1-8))
	each := (h - len(rest) - 1 - rows) / 2
	var lines []string
	for _, m := range []metric{throughput, latency} {
		v.hits = append(v.hits, hit{0, y + len(lines), w, each, func() { v.b.point(m) }})
		lines = append(lines, v.chart(m, a, w, each)...)
	}
	lines = append(lines, v.axisLines(a, w)[0])
	for i := range v.hits[:3] {
		v.hits[i].y += len(lines)
	}
	lines = append(lines, rest...)
	return append(lines, v.table(w, h-len(lines))...)
}

func (v *view) failure(w int) []string {
	if v.trial == nil {
		return nil
	}
	r := v.trial.Result
	if r.State != bench.TrialFailed && r.State != bench.TrialAborted {
		return nil
	}
	text := v.l.Glyph.Cross + " trial " + string(r.State)
	if r.Failure != "" {
		text += ": " + v.out(r.Failure, lineBytes)
	}
	return []string{v.l.Bad.S(v.l.Fit(text, w))}
}

// charts returns the charts to draw: errors only when there are any.
func (v *view) charts() []metric {
	all := []metric{throughput, latency, cpu, memory, failures}
	if v.anyErrors() {
		return all
	}
	return all[:4]
}

func (v *view) noErrors(w int) string {
	return v.justify(w, v.errorTitle(v.l.Strong), v.l.Faint.S(v.spanName()+v.overlayWord()), "")
}

func (v *view) errorTitle(paint ui.Paint) string {
	mark := ""
	if v.b.focus == failures {
		mark = v.l.Glyph.Cursor + " "
	}
	return v.l.Title.S(mark+"errors") + "  " + paint.S(v.own(v.errorText()))
}

func (v *view) overlayWord() string {
	if !v.b.overlay {
		return ""
	}
	if len(v.rounds()) == 0 {
		return ", no earlier rounds"
	}
	return ", earlier rounds faint"
}

// stack puts the charts one below the other, over one axis, from column x, line y of the page.
func (v *view) stack(w, h, x, y int) []string {
	a := v.axis(w)
	shown := v.charts()
	axis := v.axisLines(a, w)
	if h < 4*3+len(axis) {
		axis = axis[:1]
	}
	room := h - len(axis) - 1
	if len(shown) == int(metrics) && room >= 5*4 {
		room++ // the row for the errors is not needed
	} else {
		shown = shown[:min(len(shown), 4)]
	}
	var lines []string
	for i, high := range share(room, shown) {
		if m := shown[i]; high > 0 {
			v.hits = append(v.hits, hit{x, y + len(lines), w, high, func() { v.b.point(m) }})
			lines = append(lines, v.chart(m, a, w, high)...)
		}
	}
	lines = append(lines, axis...)
	if len(shown) < int(metrics) {
		lines = append(lines, v.noErrors(w))
	}
	return lines[:min(len(lines), h)]
}

// share divides h lines among charts; latency gets the odd ones, then throughput.
func share(h int, shown []metric) []int {
	out := make([]int, len(shown))
	least := 3
	if h < least*len(shown) {
		least = 2
	}
	for i := range out {
		if h >= least {
			out[i] = least
			h -= least
		}
	}
	// The band of throttled time needs a line more than a chart without one.
	for before := 0; h > 0 && h != before; {
		before = h
		for _, m := range []metric{latency, throughput, cpu, memory, failures} {
			i := slices.Index(shown, m)
			if i >= 0 && h > 0 && out[i] > 0 && (m == latency || out[i] <= out[slices.Index(shown, latency)]) {
				out[i]++
				h--
			}
		}
	}
	return out
}

func (v *view) grid(w, h, y int) []string {
	cw := (w - 2) / 2
	a := v.axis(cw)
	axis := v.axisLines(a, cw)
	if h < 18 {
		axis = axis[:1]
	}
	// A chart has a title and at least three rows. The table gets the rest: it has its own page.
	const leastChart, leastTable = 4, 3
	rows := min(max(leastTable, len(v.trial.Steps)+len(v.planned())+1), 7+max(0, h-20)/2)
	rows = max(leastTable, min(rows, h-len(axis)-1-2*leastChart))
	each := max(3, (h-len(axis)-1-rows)/2)
	block := func(m metric, x, y int) []string {
		v.hits = append(v.hits, hit{x, y, cw, each, func() { v.b.point(m) }})
		return v.chart(m, a, cw, each)
	}
	lines := ui.SideBySide(2, block(throughput, 0, y), block(latency, cw+2, y))
	lines = append(lines, ui.SideBySide(2, block(cpu, 0, y+each), block(memory, cw+2, y+each))...)
	lines = append(lines, ui.SideBySide(2, axis, axis)...)
	lines = append(lines, v.errorRow(w, y+len(lines)))
	return append(lines, v.table(w, h-len(lines))...)
}

// errorRow shows the errors in one line.
func (v *view) errorRow(w, y int) string {
	v.hits = append(v.hits, hit{0, y, w, 1, func() { v.b.point(failures) }})
	if !v.anyErrors() {
		return v.noErrors(w)
	}
	return v.errorTitle(v.l.Bad)
}

func (v *view) side(w, h int) []string {
	rows := min(len(v.trial.Steps)+len(v.planned())+1, h/2)
	lines := append(v.table(w, rows), "", v.l.Title.S("events"))
	diary := (h - len(lines) + 1) / 2
	last := v.lastEvents(w, diary-2)
	lines = append(append(lines, last...), make([]string, max(0, diary-1-len(last)))...)
	lines = append(lines, v.l.Title.S("log"))
	return append(lines, v.lastLog(w, h-len(lines))...)
}

func (v *view) small(w, h int) []string {
	lines := v.failure(w)
	lines = append(lines, v.newestValues(w, len(lines), throughput, latency, cpu, memory, failures)...)
	return append(lines, v.table(w, h-len(lines))...)
}

// newestValues has a line for each of the metrics: its name and its newest value.
func (v *view) newestValues(w, y int, shown ...metric) []string {
	var lines []string
	for _, m := range shown {
		name, value := v.newestValue(m)
		mark := " "
		if v.b.focus == m {
			mark = v.l.Glyph.Cursor
		}
		v.hits = append(v.hits, hit{0, y + len(lines), w, 1, func() { v.b.point(m) }})
		lines = append(lines, v.l.Title.S(mark+v.l.Fit(name, 7))+v.l.Right(value, min(14, w-8)))
	}
	return lines
}

func (v *view) newestValue(m metric) (name, value string) {
	load, usage := v.newest()
	load, usage = cmp.Or(load, &fold.LoadPoint{}), cmp.Or(usage, &fold.UsagePoint{})
	switch m {
	case latency:
		return "p99", v.seconds(load.P99)
	case cpu:
		value = v.cpus(usage, "%.2f")
		if limits := v.trial.Limits(); limits.CPUs > 0 {
			value += fmt.Sprintf(" of %g", limits.CPUs)
		}
		return "CPU", value
	case memory:
		return "memory", v.bytes(usage.Used)
	case failures:
		n := int64(0)
		for _, k := range v.errors().counts {
			n += k
		}
		return "errors", v.errorCount(n)
	}
	if value = v.missing(); len(v.trial.Load) > 0 {
		value = rate(load.Throughput)
	}
	return "req/s", value
}

func each[T any](points []T, y func(*T) float64) []float64 {
	out := make([]float64, len(points))
	for i := range points {
		out[i] = y(&points[i])
	}
	return out
}
