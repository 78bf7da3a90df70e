package ui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/safe"
)

// Outside makes text from outside safe to show: it keeps at most n bytes, and nothing in it moves
// the cursor, colors, reorders or changes the title (package safe). Every character has the same
// width in all terminals and next to any other, so the layout holds: combining marks are removed,
// and characters that join in other ways (flags, parts of Korean syllables) are replaced.
func Outside(s string, n int) string {
	s = safe.Line(s, n)
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch kindOf(r) {
		case alone:
			b.WriteRune(r)
		case joins:
			b.WriteRune(utf8.RuneError)
		}
	}
	return b.String()
}

// The kinds of characters by their effect on neighbors.
const (
	alone   = iota
	joins   // joins with its neighbors, or terminals disagree about its width
	follows // is a part of the character before
)

func kindOf(r rune) int {
	switch {
	case r < utf8.RuneSelf || cells(r) > 0:
		return alone
	case r >= 0x1100 && r <= 0x11ff, r >= 0xa960 && r <= 0xa97f, r >= 0xd7b0 && r <= 0xd7ff, // conjoining jamo
		r >= 0x1f1e6 && r <= 0x1f1ff: // regional indicators
		return joins
	}
	one := string(r)
	w := ansi.StringWidth(one)
	switch {
	case w <= 0 || ansi.StringWidth("a"+one) == 1:
		return follows
	case w > 2, ansi.StringWidthWc(one) != w, ansi.StringWidth("a"+one+"a") != w+2, ansi.StringWidth("가"+one) != w+2:
		return joins
	}
	return alone
}

// cells returns the number of cells of common characters that never join; 0 for all others.
func cells(r rune) int {
	switch {
	case r < 0xa1, r == 0xad:
		return 0
	case r <= 0x2ff, r >= 0x370 && r <= 0x482, r >= 0x48a && r <= 0x52f, // Latin, Greek, Cyrillic
		r >= 0x2010 && r <= 0x2027, r >= 0x2190 && r <= 0x22ff, // punctuation, arrows, operators
		r >= 0x2500 && r <= 0x25fc, r >= 0x2800 && r <= 0x28ff, r == 0x2713, r == 0x2717, // lines, shapes, Braille
		r >= 0x2400 && r <= 0x2426, r == utf8.RuneError: // substitutes of package safe for controls and invalid bytes
		return 1
	case r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa, // East Asian
		r >= 0x4e00 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3:
		return 2
	}
	return 0
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// asciiOf holds the ASCII substitutes for characters that locbench writes itself, cell by cell, so
// a view keeps its layout.
var asciiOf = strings.NewReplacer(
	"µ", "u", "×", "x", "±", "+", "–", "-", "—", "-", "−", "-", "…", "~", "≥", ">", "≤", "<", "≈", "~", "·", ".",
	"“", `"`, "”", `"`, "→", ">", "↑", "^", "↓", "v", "▼", "v", "←", "<", "‹", "<", "›", ">", "▸", ">", "▾", "v", "▶", ">", "‖", "=", "✓", "v",
	"✗", "X",
	"─", "-", "│", "|", "╭", "+", "╮", "+", "╰", "+", "╯", "+", "├", "+", "┤", "+", "┈", ".", "┊", ":", "╵", "|",
	"━", "=", "╌", "-", "█", "#", "▉", "#", "▊", "#", "▋", "#", "▌", "#", "▍", ".", "▎", ".", "▏", ".", "░", ".",
	"▁", ".", "▂", ".", "▃", ":", "▄", ":", "▅", ":", "▆", "#", "▇", "#",
	"●", "o", "■", "x", "▲", "+", "◆", "*", "○", "#", "□", "@", "△", "a", "◇", "b", "◉", "*",
)

// ASCIIOnly replaces other characters than ASCII if the theme has only ASCII, each by as many
// cells. The program does it for every view, so pages write what they mean.
func (t *Theme) ASCIIOnly(s string) string {
	if !t.ASCII || isASCII(s) {
		return s
	}
	s = asciiOf.Replace(s)
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Repeat("?", max(1, ansi.StringWidth(string(r)))))
		}
	}
	return b.String()
}

// Wrap breaks a text at spaces and ends of lines into lines of at most w cells. A longer word, such
// as a path, is broken too: nothing is lost. Lines are painted afterwards.
func Wrap(s string, w int) (lines []string) {
	if w <= 0 {
		return nil
	}
	for part := range strings.SplitSeq(s, "\n") {
		for _, line := range fit.Wrap(part, w) {
			lines = append(lines, strings.Split(ansi.Hardwrap(line, w, true), "\n")...)
		}
	}
	return lines
}

// Words shortens a line to w cells between two words, if it has several.
func Words(s string, w int) string {
	if fit.Width(s) <= w || w < 3 {
		return fit.Cut(s, w)
	}
	first := fit.Wrap(s, w-2)[0]
	if fit.Width(first) > w-2 { // a single word
		return fit.Cut(s, w)
	}
	return strings.TrimRight(first, ";:.") + " " + fit.Ellipsis
}

// Hang is Wrap with a painted head before the first line and as many spaces before the others.
func Hang(head, s string, w int, paint Paint) []string {
	indent := fit.Width(head)
	lines := Wrap(s, max(1, w-indent))
	for i, line := range lines {
		lines[i] = head + paint.S(line)
		head = strings.Repeat(" ", indent)
	}
	return lines
}

// Said returns lines of the end of a run in w cells, safe and painted; the first are the verdict.
func (t *Theme) Said(text []string, verdict int, tone conclusion.Tone, w int) (all []string) {
	of := map[conclusion.Tone]Paint{conclusion.Good: t.Good, conclusion.Bad: t.Bad}[tone]
	for i, line := range text {
		paint := func(s string) string { return s }
		switch {
		case i < verdict:
			paint = func(s string) string { return t.Strong.S(of.S(s)) }
		case strings.HasPrefix(line, "✗ "):
			paint = t.Bad.S
		case strings.HasPrefix(line, "! "):
			paint = t.Warn.S
		}
		for _, part := range strings.Split(ansi.Hardwrap(Outside(line, saidBytes), w, true), "\n") { // such as a long path
			all = append(all, paint(part))
		}
	}
	return all
}

// saidBytes is the most bytes of a line.
const saidBytes = 4000

// Exact makes exactly h lines of exactly w cells out of lines.
func Exact(lines []string, w, h int) []string {
	out := make([]string, max(0, h))
	copy(out, lines)
	for i, line := range out {
		out[i] = fit.Exact(line, w)
	}
	return out
}

// Rule is the line above a block: a title, what belongs to it on the right, and dots in between. If
// both do not fit, the right side is left out.
func (t *Theme) Rule(left, right string, w int) string {
	n := w - fit.Width(left) - fit.Width(right) - 2
	if right == "" {
		n++
	}
	if n < 1 {
		return fit.Cut(left, w)
	}
	line := left + " " + t.Faint.S(strings.Repeat("┈", n))
	if right != "" {
		line += " " + right
	}
	return line
}

// Ends puts left and right at the two ends of w cells. Left is cut first; right is left out whole.
func Ends(left, right string, w int) string {
	if n := fit.Width(right); n > 0 && n+1 < w {
		return fit.Left(fit.Cut(left, w-n-1), w-n) + right
	}
	return fit.Cut(left, w)
}

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
