package old

import (
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/figures/measure"
)

// Keys returns the keys of s and, unless text is typed, the key of the help.
func Keys(s Screen) []Key {
	if s.Typing() {
		return s.Keys()
	}
	return append(s.Keys(), Key{Name: "?", Help: "keys"})
}

// HelpLine returns one line of keys in w cells: the last key, and as many of the others as fit.
func HelpLine(l *Look, keys []Key, w int) string {
	if len(keys) == 0 {
		return l.Fit("", w)
	}
	width := func(k Key) int { return Width(l.ASCIIOnly(k.Name)) + 1 + Width(l.ASCIIOnly(k.Help)) }
	last := len(keys) - 1
	room := w - width(keys[last])
	var parts []string
	for i, k := range keys {
		need := width(k) + 2
		if i < last {
			if need > room || (k.Wide && w < 100) {
				continue
			}
			room -= need
		}
		parts = append(parts, l.Key.S(l.ASCIIOnly(k.Name))+" "+l.Faint.S(l.ASCIIOnly(k.Help)))
	}
	return l.Fit(strings.Join(parts, "  "), w)
}

// Tabs returns a line of page names, with number at selected, and the cells where they end.
func Tabs(l *Look, names []string, at int) (line string, ends []int) {
	x := 0
	for i, name := range names {
		text, paint := " "+name+" ", l.Text
		if i == at {
			text, paint = l.Glyph.Cursor+name+" ", l.Select
		}
		x += Width(text)
		line, ends = line+paint.S(text), append(ends, x)
	}
	return line, ends
}

// ValueCell returns a value of a measure in a table: text, if the value is known.
func ValueCell(l *Look, m measure.Measure, f measure.Result, text string) string {
	switch {
	case !f.Known:
		return l.Glyph.Missing
	case f.AtLeast:
		return l.Glyph.AtLeast + " " + text
	case m.ID == measure.ErrorRate && f.Value > 0:
		if f.Estimate {
			text = "~" + text
		}
		return l.Bad.S(text)
	}
	return text
}

// Overlay puts a box with lines in the middle of a screen.
func Overlay(l *Look, under []string, w, h int, title string, lines []string) []string {
	bw := Width(title) + 8
	for _, s := range lines {
		bw = max(bw, Width(s)+4)
	}
	bw, bh := min(bw, w), min(len(lines)+2, h)
	inner := slices.Clone(lines)
	for i := range inner {
		inner[i] = " " + inner[i]
	}
	box := l.Box(title, inner, bw, bh, true)
	x, y := (w-bw)/2, (h-bh)/2
	out := slices.Clone(under)
	for i, s := range box {
		if y+i < len(out) {
			out[y+i] = l.Splice(out[y+i], s, x, bw, w)
		}
	}
	return out
}

// Window returns the first of n lines to show in h lines, such that line at is in sight. It is from
// if possible, else the nearest.
func Window(from, at, n, h int) int {
	if h <= 0 {
		return 0
	}
	from = max(min(from, at), at-h+1)
	return max(0, min(from, n-h))
}
