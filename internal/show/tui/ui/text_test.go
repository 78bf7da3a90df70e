package ui

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/testenv"
)

var hostile = []string{
	"", "plain", "\x1b[31mred\x1b[m", "\x1b]0;title\x07", "\x9b2J", "世界", "e\u0301\u0301\u0301", "👨‍👩‍👧‍👦", "🇩🇪🇫🇷", "🇩\u0301🇪",
	"\u1100\u1161\u11a8", "\u1100", "\u1161\u1161", "⁉️", "☺️", "☺\ufe0e", "\ufe0f", "\u200d", "\u202eabc", "\xff\xfe", "a\tb\nc\r", "ﷺ", "𒐫", "⸻", "क्षि", "ก็็็็็็", "\u0600a", "\u00ad",
	"1️⃣", "\U000e0041", "\ue000", "\u115f", "\u3164", "\uffa0", "›‹", "—–−…≥·µ×",
}

// same fails unless s has the same width by clusters and by characters, is n cells wide (n < 0: any
// width) and safe.
func same(t *testing.T, what, s string, n int) {
	t.Helper()
	w, wc := ansi.StringWidth(s), ansi.StringWidthWc(s)
	ours := Width(s)
	testenv.Need(t, ours == w, "%s: Width of %q is %d, package ansi says %d", what, s, ours, w)
	testenv.Need(t, w == wc, "%s: %q is %d cells by clusters, %d by characters", what, s, w, wc)
	testenv.Need(t, n < 0 || w == n, "%s: %q is %d cells, want %d", what, s, w, n)
	testenv.Need(t, utf8.ValidString(s), "%s: %q is not UTF-8", what, s)
}

func harmless(t *testing.T, what, s string) {
	t.Helper()
	for _, r := range s {
		testenv.Need(t, r >= ' ' && r != 0x7f && (r < 0x80 || r >= 0xa0), "%s: %q holds %U", what, s, r)
	}
}

func FuzzOutside(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, s+s, 10)
		f.Add(s+"a"+s, "x", 100)
	}
	f.Fuzz(func(t *testing.T, s, nextTo string, n int) {
		n = max(0, n%2000)
		got := Outside(s, n)
		same(t, "Outside", got, -1)
		harmless(t, "Outside", got)
		// Each byte gives at most one replacement of three bytes, and the ellipsis.
		testenv.Need(t, len(got) <= 3*n+3, "%d bytes out of %d of %q", len(got), n, s)
		sum := 0
		for _, r := range got {
			sum += ansi.StringWidth(string(r))
		}
		w := ansi.StringWidth(got)
		testenv.Need(t, sum == w, "%q has %d cells, its characters have %d", got, w, sum)
		again := Outside(got, len(got))
		testenv.Need(t, again == got, "Outside of %q is %q", got, again)
		// Texts that are safe are also safe side by side.
		same(t, "two pieces", got+Outside(nextTo, n), ansi.StringWidth(got)+ansi.StringWidth(Outside(nextTo, n)))
		ascii := NewLook(LookOptions{ASCII: true, NoColor: true}).ASCIIOnly(got)
		testenv.Need(t, isASCII(ascii), "ASCIIOnly of %q is %q", got, ascii)
	})
}

