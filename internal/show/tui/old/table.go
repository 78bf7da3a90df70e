package old

import (
	"slices"
	"strings"
)

// Column is a column of a table.
type Column struct {
	Title string
	Left  bool // aligned to the left, for text; numbers are aligned to the right
	Drop  int  // if room is short, columns with the highest Drop are omitted first; 0: never
	Max   int  // cells; 0: no limit
}

// Table lays rows out in w cells: a header and a line for each row. Cells may be painted. If room
// is short, columns are omitted by their Drop, those with the same Drop together; then the first
// column is cut.
func (l *Look) Table(columns []Column, rows [][]string, w int) []string {
	titles, widths := make([]string, len(columns)), make([]int, len(columns))
	for i, c := range columns {
		titles[i], widths[i] = c.Title, Width(c.Title)
		for _, row := range rows {
			if i < len(row) {
				widths[i] = max(widths[i], Width(row[i]))
			}
		}
		if c.Max > 0 {
			widths[i] = min(widths[i], c.Max)
		}
	}
	shown := l.columns(columns, widths, w)
	line := func(row []string) string {
		cells := make([]string, len(shown))
		for n, i := range shown {
			if i < len(row) {
				cells[n] = row[i]
			}
			if columns[i].Left {
				cells[n] = l.Fit(cells[n], widths[i])
			} else {
				cells[n] = l.Right(cells[n], widths[i])
			}
		}
		return l.Fit(strings.Join(cells, "  "), w)
	}
	lines := []string{l.Faint.S(line(titles))}
	for _, row := range rows {
		lines = append(lines, line(row))
	}
	return lines
}

// columns returns the columns that fit, and narrows the first one if they still do not.
func (l *Look) columns(columns []Column, widths []int, w int) []int {
	shown := make([]int, len(columns))
	for i := range shown {
		shown[i] = i
	}
	total := func() int {
		n := -2
		for _, i := range shown {
			n += widths[i] + 2
		}
		return n
	}
	for total() > w {
		worst := 0
		for _, i := range shown {
			worst = max(worst, columns[i].Drop)
		}
		if worst == 0 {
			break
		}
		shown = slices.DeleteFunc(shown, func(i int) bool { return columns[i].Drop == worst })
	}
	if over := total() - w; over > 0 && len(shown) > 0 {
		widths[shown[0]] = max(4, widths[shown[0]]-over)
	}
	return shown
}

// Bar returns a horizontal bar of w cells, filled by share, from 0 to 1.
func (l *Look) Bar(share float64, w int, paint Paint) string {
	if w <= 0 {
		return ""
	}
	n := 0
	if share > 0 {
		n = int(min(share, 1)*float64(w) + 0.5)
	}
	return paint.S(strings.Repeat(l.Glyph.Full, n)) + l.Faint.S(strings.Repeat(l.Glyph.Empty, w-n))
}
