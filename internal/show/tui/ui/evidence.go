package ui

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/table"
)

// MarkOf returns the number of the mark of a contender: its place in the profile, so it is the same
// on every page, before and after it has failed; n if it is not there.
func MarkOf(run bench.Run, label string, n int) int {
	if i := slices.IndexFunc(run.Profile.Contenders, func(s bench.Selection) bool { return s.String() == label }); i >= 0 {
		return i
	}
	return n
}

// Marks returns the numbers of the marks of the contenders of a run in the order of its tables.
func Marks(a *analysis.Run) (all []int) {
	for n, c := range a.Ordered() {
		all = append(all, MarkOf(a.Run, c.Label, n))
	}
	return all
}

// Evidence returns the table of a conclusion for a terminal: contenders with their marks, values
// with bars, and the columns in the order in which a narrow terminal leaves them out.
func (t *Theme) Evidence(of table.Table, class Class, marks []int) table.Table {
	of.Columns, of.Rows = slices.Clone(of.Columns), slices.Clone(of.Rows)
	for i := range of.Rows {
		of.Rows[i].Cells = slices.Clone(of.Rows[i].Cells)
	}
	faint := func(row table.Row) bool { return row.Cells[of.Heading].Tone == table.Faint } // excluded
	hues := make([]Paint, len(of.Rows))
	for n, row := range of.Rows {
		if hues[n] = t.Faint; row.Mark > 0 && !faint(row) {
			hues[n] = t.Hue(marks[row.Mark-1])
		}
	}
	first := barred(of, 0)
	for i := range of.Columns {
		c := &of.Columns[i]
		c.Title = Outside(c.Title, evidenceBytes)
		switch {
		case c.Drop > 0:
			c.Drop += len(of.Columns)
		case i > of.Heading+1 && !c.Left:
			c.Drop = i
		}
		bar := 0
		if barred(of, i) == i {
			bar = bars(class, i == first)
		}
		wide := 0
		for _, row := range of.Rows {
			if i < len(row.Cells) {
				wide = max(wide, fit.Width(row.Cells[i].Text))
			}
		}
		for n, row := range of.Rows {
			if i >= len(row.Cells) {
				continue
			}
			cell := &row.Cells[i]
			if cell.Text = Outside(cell.Text, evidenceBytes); c.Wrap {
				cell.Text = Brief(cell.Text)
			}
			value := t.Tone(cell.Tone, cell.Text) // a color in the text would end that of the cell
			switch {
			case i == of.Heading && row.Mark > 0:
				mark := t.Glyph.Marks[marks[row.Mark-1]%len(t.Glyph.Marks)]
				cell.Text, cell.Tone = hues[n].S(mark)+" "+value, table.Plain
			case class == Column && i == first: // the value alone, without its CI
				cell.Text, _, _ = strings.Cut(strings.ReplaceAll(cell.Text, ", ", " "), " ")
			case bar > 0 && cell.Share != nil:
				pad := strings.Repeat(" ", 1+max(0, wide-fit.Width(cell.Text)))
				cell.Text, cell.Tone = t.Bar(*cell.Share, bar, hues[n])+pad+value, table.Plain
			}
		}
		c.Wrap = false
	}
	return of
}

// evidenceBytes is the most bytes of a cell.
const evidenceBytes = 4000

// bars returns the length of the bars of a column; 0: it has none. A small terminal has room for
// those of one column.
func bars(class Class, first bool) int {
	switch {
	case class == Full && first:
		return 18
	case class == Full:
		return 10
	case class == Compact && first:
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

// Brief returns the first words of a text that explains itself: "quota: 98% of 1.5 CPUs".
func Brief(text string) string {
	name, _, _ := strings.Cut(text, ": ")
	return name
}
