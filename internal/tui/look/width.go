package look

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width is the number of cells that s takes, escape sequences of ours apart.
func Width(s string) int {
	n, known := walk(s, len(s))
	if !known {
		return ansi.StringWidth(s)
	}
	return n
}

// walk counts the cells of s until they are more than limit. What it does not know is left to
// package ansi, which looks at each cluster and takes many times longer.
func walk(s string, limit int) (n int, known bool) {
	for i := 0; i < len(s) && n <= limit; {
		switch c := s[i]; {
		case c >= 0x20 && c < 0x7f:
			n++
			i++
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			w := cells(r)
			if w == 0 || r == utf8.RuneError && size == 1 {
				return 0, false
			}
			n += w
			i += size
		default:
			size := colour(s[i:])
			if size == 0 {
				return 0, false
			}
			i += size
		}
	}
	return n, true
}

// colour is the length of the sequence of colours and styles (SGR) that s begins with, or 0.
func colour(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c < '0' || c > ';':
			return 0
		}
	}
	return 0
}

// cells is the number of cells of the most usual characters, or 0 if that is not known here. None
// of them joins with another.
func cells(r rune) int {
	switch {
	case r < 0xa1, r == 0xad:
		return 0
	case r <= 0x2ff, r >= 0x370 && r <= 0x482, r >= 0x48a && r <= 0x52f, // Latin, Greek, Cyrillic
		r >= 0x2010 && r <= 0x2027, r >= 0x2190 && r <= 0x22ff, // punctuation, arrows, operators
		r >= 0x2500 && r <= 0x25fc, r >= 0x2800 && r <= 0x28ff, r == 0x2713, r == 0x2717, // lines, shapes, Braille
		r >= 0x2400 && r <= 0x2426, r == utf8.RuneError: // what package safe puts for controls and invalid bytes
		return 1
	case r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa, // East Asian
		r >= 0x4e00 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3:
		return 2
	}
	return 0
}

// bound shortens a very long text of which only w cells will be seen: it keeps more text than they
// can hold, and all colours.
func bound(s string, w int) string {
	room := 8 * (w + 2)
	if len(s) <= 2*room {
		return s
	}
	var b strings.Builder
	for s != "" {
		text := strings.IndexByte(s, '\x1b')
		if text < 0 {
			text = len(s)
		}
		keep := min(text, room)
		for keep > 0 && keep < text && !utf8.RuneStart(s[keep]) {
			keep--
		}
		b.WriteString(s[:keep])
		if room -= keep; keep < text {
			room = 0
		}
		s = s[text:]
		n := colour(s)
		b.WriteString(s[:n])
		if n == 0 && s != "" {
			n = 1 // an escape that is none of ours
		}
		s = s[n:]
	}
	return b.String()
}
