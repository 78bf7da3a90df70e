package look

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width is the number of cells that s takes, escape sequences of ours apart.
func Width(s string) int {
	n, known := walk(s, len(s))
	if !known {
		return ansi.StringWidth(s)
	}
	return n
}

// walk counts the cells of s until they are more than limit. What it does not know is left to
// package ansi, which looks at each cluster and takes many times longer.
func walk(s string, limit int) (n int, known bool) {
	for i := 0; i < len(s) && n <= limit; {
		switch c := s[i]; {
		case c >= 0x20 && c < 0x7f:
			n++
			i++
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			w := cells(r)
			if w == 0 || r == utf8.RuneError && size == 1 {
				return 0, false
			}
			n += w
			i += size
		default:
			size := colour(s[i:])
			if size == 0 {
				return 0, false
			}
			i += size
		}
	}
	return n, true
}

// colour is the length of the sequence of colours and styles (SGR) that s begins with, or 0.
func colour(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c < '0' || c > ';':
			return 0
		}
	}
	return 0
}

// cells is the number of cells of the most usual characters, or 0 if that is not known here. None
// of them joins with another.
func cells(r rune) int {
	switch {
	case r < 0xa1, r == 0xad:
		return 0
	case r <= 0x2ff, r >= 0x370 && r <= 0x482, r >= 0x48a && r <= 0x52f, // Latin, Greek, Cyrillic
		r >= 0x2010 && r <= 0x2027, r >= 0x2190 && r <= 0x22ff, // punctuation, arrows, operators
		r >= 0x2500 && r <= 0x25fc, r >= 0x2800 && r <= 0x28ff, r == 0x2713, r == 0x2717, // lines, shapes, Braille
		r >= 0x2400 && r <= 0x2426, r == utf8.RuneError: // what package safe puts for controls and invalid bytes
		return 1
	case r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa, // East Asian
		r >= 0x4e00 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3:
		return 2
	}
	return 0
}

// bound shortens a very long text: it keeps more than w cells can hold, and all colours.
func bound(s string, w int) string {
	room := 8 * (w + 2)
	if len(s) <= 2*room {
		return s
	}
	var b strings.Builder
	for s != "" {
		text := strings.IndexByte(s, '\x1b')
		if text < 0 {
			text = len(s)
		}
		keep := min(text, room)
		for keep > 0 && keep < text && !utf8.RuneStart(s[keep]) {
			keep--
		}
		b.WriteString(s[:keep])
		if room -= keep; keep < text {
			room = 0
		}
		s = s[text:]
		n := colour(s)
		b.WriteString(s[:n])
		if n == 0 && s != "" {
			n = 1 // an escape that is none of ours
		}
		s = s[n:]
	}
	return b.String()
}

// Wrap breaks s at spaces into lines of at most w cells, at most n of them (0: as many as it
// takes). Words that are longer than a line are broken too. A colour that is on at the end of a
// line ends there and begins again in the next, so that it does not run into what stands beside.
func (l *Look) Wrap(s string, w, n int) []string {
	if w <= 0 {
		return nil
	}
	wr := wrapper{w: w}
	for i := 0; i < len(s) && (n <= 0 || len(wr.lines) <= n); {
		if size := colour(s[i:]); size > 0 {
			wr.paint(s[i : i+size])
			i += size
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch r {
		case '\n':
			wr.end()
			wr.soft = false
		case ' ':
			wr.space()
		default:
			wr.char(s[i : i+size])
		}
		i += size
	}
	wr.end()
	lines := wr.lines
	if n > 0 && len(lines) > n {
		lines = lines[:n]
		lines[n-1] = l.Cut(lines[n-1]+l.Glyph.Ellipsis+" ", w)
	}
	return lines
}

// wrapper is the state of Wrap.
type wrapper struct {
	w     int
	lines []string
	line  []byte
	cells int    // of line
	on    []byte // the colours that are on
	soft  bool   // line goes on from the one before: spaces at its beginning are left out

	// Of the last space in line: where it is (0: none), the cells up to and with it, the colours.
	at, cellsAt int
	onAt        []byte
}

func (wr *wrapper) paint(sequence string) {
	if sequence == "\x1b[m" || sequence == "\x1b[0m" {
		wr.on = wr.on[:0]
	} else if len(wr.on) < 256 {
		wr.on = append(wr.on, sequence...)
	}
	wr.line = append(wr.line, sequence...)
}

func (wr *wrapper) space() {
	if wr.soft && wr.cells == 0 {
		return
	}
	if wr.cells == wr.w {
		wr.end()
		return
	}
	wr.at, wr.cellsAt = len(wr.line), wr.cells+1
	wr.onAt = append(wr.onAt[:0], wr.on...)
	wr.line = append(wr.line, ' ')
	wr.cells++
}

func (wr *wrapper) char(s string) {
	n := Width(s)
	if n > wr.w {
		return // a wide character where there is one cell
	}
	if wr.cells+n > wr.w {
		if wr.at > 0 {
			wr.breakAtSpace()
		} else {
			wr.end()
		}
	}
	wr.line = append(wr.line, s...)
	wr.cells += n
}

// breakAtSpace ends the line at its last space; what is behind that begins the next one.
func (wr *wrapper) breakAtSpace() {
	rest, cells, on := bytes.Clone(wr.line[wr.at+1:]), wr.cells-wr.cellsAt, bytes.Clone(wr.on)
	wr.line, wr.on = wr.line[:wr.at], append(wr.on[:0], wr.onAt...)
	wr.end()
	wr.line, wr.cells, wr.on = append(wr.line, rest...), cells, on
}

func (wr *wrapper) end() {
	line := bytes.TrimRight(wr.line, " ")
	if len(wr.on) > 0 {
		line = append(line, "\x1b[m"...)
	}
	wr.lines = append(wr.lines, string(line))
	wr.line = append(wr.line[:0], wr.on...)
	wr.cells, wr.at, wr.soft = 0, 0, true
}
