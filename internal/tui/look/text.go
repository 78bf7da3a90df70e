package look

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"locbench/internal/safe"
)

// Outside makes text from outside fit to stand between ours: at most n bytes of it are kept; nothing in it moves the cursor, colours,
// reorders or changes the title (package safe); and no character of it is counted as wider by one terminal than by another,
// as combining marks, joined emoji and their like are, so that the layout holds.
func Outside(s string, n int) string {
	s = safe.Line(s, n)
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	var state byte
	for len(s) > 0 {
		seq, width, size, next := ansi.DecodeSequence(s, state, nil)
		state = next
		switch {
		case size <= 0:
			return b.String()
		case width <= 0:
			// a mark that combines with nothing, or what no terminal shows
		case utf8.RuneCountInString(seq) == 1 && ansi.StringWidthWc(seq) == width && width <= 2:
			b.WriteString(seq)
		default:
			// Terminals disagree about the width of clusters: the first character stands for all of it.
			r, _ := utf8.DecodeRuneInString(seq)
			if one := string(r); ansi.StringWidth(one) == ansi.StringWidthWc(one) && ansi.StringWidth(one) > 0 {
				b.WriteString(one)
			} else {
				b.WriteRune(utf8.RuneError)
			}
		}
		s = s[size:]
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Width is the number of cells that s takes, escape sequences of ours apart.
func Width(s string) int { return ansi.StringWidth(s) }

// ASCIIOnly replaces what is not ASCII in text that is about to be shown by a look that has only that. The units that locbench
// writes itself keep their meaning: µ becomes u, × becomes x.
func (l *Look) ASCIIOnly(s string) string {
	if !l.ASCII || isASCII(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r == 'µ':
			b.WriteByte('u')
		case r == '×':
			b.WriteByte('x')
		case r == '–', r == '—', r == '−':
			b.WriteByte('-')
		case r == '…':
			b.WriteByte('~')
		case r == '≥':
			b.WriteString(">=")
		case r == '·':
			b.WriteByte('.')
		default:
			b.WriteString(strings.Repeat("?", max(1, ansi.StringWidth(string(r)))))
		}
	}
	return b.String()
}

// Cut shortens s to at most w cells; what was cut is told by an ellipsis.
func (l *Look) Cut(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if len(s) <= w && isPlain(s) {
		return s
	}
	if ansi.StringWidth(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, l.Glyph.Ellipsis)
}

// isPlain tells whether every byte of s is one cell.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// Fit is s in exactly w cells: cut, or padded on the right.
func (l *Look) Fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	s = l.Cut(s, w)
	return s + spaces(w-ansi.StringWidth(s))
}

// Right is s in exactly w cells: cut, or padded on the left.
func (l *Look) Right(s string, w int) string {
	if w <= 0 {
		return ""
	}
	s = l.Cut(s, w)
	return spaces(w-ansi.StringWidth(s)) + s
}

// Between puts a to the left and b to the right of w cells; a is cut first.
func (l *Look) Between(a, b string, w int) string {
	bw := ansi.StringWidth(b)
	if bw >= w {
		return l.Fit(b, w)
	}
	return l.Fit(a, w-bw) + b
}

const blank = "                                                                                                                                "

func spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blank) {
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}

// Screen makes exactly h lines of exactly w cells out of lines.
func (l *Look) Screen(lines []string, w, h int) []string {
	out := make([]string, h)
	for i := range out {
		if i < len(lines) {
			out[i] = l.Fit(lines[i], w)
		} else {
			out[i] = spaces(w)
		}
	}
	return out
}

// Beside puts blocks of lines side by side, each already as wide as it is to be; short ones are filled by blank lines of their width.
func Beside(gap int, blocks ...[]string) []string {
	h := 0
	for _, b := range blocks {
		h = max(h, len(b))
	}
	out := make([]string, h)
	for i := range out {
		var b strings.Builder
		for n, block := range blocks {
			if n > 0 {
				b.WriteString(spaces(gap))
			}
			switch {
			case i < len(block):
				b.WriteString(block[i])
			case len(block) > 0:
				b.WriteString(spaces(ansi.StringWidth(block[0])))
			}
		}
		out[i] = b.String()
	}
	return out
}

// Wrap breaks s at spaces into lines of at most w cells, at most n of them (0: as many as it takes).
func (l *Look) Wrap(s string, w, n int) []string {
	if w <= 0 {
		return nil
	}
	lines := strings.Split(ansi.Wrap(s, w, ""), "\n")
	if n > 0 && len(lines) > n {
		lines = lines[:n]
		lines[n-1] = l.Cut(lines[n-1]+l.Glyph.Ellipsis+blank[:1], w)
	}
	return lines
}

// Box frames lines under a title. It is exactly w by h cells; what does not fit is left out.
func (l *Look) Box(title string, lines []string, w, h int, focused bool) []string {
	if w < 4 || h < 2 {
		return l.Screen(lines, w, h)
	}
	g, border := l.Glyph, l.Border
	if focused {
		border = l.Accent
	}
	head := l.Cut(title, w-6)
	top := border.S(g.TopLeft + g.Horizontal)
	if head != "" {
		top += " " + head + " "
	}
	top += border.S(strings.Repeat(g.Horizontal, max(0, w-1-ansi.StringWidth(top))) + g.TopRight)
	out := make([]string, 0, h)
	out = append(out, top)
	side := border.S(g.Vertical)
	for i := range h - 2 {
		text := ""
		if i < len(lines) {
			text = lines[i]
		}
		out = append(out, side+l.Fit(text, w-2)+side)
	}
	return append(out, border.S(g.BottomLeft+strings.Repeat(g.Horizontal, w-2)+g.BottomRight))
}

// Splice puts s, which is sw cells wide, over the cells of line from x on; line is w cells wide.
func (l *Look) Splice(line, s string, x, sw, w int) string {
	return l.Fit(ansi.Truncate(line, x, ""), x) + s + ansi.TruncateLeft(line, x+sw, "")
}
