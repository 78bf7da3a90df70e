package run

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/table"
)

// table returns the table of the conclusion for this terminal: contenders with their marks, values
// with bars, and the columns in the order in which a narrow terminal leaves them out.
func (r *Result) table() table.Table {
	t := r.end.Table
	t.Columns, t.Rows = slices.Clone(t.Columns), slices.Clone(t.Rows)
	for i := range t.Rows {
		t.Rows[i].Cells = slices.Clone(t.Rows[i].Cells)
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		c.Title = said(c.Title)
		switch {
		case c.Drop > 0:
			c.Drop += len(t.Columns)
		case i > t.Heading+1 && !c.Left:
			c.Drop = i
		}
		r.column(t, i)
		c.Wrap = false
	}
	return t
}

// column draws the cells of a column.
func (r *Result) column(t table.Table, i int) {
	bar := r.bar(t, i)
	wide := 0
	for _, row := range t.Rows {
		if i < len(row.Cells) {
			wide = max(wide, fit.Width(row.Cells[i].Text))
		}
	}
	for n, row := range t.Rows {
		if i >= len(row.Cells) {
			continue
		}
		c := &row.Cells[i]
		c.Text = said(c.Text)
		if t.Columns[i].Wrap {
			c.Text = brief(c.Text)
		}
		hue := r.theme.Faint // of an excluded contender
		if row.Mark > 0 && r.end.Table.Rows[n].Cells[t.Heading].Tone != table.Faint {
			hue = r.theme.Hue(r.mark(row.Mark - 1))
		}
		// A color in the text would end that of the cell.
		value := r.theme.Tone(c.Tone, c.Text)
		switch {
		case i == t.Heading && row.Mark > 0:
			c.Text, c.Tone = hue.S(r.theme.Glyph.Marks[r.mark(row.Mark-1)%len(r.theme.Glyph.Marks)])+" "+value, table.Plain
		case r.size.Class == ui.Column && i == barred(t, 0): // the value alone, without its CI
			c.Text, _, _ = strings.Cut(strings.ReplaceAll(c.Text, ", ", " "), " ")
		case bar > 0 && c.Share != nil:
			pad := strings.Repeat(" ", 1+max(0, wide-fit.Width(c.Text)))
			c.Text, c.Tone = r.theme.Bar(*c.Share, bar, hue)+pad+value, table.Plain
		}
	}
}

// bar returns the length of the bars of a column; 0: it has none. A small terminal has room for
// those of one column.
func (r *Result) bar(t table.Table, i int) int {
	switch first := barred(t, 0); {
	case barred(t, i) != i || r.size.Class == ui.Column:
		return 0
	case r.size.Class == ui.Full && i == first:
		return 18
	case r.size.Class == ui.Full:
		return 10
	case i == first:
		return 12
	}
	return 0
}

// barred returns the first column with bars from a column on; the number of columns if none has.
func barred(t table.Table, from int) int {
	for i := from; i < len(t.Columns); i++ {
		has := func(row table.Row) bool { return i < len(row.Cells) && row.Cells[i].Share != nil }
		if slices.ContainsFunc(t.Rows, has) {
			return i
		}
	}
	return len(t.Columns)
}

// mark returns the number of the mark of the n-th contender.
func (r *Result) mark(n int) int { return markOf(r.end.of.Run, r.end.of.Ordered()[n].Label, n) }

// brief returns the first words of a text that explains itself: "quota: 98% of 1.5 CPUs".
func brief(text string) string {
	name, _, _ := strings.Cut(text, ": ")
	return name
}

// sentence returns what the row under the cursor has no room for; "" if there is nothing.
func (r *Result) sentence() string {
	t, at := r.end.Table, r.grid.Row()
	i := slices.IndexFunc(t.Columns, func(c table.Column) bool { return c.Wrap })
	if i < 0 || at < 0 || i >= len(t.Rows[at].Cells) {
		return ""
	}
	cells := t.Rows[at].Cells
	if text := cells[i].Text; text != brief(text) {
		return cells[t.Heading].Text + ", " + t.Columns[i].Title + " " + text
	}
	return ""
}
