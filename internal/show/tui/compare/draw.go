package compare

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	compared "github.com/locbench/locbench/internal/analysis/compare"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// The most bytes of texts from outside that are shown.
const (
	nameBytes = 200
	noteBytes = 1000
)

// The height and the width of the frame, in lines and cells, from which more is shown at once.
const (
	tallHeight = 30
	wideWidth  = 150
)

// View implements ui.Screen.
func (s *Screen) View(f ui.Frame) []string {
	l := f.Look
	if s.set == nil {
		return l.Screen(s.waiting(f), f.Width, f.Height)
	}
	lines := s.head(l, f.Width, f.Height)
	s.tabLine = len(lines)
	lines = append(lines, s.tabsLine(l, f.Width))
	h := f.Height - len(lines)
	switch {
	case h <= 0:
	case f.Width >= wideWidth && f.Height >= tallHeight:
		left := f.Width * 11 / 20
		right := f.Width - left - 2
		block := l.Screen(s.column(l, left, h), left, h)
		lines = append(lines, ui.SideBySide(2, block, l.Screen(s.charts(l, right, h), right, h))...)
	case f.Height >= tallHeight:
		lines = append(lines, s.column(l, f.Width, h)...)
	default:
		lines = append(lines, s.content(l, s.tab, f.Width, h)...)
	}
	return l.Screen(lines, f.Width, f.Height)
}

// column returns the results and, below them, the selected page.
func (s *Screen) column(l *ui.Look, w, h int) []string {
	lines := append(s.resultTable(l, w), "")
	t := s.tab
	if t == results {
		t = steps
	}
	lines = append(lines, s.content(l, t, w, h-len(lines))...)
	if room := h - len(lines) - 1; t == steps && w < wideWidth && w >= 100 && len(s.set.steps) > 0 && room >= 8 {
		lines = append(append(lines, ""), s.charts(l, w, min(room, 16))...)
	}
	return lines
}

func (s *Screen) waiting(f ui.Frame) []string {
	l := f.Look
	if s.err != nil {
		lines := []string{l.Bad.S("cannot compare"), ""}
		for _, line := range strings.Split(s.err.Error(), "\n") {
			lines = append(lines, l.Wrap(l.Outside(line, noteBytes), f.Width, 6)...)
		}
		return lines
	}
	dirs := l.Outside(s.dirs[0], nameBytes) + " and " + l.Outside(s.dirs[1], nameBytes)
	return []string{l.Cut(l.Spin(f.Tick)+" reading "+dirs, f.Width)}
}

// head names the two sides and what else differs.
func (s *Screen) head(l *ui.Look, w, h int) []string {
	lines := []string{s.side(l, "A", s.a, s.set.a, 0, w), s.side(l, "B", s.b, s.set.b, 1, w)}
	room := 1
	switch {
	case h >= tallHeight:
		room = 4
	case h >= 20:
		room = 2
	}
	for _, note := range []string{s.a.note, s.b.note} {
		if note != "" && room > 1 {
			lines = append(lines, l.Warn.S(l.Cut("! "+l.Outside(note, noteBytes), w)))
		}
	}
	return append(lines, s.verdict(l, w, room)...)
}

func (s *Screen) side(l *ui.Look, name string, r run, c analysis.Contender, series, w int) string {
	label := cmp.Or(c.Label, s.set.a.Label+s.set.b.Label)
	mark := l.Series[series].S(l.Glyph.Marks[series])
	left := mark + " " + l.Strong.S(name) + " " + l.Title.S(l.Outside(label, nameBytes)) + "  " + rounds(c)
	about := []string{l.Outside(r.of.Run.Profile.Name, nameBytes), r.of.Run.Started.Format("2006-01-02 15:04"),
		l.Outside(r.dir, nameBytes)}
	right := strings.Join(about, "  ")
	if room := w - ui.Width(left) - 2; room < ui.Width(right) {
		right = l.Cut(about[2], room)
	}
	return l.Between(left, l.Faint.S(right), w)
}

// verdict names differences that make results incomparable, then those that may affect them.
func (s *Screen) verdict(l *ui.Look, w, room int) []string {
	var grave, relevant []string
	for _, d := range s.set.differ {
		switch d.Weight {
		case compared.Incomparable:
			grave = append(grave, string(d.What)+" ("+s.value(l, d.Old, 60)+" | "+s.value(l, d.New, 60)+")")
		case compared.Relevant:
			relevant = append(relevant, string(d.What))
		}
	}
	paint, text := l.Bad, "Not comparable: different "+strings.Join(grave, ", ")
	switch {
	case len(grave) > 0 && len(relevant) > 0:
		text += "; also: " + strings.Join(relevant, ", ")
	case len(grave) > 0:
	case len(relevant) > 0:
		paint, text = l.Warn, "May affect results: different "+strings.Join(relevant, ", ")
	case s.dirs[0] == s.dirs[1]:
		return []string{l.Good.S(l.Cut(l.Glyph.Check+" same run: same machine, limits and load", w))}
	default:
		return []string{l.Good.S(l.Cut(l.Glyph.Check+" same machine, limits, store, data and requests", w))}
	}
	return ui.Each(paint, l.Wrap(text, w, room))
}

func (s *Screen) value(l *ui.Look, v string, n int) string {
	if v == "" {
		return l.Glyph.Missing
	}
	return l.Cut(l.Outside(v, noteBytes), n)
}

func (s *Screen) tabsLine(l *ui.Look, w int) string {
	var names []string
	for i, name := range tabNames {
		if w < 60 {
			name = name[:3]
		}
		names = append(names, fmt.Sprintf("%d %s", i+1, name))
	}
	line, ends := ui.Tabs(l, names, int(s.tab))
	s.ends = ends
	return l.Fit(line, w)
}

func (s *Screen) content(l *ui.Look, t tab, w, h int) []string {
	if h <= 0 {
		return nil
	}
	if t == charts {
		return s.charts(l, w, h)
	}
	lines := [tabs]func(*ui.Look, int) []string{
		results: s.resultTable, steps: s.stepTable, contenders: s.contenderTable, differences: s.differenceTable,
	}[t](l, w)
	s.most, s.page = len(lines)-1, max(1, h-1) // the head of a table stays
	s.move(0)
	if len(lines) <= h {
		return lines
	}
	rest := lines[1+s.scroll : min(len(lines), s.scroll+h)]
	if more := s.most - s.scroll - len(rest); more > 0 && len(rest) > 1 {
		rest[len(rest)-1] = l.Faint.S(fmt.Sprintf("%s %d more (pgdn)", l.Glyph.Down, more+1))
	}
	return append(lines[:1], rest...)
}
