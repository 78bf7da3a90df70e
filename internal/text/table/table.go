// Package table is the one model of a table, and its writers: text for terminals and pipes, Markdown
// and HTML. What a table shows is decided where it is made; how it is aligned, fitted to a width and
// escaped is decided here. Cells must not have control characters: see package safe.
package table

import (
	"slices"

	"github.com/locbench/locbench/internal/text/fit"
)

// Column describes a column.
type Column struct {
	Title string
	Left  bool // aligned to the left, for text; numbers are aligned to the right
	Drop  int  // narrow outputs leave columns out, the highest Drop first; 0: never
	Wrap  bool // text wraps within the room that the other columns leave, at most one column
}

// Tone says what a cell means.
type Tone int

// The tones.
const (
	Plain  Tone = iota
	Faint       // of less weight
	Good        // better, passed
	Bad         // worse, failed
	Notice      // a warning, a limit
	Strong      // the best of its column
)

// Cell is a value with what belongs to it.
type Cell struct {
	Text  string
	Small []string // details: HTML writes them below, Markdown in parentheses, text not at all
	Tone  Tone
	Sort  *float64 // the value to sort by, in base units; nil: unknown
	Share *float64 // length of a bar next to the value, 0 to 1; nil: no bar
}

// Row is the cells of a row.
type Row struct {
	Cells []Cell
	Mark  int      // number of the color and the marker of its heading, from 1; 0: none
	Below []string // lines of text below the row
}

// cell returns the cell in a column; an empty one beyond the last.
func (r Row) cell(i int) (c Cell) {
	if i < len(r.Cells) {
		c = r.Cells[i]
	}
	return c
}

// Table is a table.
type Table struct {
	Columns   []Column
	Rows      []Row
	Footnotes []string // sentences about the columns
	Sort      bool     // readers of HTML may sort the rows
	Heading   int      // index of the column with the names of the rows
}

// Add adds a row of texts.
func (t *Table) Add(texts ...string) *Row {
	row := Row{Cells: make([]Cell, len(texts))}
	for i, text := range texts {
		row.Cells[i].Text = text
	}
	t.Rows = append(t.Rows, row)
	return &t.Rows[len(t.Rows)-1]
}

// Without returns the table without the columns of a title.
func (t Table) Without(title string) Table {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Title == title })
	if i < 0 {
		return t
	}
	t.Columns = slices.Delete(slices.Clone(t.Columns), i, i+1)
	if i < t.Heading {
		t.Heading--
	}
	t.Rows = slices.Clone(t.Rows)
	for k := range t.Rows {
		if cells := t.Rows[k].Cells; i < len(cells) {
			t.Rows[k].Cells = slices.Delete(slices.Clone(cells), i, i+1)
		}
	}
	return t
}

// gap is the number of spaces between columns.
const gap = 2

// leastHeading is the least width of a column of names when it is shortened.
const leastHeading = 8

// leastWrapped is the least width of a column that wraps, unless its text is shorter.
const leastWrapped = 24

// fitted is the table in a width: its columns and their widths. Text wraps first, then columns are
// left out, then the longest names are shortened.
func (t Table) fitted(width int) (Table, []int) {
	widths := t.widths()
	if width <= 0 {
		return t, widths
	}
	for {
		if i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Wrap }); i >= 0 {
			least := max(fit.Width(t.Columns[i].Title), leastWrapped)
			widths[i] = max(min(widths[i], least), widths[i]-max(0, total(widths)-width))
		}
		worst := slices.MaxFunc(t.Columns, func(a, b Column) int { return a.Drop - b.Drop })
		if total(widths) <= width || worst.Drop == 0 {
			break
		}
		t = t.Without(worst.Title)
		widths = t.widths()
	}
	if i := t.longest(widths); i >= 0 {
		over := max(0, total(widths)-width)
		widths[i] = min(widths[i], max(leastHeading, fit.Width(t.Columns[i].Title), widths[i]-over))
	}
	return t, widths
}

// longest returns the widest column of text that may be shortened; -1 if there is none.
func (t Table) longest(widths []int) int {
	found := -1
	for i, c := range t.Columns {
		if (c.Left || i == 0) && !c.Wrap && (found < 0 || widths[i] > widths[found]) {
			found = i
		}
	}
	return found
}

func total(widths []int) int {
	n := -gap
	for _, w := range widths {
		n += w + gap
	}
	return n
}

func (t Table) widths() []int {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = fit.Width(c.Title)
		for _, row := range t.Rows {
			widths[i] = max(widths[i], fit.Width(row.cell(i).Text))
		}
	}
	return widths
}
