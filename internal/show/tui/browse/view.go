package browse

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/results"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// The most bytes of texts from outside that are shown.
const (
	nameBytes = 200
	noteBytes = 1000
)

// The width of the frame, in cells, from which the preview is next to the list, and the height, in
// lines, from which it is below.
const (
	previewWidth = 170
	belowHeight  = 30
)

// gutter is the cells before the columns: the cursor and the mark.
const gutter = 3

// layout holds the sizes of the parts of the screen.
type layout struct {
	listWidth, listHeight int // of the rows, without the head
	previewWidth          int // of the preview next to the list; 0: none
	belowHeight           int // of the preview below the list; 0: none
}

func layoutOf(w, h, n int) layout {
	const head = 2 // title and names of the columns
	l := layout{listWidth: w}
	switch {
	case w >= previewWidth && h >= 15:
		l.listWidth = w * 54 / 100
		l.previewWidth = w - l.listWidth - 2
	case h >= belowHeight:
		l.belowHeight = h * 2 / 5
	case h >= 12:
		l.belowHeight = 3
		if free := h - head - n - 1; free >= 8 { // room for a box, with a line between
			l.belowHeight = min(free, 12)
		}
	}
	l.listHeight = max(0, h-head-l.belowHeight)
	return l
}

func (s *Screen) rows() int { return layoutOf(s.w, s.h, len(s.shown)).listHeight }

// View implements ui.Screen.
func (s *Screen) View(f ui.Frame) []string {
	l := f.Look
	at := layoutOf(f.Width, f.Height, len(s.shown))
	lines := []string{s.title(l, f.Width)}
	if len(s.shown) == 0 {
		return l.Screen(append(lines, s.nothing(l, f)...), f.Width, f.Height)
	}
	list := s.table(l, at)
	if at.previewWidth > 0 {
		list = ui.SideBySide(2, l.Screen(list, at.listWidth, f.Height-1), s.preview(f, at.previewWidth, f.Height-1))
	} else if at.belowHeight > 0 {
		list = append(l.Screen(list, f.Width, f.Height-1-at.belowHeight), s.preview(f, f.Width, at.belowHeight)...)
	}
	return l.Screen(append(lines, list...), f.Width, f.Height)
}

func (s *Screen) title(l *ui.Look, w int) string {
	left := l.Title.S("results")
	if s.filter.Typing || s.filter.Text != "" {
		left += "  " + l.Key.S("/") + outside(l, s.filter.Text, nameBytes)
	}
	if s.filter.Typing {
		left += l.Select.S(" ")
	}
	count := units.Plural(len(s.entries), "folder")
	if len(s.shown) < len(s.entries) {
		count = fmt.Sprintf("%d of %s", len(s.shown), count)
	}
	if s.left > 0 {
		count += fmt.Sprintf(", %s more hidden", units.Count(int64(s.left)))
	}
	if n := len(s.marked); n > 0 {
		count += fmt.Sprintf(", %d marked", n)
	}
	if w >= 70 && s.options.Roots != "" {
		count += " in " + l.Cut(outside(l, s.options.Roots, nameBytes), w/3)
	}
	if !s.listed {
		count = ""
	}
	return l.Between(left, l.Faint.S(count), w)
}

func (s *Screen) nothing(l *ui.Look, f ui.Frame) []string {
	switch {
	case !s.listed:
		return []string{"", l.Spin(f.Tick) + " looking for results"}
	case len(s.entries) > 0:
		return []string{"", l.Cut("No match; esc clears the filter.", f.Width)}
	}
	where := ""
	if s.options.Roots != "" {
		where = " in " + outside(l, s.options.Roots, nameBytes)
	}
	return append([]string{""}, l.Wrap("No results"+where+" yet. Runs write them here; "+
		"use \"locbench tui DIR\" for another folder.", f.Width, 4)...)
}

func (s *Screen) table(l *ui.Look, at layout) []string {
	laidOut := s.layOut(l, at.listWidth-gutter)
	s.from = ui.Window(s.from, s.cursor, len(s.shown), at.listHeight)
	lines := []string{"   " + laidOut[0]}
	for i := s.from; i < min(len(s.shown), s.from+at.listHeight); i++ {
		e := &s.entries[s.shown[i]]
		cursor, mark := " ", "  "
		if n := slices.Index(s.marked, e.Dir); n >= 0 {
			mark = l.Accent.S(string(rune('A'+n))) + " "
		}
		line := laidOut[1+i]
		if i == s.cursor {
			cursor = l.Accent.S(l.Glyph.Cursor)
			line = l.Strong.S(line)
		}
		lines = append(lines, cursor+mark+line)
	}
	return lines
}

