// Package safe makes text from outside harmless (logs, responses, labels, YAML): it splits the
// output of a process into lines of limited length, keeps a limited number of them, and replaces
// characters that control a terminal. HTML has its own escaping in package report.
package safe

import (
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/bench"
)

// Line returns s as one line that cannot move the cursor, change colors or the title, or reorder
// the text next to it. Control characters, the starts of escape sequences, invalid UTF-8 and
// invisible formatting characters (including bidirectional overrides) become visible replacements;
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
				i = len(s) // the limit splits a character
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

// Lines returns the lines of s that are not blank, each as by Line: at most most of them, of which
// those in the middle are left out.
func Lines(s string, most, n int) (lines []string) {
	var all []bench.LogLine
	for line := range strings.Lines(s) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			all = append(all, bench.LogLine{Text: line})
		}
	}
	for _, l := range FirstAndLast(all, most) {
		lines = append(lines, Line(l.Text, n))
	}
	return lines
}

// Joined returns s with "; " in place of the ends of lines that do not end with a colon.
func Joined(s string) string {
	var text strings.Builder
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case text.Len() > 0 && strings.HasSuffix(text.String(), ":"):
			text.WriteString(" ")
		case text.Len() > 0:
			text.WriteString("; ")
		}
		text.WriteString(line)
	}
	return text.String()
}

func clean(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// Unsafe characters are the C1 controls (0x9b alone begins an escape sequence), line separators,
// and Unicode's format, private use and surrogate characters.
func unsafe(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}

// IsText reports whether b may be shown as text. The bytes of an image or of a packed body have
// zeros or many control characters; texts in another character set than UTF-8 do not.
func IsText(b []byte) bool {
	controls := 0
	for _, c := range b[:min(len(b), 1000)] {
		switch {
		case c == 0:
			return false
		case c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b || c == 0x7f:
			controls++
		}
	}
	return controls <= 1+min(len(b), 1000)/20
}

// plainWord matches a word that needs no quotes. "=" at the beginning has a meaning in zsh.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+:,./…-][A-Za-z0-9_@%+=:,./…-]*$`)

// Shell returns a command line, on one line, that a POSIX shell reads as exactly these arguments.
// It drops control characters.
func Shell(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		arg = strings.Map(func(r rune) rune {
			if r < 0x20 || r >= 0x7f && r < 0xa0 {
				return -1
			}
			return r
		}, arg)
		if !plainWord.MatchString(arg) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words[i] = arg
	}
	return strings.Join(words, " ")
}

// CSV writes tables for spreadsheets; all tables of locbench go through it. A spreadsheet runs a
// cell that begins like a formula, and its text may come from outside.
type CSV struct{ out *csv.Writer }

// NewCSV returns a CSV that writes to w. Flush it after the last row.
func NewCSV(w io.Writer) CSV { return CSV{csv.NewWriter(w)} }

// Write writes a row: nil as an empty cell, a number in its shortest exact form, and text
// unchanged, but with an apostrophe before text that a spreadsheet would run as a formula.
func (t CSV) Write(cells ...any) error {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = cell(c)
	}
	return t.out.Write(row)
}

// Flush writes the buffered rows and returns the first error.
func (t CSV) Flush() error {
	t.out.Flush()
	return t.out.Error()
}

func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case int, int64, uint64, uint16, bool:
		return fmt.Sprint(v)
	}
	return Cell(fmt.Sprint(v))
}

// Cell returns text in the form that CSV writes, for other writers of tables.
func Cell(text string) string {
	// Spreadsheets also read the wide forms, which some East Asian keyboards write.
	if first := strings.TrimLeft(text, " \n"); first != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", []rune(first)[0]) {
		return "'" + text
	}
	return text
}
