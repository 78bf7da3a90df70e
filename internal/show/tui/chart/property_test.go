package chart

import (
	"encoding/binary"
	"math"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

// exact fails unless there are h lines of w cells, with only characters that the look allows.
func exact(t *testing.T, l *ui.Theme, lines []string, w, h int) {
	t.Helper()
	testenv.Need(t, len(lines) == max(0, h), "%d lines, want %d", len(lines), h)
	for i, line := range lines {
		if got, wc := ansi.StringWidth(line), ansi.StringWidthWc(line); got != max(0, w) || wc != got {
			t.Fatalf("line %d has %d cells (%d by characters), want %d: %q", i, got, wc, w, line)
		}
		plain := ansi.Strip(line)
		for _, r := range plain {
			testenv.Need(t, r >= ' ' && r != 0x7f && (r < 0x80 || r >= 0xa0) && (!l.ASCII || r < utf8.RuneSelf),
				"line %d holds %U: %q", i, r, line)
		}
	}
}

// FuzzDraw makes charts out of arbitrary bytes: sizes and characters must hold.
func FuzzDraw(f *testing.F) {
	f.Add([]byte("\x01\x02\x03\x04\x05\x06\x07\x08"), "p99 µs", 80, 9, uint8(0))
	f.Add([]byte{255, 240, 0, 0, 0, 0, 0, 1, 127, 240, 3, 4}, "\x1b[2J世界é\u0301🇩🇪", 40, 5, uint8(7))
	f.Add([]byte{}, "", 0, 0, uint8(255))
	f.Add([]byte("yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"), "⁉️👨‍👩‍👧", 10, 2, uint8(85))
	f.Fuzz(func(t *testing.T, raw []byte, name string, w, h int, bits uint8) {
		w, h = w%300, h%60
		l := ui.NewTheme(ui.ThemeOptions{ASCII: bits&1 != 0, NoColor: bits&2 != 0})
		in := &source{raw: raw}
		axis := Axis{From: in.float(), To: in.float(), Gutter: int(in.byte()) - 20}
		if bits&128 != 0 {
			axis.From, axis.To, axis.Gutter = 0, 100, Gutter
		}
		c := Chart{Title: name, Value: name, Log: bits&4 != 0, Binary: bits&8 != 0}
		if bits&16 != 0 {
			c.BandName = name
		}
		if bits&64 != 0 {
			c.Unit = func(float64) string { return name }
		}
		s := Series{Name: name, Paint: l.Warn}
		for n := 0; len(in.raw) > 0; n++ {
			switch in.byte() % 8 {
			case 0:
				c.Series = append(c.Series, s)
				s = Series{Name: name, Mark: int(int8(in.byte())), Paint: l.Series[n%6]}
			case 1:
				c.Rules = append(c.Rules, Rule{in.float(), name, l.Bad})
			case 2:
				c.Bands = append(c.Bands, Band{in.float(), in.float(), in.float()})
			case 3:
				axis.Bounds = append(axis.Bounds, Bound{in.float(), name})
			case 4:
				axis.Flags = append(axis.Flags, Flag{in.float(), name})
			default:
				s.Points = append(s.Points, Point{in.float(), in.float()})
			}
		}
		c.Series = append(c.Series, s)
		exact(t, l, c.Draw(l, axis, w, h), w, h)
		under := axis.Draw(l, w)
		exact(t, l, under, w, max(1, min(len(under), 3)))
	})
}

// source makes numbers from bytes: mostly small ones, and every kind of extreme.
type source struct{ raw []byte }

func (s *source) byte() byte {
	if len(s.raw) == 0 {
		return 0
	}
	b := s.raw[0]
	s.raw = s.raw[1:]
	return b
}

func (s *source) float() float64 {
	switch b := s.byte(); {
	case b < 128:
		return float64(b)
	case b < 200:
		return float64(b)*1.37 - 250
	case b < 206:
		return [...]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324}[b-200]
	default:
		var raw [8]byte
		for i := range raw {
			raw[i] = s.byte()
		}
		return math.Float64frombits(binary.BigEndian.Uint64(raw[:]))
	}
}
