package ui

import "github.com/locbench/locbench/internal/text/fit"

// Row is a text with its name.
type Row struct{ Name, Text string }

// Rows writes texts whole, in lines of at most w cells: their names are in a separate column, or before
// the text where it is narrow.
func (t *Theme) Rows(rows []Row, w int) (lines []string) {
	names := 0
	for _, row := range rows {
		names = max(names, fit.Width(row.Name)+2)
	}
	if w < 3*names {
		names = 0
	}
	for _, row := range rows {
		head, text := "  "+t.Faint.S(fit.Left(row.Name, names)), row.Text
		if names == 0 {
			head, text = "  ", row.Name+": "+row.Text
		}
		lines = append(lines, Hang(head, text, w, Paint{})...)
	}
	return lines
}

// Problem writes what happened and what to do, whole.
func (t *Theme) Problem(head, remedy string, w int) []string {
	return append(Hang(t.Bad.S(t.Glyph.Cross)+" ", head, w, t.Bad), t.Rows([]Row{{"remedy", remedy}}, w)...)
}
