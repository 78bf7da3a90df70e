package chart

import (
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"locbench/internal/tui/look"
)

// exact fails unless there are h lines of w cells, of nothing but what the look allows.
func exact(t *testing.T, l *look.Look, lines []string, w, h int) {
	t.Helper()
	if len(lines) != max(0, h) {
		t.Fatalf("%d lines, want %d", len(lines), h)
	}
	for i, line := range lines {
		if got, wc := ansi.StringWidth(line), ansi.StringWidthWc(line); got != max(0, w) || wc != got {
			t.Fatalf("line %d has %d cells (%d by characters), want %d: %q", i, got, wc, w, line)
		}
		plain := ansi.Strip(line)
		for _, r := range plain {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || l.ASCII && r >= utf8.RuneSelf {
				t.Fatalf("line %d holds %U: %q", i, r, line)
			}
		}
	}
}
