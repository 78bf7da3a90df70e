package chart

import (
	"slices"

	"github.com/locbench/locbench/internal/show/tui/ui"
)

// The cells between two marks of one line; the marks of the lines alternate. Looks without colors
// have more marks, since only the marks distinguish lines.
const markEvery, markOften = 16, 9

// line draws series i: each column from its least to its greatest value, joined to the column
// before it unless there is a gap.
func (p *plot) line(i int) {
	paint, mark, cols := p.series(i)
	before := -1
	for x := range cols {
		at := &cols[x]
		if at.state == empty {
			continue
		}
		p.run(x, int(at.dots.hi), int(at.dots.lo), paint, mark)
		if before >= 0 && at.state == joined {
			p.join(before, int(cols[before].dots.last), x, int(at.dots.first), paint, mark)
		}
		before = x
	}
}

func (p *plot) series(i int) (paint uint16, glyph rune, cols []column) {
	s := p.chart.Series[i]
	return p.paint(s.Paint), first(mark(p.look, s)), p.cols[i*p.nx : (i+1)*p.nx]
}

func (p *plot) join(x0, y0, x1, y1 int, paint uint16, mark rune) {
	y := y0
	for x := x0 + 1; x <= x1; x++ {
		next := y0 + (y1-y0)*(x-x0)/(x1-x0)
		// The step between two columns is drawn half in each.
		if d := next - y; d > 1 || d < -1 {
			half := y + d/2
			p.run(x-1, y, half, paint, mark)
			p.run(x, half, next, paint, mark)
		} else {
			p.run(x, next, next, paint, mark)
		}
		y = next
	}
}

// run sets the dots of one column from one row to another.
func (p *plot) run(x, y0, y1 int, paint uint16, mark rune) {
	if y0 > y1 {
		y0, y1 = y1, y0
	}
	cx := p.left + x/p.kx
	if p.ky == 1 {
		for y := y0; y <= y1; y++ {
			p.set(cx, y, mark, paint, data)
		}
		return
	}
	bits := &brailleLeft
	if x%2 == 1 {
		bits = &brailleRight
	}
	for y0 <= y1 {
		at := &p.cells[(y0>>2)*p.w+cx]
		if at.layer < data {
			*at = cell{layer: data}
		}
		for next := min(y0|3, y1) + 1; y0 < next; y0++ {
			at.dots |= bits[y0&3]
		}
		at.paint = paint
	}
}

// The bits of a Braille pattern for its two columns, from the top.
var (
	brailleLeft  = [4]uint8{0x01, 0x02, 0x04, 0x40}
	brailleRight = [4]uint8{0x08, 0x10, 0x20, 0x80}
)

func mark(l *ui.Theme, s Series) string {
	n := len(l.Glyph.Marks)
	return l.Glyph.Marks[((s.Mark%n)+n)%n]
}

// marks puts the glyph of series i on its line: at intervals if there are other lines, and on isolated
// points, since single dots are hard to see.
func (p *plot) marks(i int) {
	paint, mark, cols := p.series(i)
	put := func(x int) { p.set(p.left+x/p.kx, int(cols[x].dots.hi)/p.ky, mark, paint, data) }
	every := markEvery
	if p.look.NoColor || p.look.ASCII {
		every = markOften
	}
	every *= p.kx
	next := every * (2*i + 1) / (2 * len(p.chart.Series)) % every
	several := len(p.chart.Series) > 1
	last, any := -1, false
	for x := range cols {
		if cols[x].state == empty {
			continue
		}
		if alone(cols[x:]) || several && x >= next {
			put(x)
			any = true
		}
		for next <= x {
			next += every
		}
		last = x
	}
	if !any && last >= 0 && several {
		put(last)
	}
}

// alone reports whether the point of the first column is not joined to another.
func alone(cols []column) bool {
	if cols[0].state != begun || cols[0].lo != cols[0].hi {
		return false
	}
	next := slices.IndexFunc(cols[1:], func(c column) bool { return c.state != empty })
	return next < 0 || cols[1+next].state == begun
}