func FuzzLayout(f *testing.F) {
	for i, s := range hostile {
		f.Add(s, "title "+s, i%7, i, uint8(i))
		f.Add(s+"世"+s+" two words", s, 3*i, 5, uint8(i))
	}
	f.Fuzz(func(t *testing.T, s, title string, w, h int, bits uint8) {
		w, h = w%250, h%40
		l := NewLook(LookOptions{ASCII: bits&1 != 0, NoColor: bits&2 != 0, Light: bits&4 != 0})
		s, title = l.ASCIIOnly(Outside(s, 300)), l.ASCIIOnly(Outside(title, 300))
		painted := l.Bad.S(s) + title + l.Select.S(title)
		check := func(what, got string, n int) {
			t.Helper()
			same(t, what, got, n)
			harmless(t, what, ansi.Strip(got))
			testenv.Need(t, !l.ASCII || isASCII(got), "%s: %q is not ASCII", what, got)
		}
		atLeast := max(0, w)
		for _, text := range []string{s, title, painted} {
			cut := l.Cut(text, w)
			check("Cut", cut, -1)
			n := ansi.StringWidth(cut)
			testenv.Need(t, n <= atLeast, "Cut(%q, %d) is %d cells", text, w, n)
			check("Fit", l.Fit(text, w), atLeast)
			check("Right", l.Right(text, w), atLeast)
			check("Between", l.Between(text, title, w), atLeast)
			text = ansi.Strip(text)
			for _, line := range l.Wrap(text, w, h) {
				check("Wrap", line, -1)
				n := ansi.StringWidth(line)
				testenv.Need(t, n <= atLeast, "Wrap(%q, %d) gives %q of %d cells", text, w, line, n)
			}
			n = len(l.Wrap(text, w, h))
			testenv.Need(t, h <= 0 || n <= h, "Wrap(%q, %d, %d) gives %d lines", text, w, h, n)
		}
		lines := []string{s, painted, "", title}
		block := func(what string, lines []string, n, h int) {
			t.Helper()
			testenv.Need(t, len(lines) == max(0, h), "%s: %d lines, want %d", what, len(lines), h)
			for _, line := range lines {
				check(what, line, max(0, n))
			}
		}
		box, screen := l.Box(title, lines, w, h, bits&8 != 0), l.Screen(lines, w, h)
		block("Box", box, w, h)
		block("Box with a painted title", l.Box(painted, lines, w, h, bits&8 != 0), w, h)
		block("Screen", screen, w, h)
		block("SideBySide", SideBySide(2, box, screen), 2*atLeast+2, h)
		columns := []Column{{Title: title, Left: true, Max: int(bits)}, {Title: s, Drop: 2}, {Title: "c", Drop: 1, Left: true}}
		rows := l.Table(columns, [][]string{{s, title, "1"}, {painted}, nil, {"a", "b", "c", "d"}}, w)
		block("Table", rows, w, 5)
		check("Bar", l.Bar(float64(h)/7, w, l.Good), atLeast)
	})
}

// TestEveryCharacter goes through all of Unicode: characters that Outside keeps have the same width
// alone and next to others.
func TestEveryCharacter(t *testing.T) {
	kept := 0
	for r := rune(0x80); r <= 0xe1000; r++ {
		switch {
		case r >= 0x40000 && r < 0xe0000:
			r = 0xe0000 // nothing is assigned in between
		case r >= 0x20000 && r < 0x40000 || r >= 0x4e01 && r < 0x9fff || r >= 0xac01 && r < 0xd7a3:
			r += 12 // all alike: ideographs, and syllables
		}
		s := Outside(string(r), 8)
		if s == "" || s == "\ufffd" {
			continue
		}
		kept++
		w := ansi.StringWidth(s)
		testenv.Equal(t, Width(s), w, "Width of", s)
		// a letter, two syllables, a letter that joins by a mark, an emoji, a keycap, and itself on
		// both sides
		same(t, "next to others", "a"+s+"가"+s+"각"+s+"क"+s+"👩"+s+"0"+s+s, 9+7*w)
	}
	// About 120,000 are tried. Private ones, marks and parts of syllables are dropped; the others
	// must stay.
	testenv.Check(t, kept >= 100_000, "only %d characters are kept", kept)
}

// TestMegabyte lays out a line of a megabyte, of several hostile kinds.
func TestMegabyte(t *testing.T) {
	l := NewLook(LookOptions{})
	for _, piece := range []string{"a", "é", "世", "e\u0301", "\x1b[31m", "👨\u200d👩", "\u1100", "\xff"} {
		s := strings.Repeat(piece, 1<<20/len(piece)+1)
		all := Outside(s, len(s))
		harmless(t, "Outside", all)
		same(t, "Outside", strings.ToValidUTF8(all[:1<<14], ""), -1)
		same(t, "Fit", l.Fit(all, 80), 80)
		same(t, "Right", l.Right(all, 80), 80)
		if painted := l.Bad.S(all) + l.Good.S("b"); !strings.HasSuffix(l.Cut(painted, 80), l.Good.Off) {
			t.Errorf("%q: the color does not end at the cut", piece)
		}
		for _, line := range l.Wrap(all, 80, 3) {
			n := ansi.StringWidth(line)
			testenv.Check(t, n <= 80, "%q: a wrapped line of %d cells", piece, n)
		}
		got := Outside(s, 200)
		testenv.Check(t, len(got) <= 603, "%q: %d bytes of 200 were kept", piece, len(got))
	}
}
