package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/table"
)

// Grid is a table with a cursor. Columns, alignment and what is left out in a narrow terminal are
// those of package table; a cell may be painted. Each row is one line.
type Grid struct {
	content table.Table
	at      int
	follow  bool // the cursor stays on the last row
	// Below is how many rows below the selected one are in sight too.
	Below   int
	from, h int // rows in sight in the last View
}

// NewGrid returns a grid; with follow its cursor stays on the last row until it is moved away.
func NewGrid(follow bool) *Grid { return &Grid{follow: follow} }

// Set replaces the content. The cursor stays on the row with its number.
func (g *Grid) Set(t table.Table) {
	last := g.at >= len(g.content.Rows)-1
	g.content = t
	if g.follow && last {
		g.at = len(t.Rows)
	}
	g.Select(g.at)
}

// Row returns the index of the selected row, -1 if there is none.
func (g *Grid) Row() int { return min(g.at, len(g.content.Rows)-1) }

// Select moves the cursor to a row, or the nearest.
func (g *Grid) Select(row int) { g.at = max(0, min(row, len(g.content.Rows)-1)) }

// Update moves the cursor; moved is false for other messages. A click is one of a line below the
// head of the grid, whose line on the page is top.
func (g *Grid) Update(msg tea.Msg, top int) (moved bool) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		by, ok := Moves(KeyOf(msg), g.h)
		if ok {
			g.Select(g.at + by)
		}
		return ok
	case tea.MouseWheelMsg:
		g.Select(g.at + Wheel(msg))
		return true
	case tea.MouseClickMsg:
		if line := msg.Y - top - 1; top >= 0 && line >= 0 && line < g.h && g.from+line < len(g.content.Rows) {
			g.Select(g.from + line)
			return true
		}
	}
	return false
}

// Range returns the rows in sight, the first as 1, and how many there are.
func (g *Grid) Range() (from, to, n int) {
	n = len(g.content.Rows)
	return min(g.from+1, n), min(g.from+g.h, n), n
}

// Block is the grid as a block of at least least rows, and at most as many as it has.
func (g *Grid) Block(t *Theme, priority, least int) Block {
	n := len(g.content.Rows)
	return Block{priority, min(least, n) + 1, n + 1, func(w, h int) string { return g.View(t, w, h) }}
}

// View draws the head and the rows around the cursor. The selected row has a mark and is reversed.
func (g *Grid) View(t *Theme, w, h int) string {
	lines := g.content.Lines(w-2, t.Tone)
	g.h = h - 1
	g.from = Window(g.from, min(g.at+g.Below, len(lines)-2), len(lines)-1, g.h)
	g.from = Window(g.from, g.at, len(lines)-1, g.h)
	out := []string{"  " + lines[0]}
	for i := g.from; i < len(lines)-1 && i < g.from+g.h; i++ {
		line := "  " + lines[i+1]
		if i == g.at {
			line = t.Select.S(fit.Left(t.Glyph.Cursor+" "+ansi.Strip(lines[i+1]), w))
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// Bar returns a horizontal bar of w cells, filled by share, from 0 to 1, to an eighth of a cell.
func (t *Theme) Bar(share float64, w int, paint Paint) string {
	const parts = "█▉▊▋▌▍▎▏"
	eighths := int(max(0, min(share, 1))*float64(8*w) + 0.5)
	full := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		full += string([]rune(parts)[8-rest])
	}
	return fit.Left(paint.S(full), w)
}

// Progress returns a line of w cells, drawn by share, from 0 to 1. It does not move by itself:
// nothing is animated while a step is measured.
func (t *Theme) Progress(share float64, w int) string {
	n := int(max(0, min(share, 1))*float64(w) + 0.5)
	return t.Title.S(strings.Repeat("━", n)) + t.Faint.S(strings.Repeat("╌", max(0, w-n)))
}

// Sparkline draws the last w values over one line, scaled to most; a negative value is a gap.
func (t *Theme) Sparkline(values []float64, most float64, w int, paint Paint) string {
	values = values[max(0, len(values)-w):]
	blocks := t.Glyph.Blocks
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", w-len(values)))
	for _, v := range values {
		if v < 0 || most <= 0 {
			b.WriteByte(' ')
			continue
		}
		b.WriteString(blocks[min(len(blocks)-1, int(v/most*float64(len(blocks))))])
	}
	return paint.S(b.String())
}
