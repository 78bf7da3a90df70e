package look

import (
	"bytes"
	"unicode/utf8"
)

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
