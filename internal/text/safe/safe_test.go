package safe

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/testenv"
)

func TestLine(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "GET /city 200", "GET /city 200"},
		{"color", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m"},
		{"title", "\x1b]0;owned\x07", "␛]0;owned␇"},
		{"C1 introducer", "\u009b31m", "\ufffd31m"},
		{"raw C1 byte", "\x9b31m", "\ufffd31m"},
		{"line ends and tabs", "a\r\nb\tc", "a  b c"},
		{"bidirectional override", "a\u202eb", "a\ufffdb"},
		{"letters stay", "Łódź – Köln", "Łódź – Köln"},
		{"cut", strings.Repeat("x", 200), strings.Repeat("x", 100) + "…"},
		{"cut inside a character", strings.Repeat("x", 99) + "é!", strings.Repeat("x", 99) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) { testenv.Equal(t, Line(c.in, 100), c.want, c.name) })
	}
}

func FuzzLine(f *testing.F) {
	f.Add("\x1b[2J\x9b\u202e", 5)
	f.Add("é", 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(0, n%1000)
		got := Line(s, n)
		testenv.Need(t, utf8.ValidString(got), "%q gave invalid UTF-8 %q", s, got)
		for _, r := range got {
			testenv.Need(t, !unicode.IsControl(r) && !unsafe(r), "%q gave %q, which holds %U", s, got, r)
		}
	})
}

func TestIsText(t *testing.T) {
	random := make([]byte, 300)
	for i := range random {
		random[i] = byte(1 + i*97%255)
	}
	for text, want := range map[string]bool{
		"": true, "{\"a\": 1}\r\n\t": true, "Gr\xf6\xdfe": true, "\x1b[2J\x1b]0;x\a": true, "\x1f\x8b\b\x00\x00": false,
		string(random): false, "\x89PNG\r\n\x1a\n\x00": false, strings.Repeat("a", 990) + "\x01\x02\x03" + "\x00": false,
		strings.Repeat("a", 2000) + "\x00": true,
	} {
		testenv.Equal(t, IsText([]byte(text)), want, text)
	}
}
