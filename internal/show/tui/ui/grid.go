package ui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/table"
)

// Grid is a table with a cursor. Columns, alignment and what is left out in a narrow terminal are
// those of package table; a cell may be painted. Each row is one line, or two in a list.
type Grid struct {
	content table.Table
	at      int
	list    bool // a row of the grid is two of the table, and there is no head
	from, h int  // rows in sight in the last View

	// Below is how many rows below the selected one are in sight too.
	Below int
}

// NewList returns a grid without a head, of which a row is two rows of the table.
func NewList() *Grid { return &Grid{list: true} }

// lines returns the lines of the head and of each row.
func (g *Grid) lines() (head, each int) {
	if g.list {
		return 0, 2
	}
	return 1, 1
}

func (g *Grid) rows() int {
	_, each := g.lines()
	return len(g.content.Rows) / each
}

// Set replaces the content. The cursor stays on the row with its number.
func (g *Grid) Set(t table.Table) {
	g.content = t
	g.Select(g.at)
}

// Row returns the index of the selected row, -1 if there is none.
func (g *Grid) Row() int { return min(g.at, g.rows()-1) }

// Select moves the cursor to a row, or the nearest.
func (g *Grid) Select(row int) { g.at = max(0, min(row, g.rows()-1)) }

// Update moves the cursor; moved is false for other keys.
func (g *Grid) Update(k Key) (moved bool) {
	by, moved := Moves(k, g.h)
	if moved {
		g.Select(g.at + by)
	}
	return moved
}

// Range returns the rows in sight, the first as 1, and how many there are.
func (g *Grid) Range() (from, to, n int) {
	n = g.rows()
	return min(g.from+1, n), min(g.from+g.h, n), n
}

// Block is the grid as a block of at least least rows, and at most as many as it has.
func (g *Grid) Block(t *Theme, priority, least int) Block {
	head, each := g.lines()
	n := g.rows()
	return Block{priority, head + each*min(least, n), head + each*n, func(w, h int) string { return g.View(t, w, h) }}
}

// View draws the head and the rows around the cursor. The selected row has a mark and is reversed.
func (g *Grid) View(t *Theme, w, h int) string {
	head, each := g.lines()
	lines := g.content.Lines(w-2, t.Tone)
	g.h = (h - head) / each
	g.from = Window(g.from, min(g.at+g.Below, g.rows()-1), g.rows(), g.h)
	g.from = Window(g.from, g.at, g.rows(), g.h)
	out := []string{"  " + lines[0]}[:head]
	for i := g.from * each; i < len(lines)-1 && i < (g.from+g.h)*each; i++ {
		line := "  " + lines[i+1]
		if i/each == g.at {
			cursor := []string{t.Glyph.Cursor, " "}[i%each]
			line = t.Select.S(fit.Left(cursor+" "+ansi.Strip(lines[i+1]), w))
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// Progress returns a line of w cells, drawn by share, from 0 to 1. It does not move by itself:
// nothing is animated while a step is measured.
func (t *Theme) Progress(share float64, w int) string {
	n := int(max(0, min(share, 1))*float64(w) + 0.5)
	return t.Title.S(strings.Repeat("━", n)) + t.Faint.S(strings.Repeat("╌", max(0, w-n)))
}

// Scroll is lines of which the keys show others where there is no room for all.
type Scroll struct{ viewport.Model }

// NewScroll returns one without lines.
func NewScroll() Scroll { return Scroll{viewport.New()} }

// SetText sets lines that are made for the width of a page without its margin.
func (s *Scroll) SetText(size Size, made func(w int) []string) {
	w, margin := size.Width-2, " "
	if size.Class == Column {
		w, margin = size.Width, ""
	}
	lines := made(w)
	for i := range lines {
		lines[i] = margin + lines[i]
	}
	s.SetContentLines(lines)
}

// Update moves the lines; moved is false for other messages.
func (s *Scroll) Update(msg tea.Msg) (moved bool) {
	press, _ := msg.(tea.KeyPressMsg)
	by, moved := Moves(KeyOf(press), s.Height())
	s.SetYOffset(s.YOffset() + by)
	return moved
}

// ScrollKeys are the keys of lines that scroll, that for the last line first.
func ScrollKeys() []key.Binding {
	return []key.Binding{Hint("scroll", Up, Down), Hint("a page", PageUp, PageDown), Hint("first, last line", First, Last)}
}

// Where says which lines are in sight: "lines 1 to 20 of 45"; "" if all are.
func (s *Scroll) Where() string {
	from, all, h := s.YOffset(), s.TotalLineCount(), s.Height()
	if all <= h {
		return ""
	}
	return fmt.Sprintf("lines %d to %d of %d", from+1, from+h, all)
}

// Draw draws the lines in sight; the last line says which, unless all are.
func (s *Scroll) Draw(t *Theme, w, h int) string {
	more := s.TotalLineCount() > h && h > 3
	if more {
		h--
	}
	s.SetWidth(w)
	s.SetHeight(h)
	s.SetYOffset(s.YOffset()) // there may be less to scroll now
	if more {
		return s.View() + "\n " + t.Faint.S(s.Where())
	}
	return s.View()
}
