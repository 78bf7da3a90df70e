package setup

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// panes returns the right half of a wide screen: contenders, steps, this machine.
func (s *Screen) panes(l *ui.Look, w, h, tick int) []string {
	if s.mode == contenders {
		return l.Box("contenders", s.drawList(l, w-2, h-2, tick), w, h, true)
	}
	n := max(3, min(len(s.selected())+2, h/3))
	bars := stepBars(l, s.plan.Steps, w-4, max(1, h-n-12))
	steps := max(3, len(bars)+2)
	out := l.Box("selected contenders", s.drawChosen(l, w-3, n-2), w, n, false)
	if len(bars) == 0 {
		bars = []string{l.Faint.S(l.Glyph.Missing)}
	}
	out = append(out, l.Box("steps", ui.Indent(bars), w, steps, false)...)
	doctor := s.doctor(l, w-2, tick, false)
	rest := h - n - steps
	if len(doctor) > rest-2 && rest > 2 {
		doctor = append(doctor[:rest-3], " "+l.Faint.S("d: more"))
	}
	return append(out, l.Box("this machine", doctor, w, max(2, rest), false)...)
}

// drawChosen returns the contenders of the setup, each with its state.
func (s *Screen) drawChosen(l *ui.Look, w, n int) (out []string) {
	all := s.selected()
	if len(all) == 0 {
		return []string{" " + l.Faint.S(l.Glyph.Missing)}
	}
	for i, sel := range all {
		if i == n-1 && len(all) > n {
			return append(out, " "+l.Faint.S("and "+units.Plural(len(all)-i, "other")))
		}
		r := s.rowOf(sel)
		about := l.Bad.S("unknown contender")
		if !r.unknown {
			about = s.drawState(l, r, 16) + " " + l.Faint.S(l.ASCIIOnly(s.about(r)))
		}
		out = append(out, " "+l.Fit(l.Outside(sel.String(), 80), min(28, w/2))+" "+about)
	}
	return out
}

func (s *Screen) drawOptions(l *ui.Look, w int) (lines []string) {
	options := s.options(s.focus)
	name := 0
	for _, o := range options {
		name = max(name, ui.Width(ui.Outside(o.value, 40)))
	}
	wide := optionsWidth(w)
	for i, o := range options {
		help := ui.Outside(o.help, 200)
		paint := l.Faint
		if o.faulty {
			paint, help = l.Bad, "unreadable: "+help
		}
		line, help := l.Fit(l.Outside(o.value, 40), name)+"  ", l.ASCIIOnly(help)
		if i == s.option {
			lines = append(lines, l.Select.S(l.Fit(line+help, wide)))
		} else {
			lines = append(lines, l.Fit(line+paint.S(help), wide))
		}
	}
	if most := max(1, s.height-4); len(lines) > most { // more profiles than lines
		from := max(0, min(s.option-most/2, len(lines)-most))
		lines = lines[from : from+most]
	}
	return lines
}

func optionsWidth(w int) int { return max(10, min(w-6, 72)) }

func (s *Screen) drawSave(l *ui.Look, w, tick int) []string {
	wide := optionsWidth(w)
	lines := []string{
		l.Fit("File in the working folder (.yaml is added):", wide), draw(l, s.save.input, wide), "",
	}
	name := l.Outside(strings.TrimSpace(s.save.input.Value()), 100)
	switch {
	case s.save.asking:
		lines[2] = l.Warn.S(l.Fit(name+" exists. Replace it? y or n", wide))
	case s.save.busy:
		lines[2] = l.Faint.S(l.Fit(l.Spin(tick)+" saving", wide))
	case s.save.err != "":
		lines = lines[:2]
		for _, line := range l.Wrap(l.Glyph.Cross+" "+l.ASCIIOnly(s.save.err), wide, 4) {
			lines = append(lines, l.Bad.S(l.Fit(line, wide)))
		}
	}
	return lines
}

func (s *Screen) click(x, y int) tea.Cmd {
	l := s.plain
	switch s.mode {
	case contenders:
		return s.clickList(x, y)
	case choosing:
		lines := s.drawOptions(l, s.width)
		top := (s.height-len(lines)-2)/2 + 1
		from := max(0, min(s.option-len(lines)/2, len(s.options(s.focus))-len(lines)))
		if i := y - top; i >= 0 && i < len(lines) {
			s.option = from + i
			return s.keyChoosing("enter")
		}
		s.leave()
		return nil
	case saving, diagnosis:
		return nil
	}
	lay := s.layout(l, s.width, s.height)
	i := y - 1 + lay.from
	if y < 1 || y > lay.room || i >= len(lay.shown) || x >= lay.left {
		return nil
	}
	var cmd tea.Cmd
	f := lay.shown[i]
	switch {
	case s.mode == editing && f == s.focus:
		return nil
	case s.mode == editing:
		cmd = s.keep()
	}
	again := s.focus == f || f == fieldStart
	if s.focus = f; again {
		return tea.Sequence(cmd, s.enter())
	}
	return cmd
}

func (s *Screen) clickList(x, y int) tea.Cmd {
	top, h := 1, s.height
	if wide(s.width, s.height) {
		if x < min(s.width/2, 100) {
			s.leave()
			return nil
		}
		top, h = 2, s.height-2
	}
	rows := s.list.rows(s)
	from, room := s.list.window(h)
	if i := y - top; i >= 0 && i < room && from+i < len(rows) {
		s.list.at = from + i
		return s.ticked(rows[s.list.at])
	}
	return nil
}

// rowOf returns the row of a selection.
func (s *Screen) rowOf(sel bench.Selection) row {
	svc, err := s.resolve(sel)
	return row{sel: sel, svc: svc, unknown: err != nil && s.facts.listed}
}
