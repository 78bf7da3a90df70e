package chart

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// The layers of a cell; a lower layer does not cover a higher one.
const (
	_      uint8 = iota
	ground       // areas, bounds, rules
	data
	text
)

// tail is the second cell of a wide character.
const tail rune = -1

// cell is one place of a canvas: a character, or dots of a Braille pattern if r is 0.
type cell struct {
	r     rune
	paint uint16
	dots  uint8
	layer uint8
}

// canvas is a grid of cells with few paints.
type canvas struct {
	w, h   int
	cells  []cell
	paints []ui.Paint // the first is empty
}

func newCanvas(w, h int) *canvas {
	return &canvas{w, h, make([]cell, w*h), make([]ui.Paint, 1, 16)}
}

// paint registers a color and returns its number.
func (c *canvas) paint(p ui.Paint) uint16 {
	if i := slices.Index(c.paints, p); i >= 0 {
		return uint16(i)
	}
	c.paints = append(c.paints, p)
	return uint16(len(c.paints) - 1)
}

// set puts a character, unless the cell holds a higher layer.
func (c *canvas) set(x, y int, r rune, paint uint16, layer uint8) {
	if x < 0 || y < 0 || x >= c.w || y >= c.h {
		return
	}
	if at := &c.cells[y*c.w+x]; at.layer <= layer {
		*at = cell{r: r, paint: paint, layer: layer}
	}
}

// free reports whether n cells from x hold neither data nor text.
func (c *canvas) free(x, y, n int) bool {
	return x >= 0 && y >= 0 && y < c.h && x+n <= c.w &&
		!slices.ContainsFunc(c.cells[y*c.w+x:y*c.w+x+n], func(at cell) bool { return at.layer >= data })
}

// text puts a string into free cells; characters beyond column end or on taken cells are left out.
func (c *canvas) text(x, y, end int, s string, paint uint16) {
	for _, r := range s {
		n := 1
		if r >= utf8.RuneSelf {
			n = fit.Width(string(r))
		}
		if n <= 0 {
			continue
		}
		if x+n > min(end, c.w) || !c.free(x, y, n) {
			return
		}
		c.set(x, y, r, paint, text)
		if n == 2 {
			c.set(x+1, y, tail, paint, text)
		}
		x += n
	}
}

// lines returns the rows as text.
func (c *canvas) lines() []string {
	b := make([]byte, 0, len(c.cells)*3+64*c.h)
	for y := range c.h {
		if y > 0 {
			b = append(b, '\n')
		}
		on := uint16(0)
		for _, at := range c.cells[y*c.w : (y+1)*c.w] {
			if at.r == tail {
				continue
			}
			if at.r == ' ' || at.r == 0 && at.dots == 0 {
				b = append(b, ' ')
				continue
			}
			if at.paint != on {
				b = append(b, c.paints[on].Off...)
				on = at.paint
				b = append(b, c.paints[on].On...)
			}
			if at.r == 0 {
				at.r = '\u2800' + rune(at.dots)
			}
			b = utf8.AppendRune(b, at.r)
		}
		b = append(b, c.paints[on].Off...)
	}
	return strings.Split(string(b), "\n")
}

// first returns the first character of a glyph.
func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

var asciiSigns = map[rune]rune{'│': '|', '╵': '|', '▼': 'v', '┤': '+', '┊': ':', '░': '.'}

// sign returns a character of locbench, or its ASCII substitute.
func sign(l *ui.Theme, r rune) rune {
	if l.ASCII {
		return asciiSigns[r]
	}
	return r
}

// cut shortens a text to w cells.
func cut(l *ui.Theme, s string, w int) string { return l.ASCIIOnly(fit.Cut(s, w)) }

// clean makes a name safe to show.
func clean(l *ui.Theme, s string) string { return l.ASCIIOnly(ui.Outside(s, maxText)) }
