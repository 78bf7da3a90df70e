package table

import (
	"strings"

	"github.com/locbench/locbench/internal/text/fit"
)

// Text returns the table as lines of at most width cells where possible; 0 is unlimited.
func (t Table) Text(width int) string { return strings.Join(t.Lines(width, nil), "\n") + "\n" }

// Lines returns the lines of Text; paint gives a cell the look of its tone, nil: none.
func (t Table) Lines(width int, paint func(Tone, string) string) []string {
	if paint == nil {
		paint = func(_ Tone, s string) string { return s }
	}
	t, widths := t.fitted(width)
	head := Row{Cells: make([]Cell, len(t.Columns))}
	for i, c := range t.Columns {
		head.Cells[i] = Cell{Text: c.Title, Tone: Faint}
	}
	lines := t.lines(head, widths, paint)
	for _, row := range t.Rows {
		lines = append(lines, t.lines(row, widths, paint)...)
		for _, text := range row.Below {
			for _, line := range fit.Wrap(text, width-2*gap) {
				lines = append(lines, strings.Repeat(" ", 2*gap)+line)
			}
		}
	}
	return lines
}

// lines returns the lines of a row: one, or more if a cell wraps.
func (t Table) lines(row Row, widths []int, paint func(Tone, string) string) []string {
	texts, height := make([][]string, len(t.Columns)), 1
	for i, c := range t.Columns {
		text := row.cell(i).Text
		texts[i] = []string{fit.Cut(text, widths[i])}
		if c.Wrap {
			texts[i] = fit.Wrap(text, widths[i])
		}
		height = max(height, len(texts[i]))
	}
	lines := make([]string, height)
	for n := range lines {
		var b strings.Builder
		space := 0 // before the next text; none at the end of a line
		for i, c := range t.Columns {
			text := ""
			if n < len(texts[i]) {
				text = texts[i][n]
			}
			before, after := 0, widths[i]-fit.Width(text)
			if !c.Left && i > 0 {
				before, after = after, 0
			}
			if text != "" {
				b.WriteString(strings.Repeat(" ", max(0, space+before)) + paint(row.cell(i).Tone, text))
				space = 0
			} else {
				after += before
			}
			space += after + gap
		}
		lines[n] = b.String()
	}
	return lines
}
