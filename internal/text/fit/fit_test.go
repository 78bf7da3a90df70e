package fit

import (
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestWrap(t *testing.T) {
	for _, row := range []struct {
		name, text string
		width      int
		lines      []string
	}{
		{"no limit", "one two", 0, []string{"one two"}},
		{"what fits stays", "one two", 7, []string{"one two"}},
		{"one cell less", "one two", 6, []string{"one", "two"}},
		{"a longer word is alone", "a longest b", 4, []string{"a", "longest", "b"}},
		{"wide characters count twice", "日本 a", 5, []string{"日本", "a"}},
		{"styles have no width", "\x1b[1mone\x1b[m two", 7, []string{"\x1b[1mone\x1b[m two"}},
		{"nothing", "", 3, []string{""}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := Wrap(row.text, row.width)
			testenv.Check(t, slices.Equal(got, row.lines), "%q", got)
		})
	}
}

func TestParagraph(t *testing.T) {
	testenv.Equal(t, Paragraph("aa bb cc dd", 5, "  "), "aa bb\n  cc\n  dd")
	testenv.Equal(t, Paragraph("aa bb cc dd", 0, "  "), "aa bb cc dd")
	testenv.Equal(t, Paragraph("longest", 3, "  "), "longest")
}

func TestCut(t *testing.T) {
	testenv.Equal(t, Cut("four", 4)+"|"+Cut("four", 3)+"|"+Cut("four", 0)+"|"+Cut("日本", 3), "four|fo…||日…")
	testenv.Equal(t, Exact("four", 5)+"|"+Exact("four", 3)+"|"+Exact("日本", 3)+"|"+Exact("a", -1), "four |fo…|日…|")
	testenv.Equal(t, Left("é", 3)+"|"+Left("日", 3)+"|"+Left("long", 2), "é  |日 |long")
}

// No line is wider than the width, unless it is one word; no word is lost.
func FuzzWrap(f *testing.F) {
	f.Add("one two three", 5)
	f.Add("日本語 a\u0301b c", 3)
	f.Fuzz(func(t *testing.T, s string, width int) {
		if strings.ContainsAny(s, "\n\x1b") || width < 1 {
			t.Skip()
		}
		lines := Wrap(s, width)
		for _, line := range lines {
			testenv.Check(t, Width(line) <= width || !strings.Contains(line, " ") || Width(s) <= width,
				"%q is wider than %d", line, width)
		}
		testenv.Equal(t, strings.Join(lines, " "), s)
	})
}
