// Package fit makes text fit the width of an output: it measures, shortens, pads and wraps. Widths
// are cells of a terminal, so a wide character counts twice. Text may be styled: escape sequences
// have no width and survive.
package fit

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Ellipsis is the end of shortened text.
const Ellipsis = "…"

// Width returns the width of a line.
func Width(s string) int {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return ansi.StringWidth(s)
		}
	}
	return len(s) // every byte is one cell
}

// Cut shortens a line to at most width cells, with an ellipsis at its end.
func Cut(s string, width int) string {
	switch {
	case width <= 0:
		return ""
	case Width(s) <= width:
		return s
	}
	return ansi.Truncate(s, width, Ellipsis)
}

// Left pads a line on its right side to width cells.
func Left(s string, width int) string { return s + strings.Repeat(" ", max(0, width-Width(s))) }

// Exact shortens or pads a line to width cells.
func Exact(s string, width int) string {
	have := Width(s)
	if have > width {
		return Left(Cut(s, width), width)
	}
	return s + strings.Repeat(" ", width-have)
}

// Wrap breaks a line at spaces into lines of at most width cells; a longer word has a line alone.
// A width of 0 or less is unlimited.
func Wrap(s string, width int) []string {
	if width <= 0 || Width(s) <= width {
		return []string{s}
	}
	var lines []string
	line, cells := "", 0
	for i, word := range strings.Split(s, " ") {
		w := Width(word)
		switch {
		case i == 0:
			line, cells = word, w
		case cells+1+w <= width:
			line, cells = line+" "+word, cells+1+w
		default:
			lines = append(lines, line)
			line, cells = word, w
		}
	}
	return append(lines, line)
}

// Paragraph wraps a line into one text. Its second and later lines begin with indent.
func Paragraph(s string, width int, indent string) string {
	if width <= 0 || Width(s) <= width {
		return s
	}
	first := Wrap(s, width)[0]
	rest, more := strings.CutPrefix(s[len(first):], " ")
	if !more {
		return first
	}
	return first + "\n" + indent + strings.Join(Wrap(rest, max(1, width-Width(indent))), "\n"+indent)
}
