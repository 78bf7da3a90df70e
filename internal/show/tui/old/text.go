package old

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Outside is ui.Outside.
func Outside(s string, n int) string { return ui.Outside(s, n) }

// Outside makes text from outside safe to show in this look, in ASCII if the look has only that.
func (l *Look) Outside(s string, n int) string { return l.ASCIIOnly(Outside(s, n)) }

func isASCII(s string) bool { return within(s, 0, utf8.RuneSelf-1) }

// within reports whether every byte of s is in that range.
func within(s string, least, most byte) bool {
	for i := range len(s) {
		if s[i] < least || s[i] > most {
			return false
		}
	}
	return true
}

// asciiOf holds the ASCII substitutes for characters that locbench writes itself.
var asciiOf = map[rune]string{
	'µ': "u", '×': "x", '–': "-", '—': "-", '−': "-", '…': "~", '≥': ">=", '≤': "<=",
	'→': "->", '↑': "^", '↓': "v", '←': "<-", '·': ".",
}

// ASCIIOnly replaces other characters than ASCII if the look has only ASCII. Call it before the
// text is laid out: → takes two cells as ->.
func (l *Look) ASCIIOnly(s string) string {
	if !l.ASCII || isASCII(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else if text, ok := asciiOf[r]; ok {
			b.WriteString(text)
		} else {
			b.WriteString(strings.Repeat("?", max(1, ansi.StringWidth(string(r)))))
		}
	}
	return b.String()
}

// Width returns the number of cells of s, without escape sequences.
func Width(s string) int {
	if within(s, 0x20, 0x7e) { // every byte is one cell
		return len(s)
	}
	return ansi.StringWidth(s)
}

// Cut shortens s to at most w cells, with an ellipsis at the end.
func (l *Look) Cut(s string, w int) string {
	switch {
	case w <= 0:
		return ""
	case len(s) <= w && within(s, 0x20, 0x7e):
		return s
	}
	return ansi.Truncate(s, w, l.Glyph.Ellipsis)
}

// Fit returns s in exactly w cells: cut, or padded on the right.
func (l *Look) Fit(s string, w int) string {
	s = l.Cut(s, w)
	return s + spaces(w-Width(s))
}

// Right returns s in exactly w cells: cut, or padded on the left.
func (l *Look) Right(s string, w int) string {
	s = l.Cut(s, w)
	return spaces(w-Width(s)) + s
}

// Between puts a to the left and b to the right of w cells; a is cut first, so a gap stays.
func (l *Look) Between(a, b string, w int) string {
	switch bw := Width(b); {
	case bw >= w:
		return l.Fit(b, w)
	case bw == 0:
		return l.Fit(a, w)
	default:
		return l.Fit(l.Fit(a, w-bw-1), w-bw) + b
	}
}

func spaces(n int) string { return strings.Repeat(" ", max(0, n)) }

// Screen makes exactly h lines of exactly w cells out of lines.
func (l *Look) Screen(lines []string, w, h int) []string {
	out := make([]string, max(0, h))
	copy(out, lines)
	for i := range out {
		out[i] = l.Fit(out[i], w)
	}
	return out
}

// Indent puts a blank before every line, in place.
func Indent(lines []string) []string {
	for i, line := range lines {
		lines[i] = " " + line
	}
	return lines
}

// SideBySide puts blocks of equally wide lines side by side; short blocks are filled up.
func SideBySide(gap int, blocks ...[]string) []string {
	h := 0
	for _, b := range blocks {
		h = max(h, len(b))
	}
	out := make([]string, h)
	for i := range out {
		cells := make([]string, len(blocks))
		for n, block := range blocks {
			if i < len(block) {
				cells[n] = block[i]
			} else if len(block) > 0 {
				cells[n] = spaces(Width(block[0]))
			}
		}
		out[i] = strings.Join(cells, spaces(gap))
	}
	return out
}

// Box frames lines under a title, in exactly w by h cells; lines that do not fit are omitted.
func (l *Look) Box(title string, lines []string, w, h int, focused bool) []string {
	if w < 4 || h < 2 {
		return l.Screen(lines, w, h)
	}
	g, border := l.Glyph, l.Border
	if focused {
		border = l.Accent
	}
	top := border.S(g.TopLeft + g.Horizontal)
	if head := l.Cut(title, w-6); head != "" {
		top += " " + head + " "
	}
	out := []string{top + border.S(strings.Repeat(g.Horizontal, max(0, w-1-Width(top)))+g.TopRight)}
	side := border.S(g.Vertical)
	for _, line := range l.Screen(lines, w-2, h-2) {
		out = append(out, side+line+side)
	}
	return append(out, border.S(g.BottomLeft+strings.Repeat(g.Horizontal, w-2)+g.BottomRight))
}

// Splice puts s, which is sw cells wide, over the cells of line from x on; line is w cells wide.
func (l *Look) Splice(line, s string, x, sw, w int) string {
	return l.Fit(ansi.Truncate(line, x, ""), x) + s + ansi.TruncateLeft(line, x+sw, "")
}

// Each paints every line, in place.
func Each(p Paint, lines []string) []string {
	for i, line := range lines {
		lines[i] = p.S(line)
	}
	return lines
}
