package old

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/figures/measure"
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

// An error rate that is an estimate has a "~".
func TestValueCellOfAnEstimate(t *testing.T) {
	l := *NewLook(LookOptions{})
	m := measure.Get(measure.ErrorRate)
	testenv.Contains(t, ValueCell(&l, m, measure.Result{Known: true, Value: 0.026, Estimate: true}, "2.6%"), "~2.6%")
	testenv.Contains(t, ValueCell(&l, m, measure.Result{Known: true, Value: 0.026}, "2.6%"), "!~")
}

func TestWrap(t *testing.T) {
	l := NewLook(LookOptions{})
	for _, c := range []struct {
		in   string
		w, n int
		want []string
	}{
		{"", 5, 0, []string{""}},
		{"one two three", 7, 0, []string{"one two", "three"}},
		{"one two three", 8, 0, []string{"one two", "three"}},
		{"one two three", 80, 1, []string{"one two three"}},
		{"a  b", 3, 0, []string{"a", "b"}},
		{"  indented line", 10, 0, []string{"  indented", "line"}},
		{"first\n  second", 20, 0, []string{"first", "  second"}},
		{"averylongword", 5, 0, []string{"avery", "longw", "ord"}},
		{"is averylongword", 5, 0, []string{"is", "avery", "longw", "ord"}},
		{"世界世界", 3, 0, []string{"世", "界", "世", "界"}},
		{"世界", 1, 0, []string{""}},
		{"one two three four", 7, 2, []string{"one two", "three…"}},
		{"one two three", 7, 1, []string{"one tw…"}},
		{"one two", 0, 0, nil},
	} {
		t.Run(c.in, func(t *testing.T) {
			got := l.Wrap(c.in, c.w, c.n)
			for i := range got {
				if c.n > 0 && i == c.n-1 { // a blank may follow the ellipsis
					for len(got[i]) > 0 && got[i][len(got[i])-1] == ' ' {
						got[i] = got[i][:len(got[i])-1]
					}
				}
			}
			testenv.Equal(t, got, c.want, "Wrap", c.in, c.w, c.n)
		})
	}
}