// layOut returns the table of all folders; the first line is the head.
func (s *Screen) layOut(l *ui.Look, w int) []string {
	long := w >= 84
	cols := []ui.Column{
		{Left: true}, {Left: true, Max: 18, Drop: 2}, {Left: true, Max: 32, Drop: 4}, {Left: true}, {Drop: 3}, {Drop: 1},
		{Left: true, Max: 44, Drop: 6},
	}
	if !long {
		cols[2].Max = 20
	}
	for i, c := range columns {
		if i == s.sort && s.down {
			c.name += l.Glyph.Up
		} else if i == s.sort {
			c.name += l.Glyph.Down
		}
		cols[i].Title = c.name
	}
	cols = slices.Insert(cols, len(cols)-1, ui.Column{Title: "best", Left: true, Max: 20, Drop: 5})
	rows := make([][]string, 0, len(s.shown))
	for _, i := range s.shown {
		rows = append(rows, s.cellsOf(l, &s.entries[i], long))
	}
	return l.Table(cols, rows, w)
}

func (s *Screen) cellsOf(l *ui.Look, e *results.Entry, long bool) []string {
	layout := "01-02 15:04"
	if long {
		layout = "2006-01-02 15:04"
	}
	missing := l.Glyph.Missing
	at := missing
	if t := e.Time(); !t.IsZero() && t.Year() > 1900 && t.Year() < 10000 {
		at = t.Format(layout)
	}
	folder := outside(l, filepath.Base(e.Dir), nameBytes)
	if e.Err != nil {
		return []string{at, missing, folder, l.Bad.S(l.Glyph.Cross + " broken"), missing, missing, missing, folder}
	}
	trials := fmt.Sprintf("%d/%d", e.Complete, e.Trials)
	if e.Resumed > 0 {
		trials += "+"
	}
	peak, best := missing, missing
	if k := s.known[e.Dir]; k == nil {
		peak, best = l.Glyph.Ellipsis, ""
	} else if k.peak > 0 {
		peak, best = units.Number(k.peak), outside(l, k.best, nameBytes)
	}
	return []string{at, outside(l, e.Profile, nameBytes), s.contendersOf(l, e, long), state(l, e), trials, peak, best,
		folder}
}

// contendersOf names as many contenders as fit.
func (s *Screen) contendersOf(l *ui.Look, e *results.Entry, long bool) string {
	room := 20
	if long {
		room = 32
	}
	text := ""
	for i, c := range e.Contenders {
		name := outside(l, c, nameBytes)
		if i == 0 {
			text = name
			continue
		}
		more := min(5, 5*(len(e.Contenders)-1-i)) // cells for the number of the others
		if ui.Width(text)+2+ui.Width(name)+more > room {
			return l.Cut(text, room-5) + fmt.Sprintf(", +%d", len(e.Contenders)-i)
		}
		text += ", " + name
	}
	return text
}

// state returns the state of a run with a sign, since color alone is not enough.
func state(l *ui.Look, e *results.Entry) string {
	text := l.ASCIIOnly(stateText(e))
	switch {
	case e.Err != nil:
	case e.Live:
		return l.Accent.S(l.Glyph.Run + " " + text)
	case e.State == bench.RunInterrupted, e.State == bench.RunRunning:
		return l.Warn.S(l.Glyph.Skip + " " + text)
	case e.State == bench.RunComplete && len(e.Failed) > 0:
		return l.Warn.S("! " + l.Cut(text, 14))
	case e.State == bench.RunComplete:
		return l.Good.S(l.Glyph.Check + " " + text)
	}
	return l.Bad.S(l.Glyph.Cross + " " + l.Cut(text, 14))
}

// click puts the cursor on a folder; a second click opens it.
func (s *Screen) click(msg tea.MouseClickMsg) tea.Cmd {
	at := layoutOf(s.w, s.h, len(s.shown))
	row := msg.Y - 2
	if msg.Button != tea.MouseLeft || row < 0 || row >= at.listHeight || msg.X >= at.listWidth ||
		s.from+row >= len(s.shown) {
		return nil
	}
	if s.cursor == s.from+row {
		return s.open(*s.current())
	}
	s.cursor = s.from + row
	return nil
}

func outside(l *ui.Look, s string, n int) string {
	return strings.TrimSpace(l.Outside(s, n))
}
