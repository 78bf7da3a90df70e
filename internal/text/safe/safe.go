// Package safe makes text from outside harmless (logs, answers, labels, YAML): it cuts the stream
// that a process writes into bounded lines, keeps a bounded number of them, and neutralises what a
// terminal would obey. HTML has its own escaping in package report.
package safe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s as one line that cannot move the cursor, change colours or the title, or reorder
// what stands next to it: control characters, escape sequences' introducers, invalid UTF-8 and
// invisible formatting characters (bidirectional overrides among them) become visible replacements;
// tabs and line ends become a space. At most n bytes of s are kept.
func Line(s string, n int) string {
	cut := len(s) > n
	if cut {
		s = s[:n]
	}
	if !cut && clean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i, w := 0, 0; i < len(s); i += w {
		r, size := utf8.DecodeRuneInString(s[i:])
		w = size
		switch {
		case r == utf8.RuneError && size == 1:
			if cut && i > n-utf8.UTFMax && !utf8.FullRuneInString(s[i:]) {
				i = len(s) // half a character at the cut
				break
			}
			b.WriteRune(utf8.RuneError)
		case r == '\t' || r == '\n' || r == '\r':
			b.WriteByte(' ')
		default:
			b.WriteRune(shown(r))
		}
	}
	if cut {
		b.WriteString("…")
	}
	return b.String()
}

func clean(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// unsafe characters are the C1 controls (0x9b alone begins an escape sequence), line separators,
// and everything that Unicode calls a format character, private use or unassigned surrogate.
func unsafe(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}
