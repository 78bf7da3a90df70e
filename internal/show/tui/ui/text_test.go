package ui

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/fit"
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
	ours := fit.Width(s)
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
		ascii := NewTheme(ThemeOptions{ASCII: true, NoColor: true}).ASCIIOnly(got)
		testenv.Need(t, isASCII(ascii), "ASCIIOnly of %q is %q", got, ascii)
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
		testenv.Equal(t, fit.Width(s), w, "Width of", s)
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
	for _, piece := range []string{"a", "é", "世", "e\u0301", "\x1b[31m", "👨\u200d👩", "\u1100", "\xff", "a b "} {
		s := strings.Repeat(piece, 1<<20/len(piece)+1)
		all := Outside(s, len(s))
		harmless(t, "Outside", all)
		same(t, "Outside", strings.ToValidUTF8(all[:1<<14], ""), -1)
		same(t, "Exact", Exact([]string{all}, 80, 1)[0], 80)
		for _, line := range Wrap(all, 80) {
			n := fit.Width(line)
			testenv.Need(t, n <= 80, "%q: a wrapped line of %d cells", piece, n)
		}
		got := Outside(s, 200)
		testenv.Check(t, len(got) <= 603, "%q: %d bytes of 200 were kept", piece, len(got))
	}
}

func TestWords(t *testing.T) {
	for w, want := range map[int]string{20: "two: three, four", 15: "two: three, …", 13: "two: three, …", 12: "two …", 4: "two…", 2: "t…"} {
		testenv.Equal(t, Words("two: three, four", w), want, w)
	}
}
