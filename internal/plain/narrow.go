package plain

import (
	"strings"
	"unicode/utf8"
)

// leastLabel is what remains of a label, in characters, where its table is too wide still.
const leastLabel = 8

// shorten cuts the first column, but for its title, to rows of width; 0 or less is no bound.
func shorten(rows [][]string, width int) [][]string {
	widths := columnWidths(rows)
	over := -2 - width
	for _, w := range widths {
		over += w + 2
	}
	if width <= 0 || over <= 0 || len(widths) == 0 {
		return rows
	}
	room := max(leastLabel, utf8.RuneCountInString(rows[0][0]), widths[0]-over)
	for _, row := range rows[1:] {
		if utf8.RuneCountInString(row[0]) > room {
			row[0] = string([]rune(row[0])[:room-1]) + "…"
		}
	}
	return rows
}

// wrap breaks text at spaces into lines of at most width characters, where it can, those behind the
// first two to the right; 0 or less is no bound.
func wrap(text string, width int) string {
	if width <= 0 || utf8.RuneCountInString(text) <= width {
		return text
	}
	var b strings.Builder
	n := 0
	for i, word := range strings.Split(text, " ") {
		cells := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case n+1+cells > width:
			b.WriteString("\n  ")
			n = 2
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += cells
	}
	return b.String()
}
