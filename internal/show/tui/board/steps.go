package board

import (
	"cmp"
	"fmt"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

func (v *view) fullColumns() []ui.Column {
	return v.stepColumns(measure.ScreenSteps, 34, 2, 40)
}

func (v *view) stepsPage(w, h int) []string {
	if v.trial == nil || len(v.trial.Steps) == 0 {
		return append(v.failure(w), v.l.Title.S("steps")+"  none started yet")
	}
	n := len(v.trial.Steps)
	if !v.b.chosen || v.b.step >= n {
		v.b.step, v.b.chosen = n-1, false
	}
	at := v.b.step
	if v.b.details {
		return v.detailsPage(v.trial.Steps[at], w, h)
	}
	lines := v.failure(w)
	detail := v.detail(v.trial.Steps[at], w)
	// The table gets at least half of the room; the selected step takes what it needs of the rest.
	rows := max(min(n, (h-len(lines))/2), h-len(lines)-len(detail)-2)
	rows = max(1, min(rows, n, h-len(lines)-2))
	p := &v.b.pages[steps]
	p.top = ui.Window(p.top, at, n, rows)
	var cells [][]string
	for i := p.top; i < min(n, p.top+rows); i++ {
		cells = append(cells, v.fullRow(v.trial.Steps[i], i == at))
	}
	p.first, p.count = p.top, rows
	for i, from := 0, p.top; i < len(cells); i++ {
		v.hits = append(v.hits, hit{0, len(lines) + 1 + i, w, 1, func() { v.b.pick(from + i) }})
	}
	lines = append(lines, v.l.Table(v.fullColumns(), cells, w)...)
	lines = append(append(lines, ""), v.scrolled(detail, h-len(lines)-1)...)
	rest, room := h-len(lines)-1, 0
	spread := v.trial.Steps[at]
	for i := at; spread.Result == nil && i > 0; i-- {
		spread = v.trial.Steps[i-1] // the last one that has ended
	}
	if v.hasSpread(spread) {
		room = min(rest, spreadHeight)
	}
	if rest >= 9 && w >= 76 {
		if room = min(room, rest-9-1); room < leastSpread {
			room = 0
		}
		all := v.multiples(v.trial.Result.Trial.Label(), w, min(rest-room-min(room, 1), 16))
		lines = append(append(lines, ""), all...)
	}
	if room >= leastSpread {
		lines = append(append(lines, ""), v.distribution(spread, w, room)...)
	}
	return lines
}

// scrolled returns the visible part of the details, in h lines, and the number of lines below it.
func (v *view) scrolled(detail []string, h int) []string {
	if len(detail) <= h || h < 3 {
		v.b.below = 0
		return detail
	}
	v.b.below = min(v.b.below, len(detail)-h+1)
	from := 1 + v.b.below
	out := append([]string{detail[0]}, detail[from:from+h-2]...)
	left := len(detail) - from - (h - 2)
	text := fmt.Sprintf("%s: pgdown", units.Plural(left, "more line"))
	if left <= 0 {
		out = append([]string{detail[0]}, detail[len(detail)-h+2:]...)
		text = "pgup: back"
	}
	return append(out, v.l.Faint.S(text))
}

func (v *view) fullRow(s *fold.Step, chosen bool) []string {
	name := "  " + v.stepName(s.Step)
	if chosen {
		name = v.l.Accent.S(v.l.Glyph.Cursor + " " + v.stepName(s.Step))
	}
	return v.row(s, name, measure.ScreenSteps)
}

func (v *view) detailsPage(s *fold.Step, w, h int) []string {
	lines := v.failure(w)
	detail := v.detail(s, w)
	body := []string{v.justify(w, detail[0], v.l.Faint.S("esc: all steps"), "")}
	body = append(append(body, v.flow(v.fields(s), w)...), detail[1:]...)
	body = append(body, v.flow(v.more(s), w)...)
	room := h - len(lines)
	high := max(leastSpread, min(room-len(body)-1, 2*spreadHeight))
	if !v.hasSpread(s) || room-high-1 < 4 { // no histogram, or too little room for it
		return append(lines, v.scrolled(body, room)...)
	}
	lines = append(lines, v.scrolled(body, room-high-1)...)
	return append(append(lines, ""), v.distribution(s, w, high)...)
}

func (v *view) fields(s *fold.Step) []string {
	columns, cells := v.fullColumns(), v.fullRow(s, false)
	var out []string
	for i := 1; i < min(len(columns), len(cells)); i++ {
		if cells[i] != "" {
			out = append(out, v.l.Faint.S(columns[i].Title)+" "+cells[i])
		}
	}
	return out
}

func (v *view) more(s *fold.Step) []string {
	r := s.Result
	if r == nil {
		return nil
	}
	var out []string
	add := func(name, value string) { out = append(out, v.l.Faint.S(name)+" "+value) }
	if q := r.Load.Latency; q.Count > 0 {
		add("min", v.duration(q.Min))
		add("mean", v.duration(q.Mean))
		add("SD", v.duration(q.SD))
		add("p75", v.duration(q.P75))
		add("p95", v.duration(q.P95))
	}
	b, a := cmp.Or(r.Before, &bench.Usage{}), cmp.Or(r.After, &bench.Usage{})
	if b.CPUUser != nil && b.CPUSystem != nil && a.CPUUser != nil && a.CPUSystem != nil {
		if user, system := *a.CPUUser-*b.CPUUser, *a.CPUSystem-*b.CPUSystem; user >= 0 && system >= 0 {
			add("CPU user", v.duration(user))
			add("system", v.duration(system))
		}
	}
	if a.Processes != nil {
		add("processes", units.Count(int64(*a.Processes)))
	}
	if a.Threads != nil {
		add("threads", units.Count(int64(*a.Threads)))
	}
	return out
}

func (b *Board) keySteps(name string, s *fold.State) bool {
	trial := b.trialOf(s)
	handled := name == "esc" && b.details || (name == "enter" || name == "z") && trial != nil && len(trial.Steps) > 0
	if handled {
		b.details, b.below = !b.details, 0
	}
	return handled
}

// pick selects a step; if it was selected already, it opens the details.
func (b *Board) pick(index int) {
	b.details = b.step == index
	b.step, b.chosen, b.below = index, true, 0
}
