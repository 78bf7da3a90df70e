package chart

import (
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// plot is a chart being drawn: its canvas and the place of the curves on it.
type plot struct {
	*canvas
	look  *ui.Theme
	chart Chart
	axis  Axis

	left, rows int // the curves have the cells from left to the end, in the first rows
	bandRow    int // row of the bands; 0: none
	kx, ky     int // dots per cell
	nx         int // columns of dots
	cols       []column
	scale      scale
}

func newPlot(l *ui.Theme, c Chart, a Axis, w, h int) *plot {
	p := &plot{canvas: newCanvas(w, h), look: l, chart: c, axis: a, left: a.left(w), rows: h, kx: 2, ky: 4}
	if c.BandName != "" && h >= 3 {
		p.rows, p.bandRow = h-1, h-1
	}
	if l.ASCII {
		p.kx, p.ky = 1, 1
	}
	p.nx = (w - p.left) * p.kx
	p.cols = thin(c.Series, a, p.nx, c.Log)
	p.scale = c.scale(p.cols)
	for i := range p.cols {
		if at := &p.cols[i]; at.state != empty {
			p.place(at)
		}
	}
	return p
}

func (p *plot) place(at *column) {
	lo := int16(p.dot(at.lo))
	at.dots = dots{lo, lo, lo, lo}
	if at.lo != at.hi {
		at.dots = dots{lo, int16(p.dot(at.hi)), int16(p.dot(at.first)), int16(p.dot(at.last))}
	}
}

// dot returns the row of dots of a value, from the top.
func (p *plot) dot(v float64) int {
	return int((1-p.scale.pos(v))*float64(p.rows*p.ky-1) + 0.5)
}

// column returns the cell of moment x, or -1, as Axis.column does.
func (p *plot) column(x float64) int { return p.axis.column(x, p.left, p.w) }

func (p *plot) frame() {
	if p.left == 0 {
		return
	}
	border, faint := p.paint(p.look.Border), p.paint(p.look.Faint)
	p.vertical(p.left-1, '│', border)
	unit := p.chart.Unit
	if unit == nil {
		unit = PlainLabel
	}
	for i, v := range p.scale.ticks(p.rows) {
		y := p.dot(v) / p.ky
		if i <= 1 || p.free(p.left-2, y-1, 1) && p.free(p.left-2, y, 1) && p.free(p.left-2, y+1, 1) {
			p.label(y, unit(v), faint)
			p.set(p.left-1, y, sign(p.look, '┤'), border, ground)
		}
	}
}

// vertical draws a line through all rows.
func (p *plot) vertical(x int, r rune, paint uint16) {
	for y := range p.rows {
		p.set(x, y, sign(p.look, r), paint, ground)
	}
}

func (p *plot) label(y int, s string, paint uint16) {
	s = cut(p.look, clean(p.look, s), p.left-1)
	p.text(p.left-1-fit.Width(s), y, p.left-1, s, paint)
}

func (p *plot) bounds() {
	border := p.paint(p.look.Border)
	for _, b := range p.axis.Bounds {
		// A line at the very beginning would only repeat the axis.
		if x := p.column(b.X); x > p.left || x == 0 {
			p.vertical(x, '┊', border)
		}
	}
}

func (p *plot) rules() {
	for _, r := range p.chart.Rules {
		if !p.within(r.Y) {
			continue
		}
		dot, paint := p.dot(r.Y), p.paint(r.Paint)
		dash := '-'
		if p.ky > 1 { // as exact as the curves, so a curve visibly reaches the limit
			dash = '\u2800' + rune(brailleLeft[dot%4]|brailleRight[dot%4])
		}
		for x := p.left; x < p.w; x += p.kx {
			p.set(x, dot/p.ky, dash, paint, ground)
		}
	}
}

func (p *plot) within(v float64) bool {
	return finite(v) && v <= p.scale.top && v >= p.scale.bottom
}

// ruleNames writes the name of each rule on its line, as far right as it covers no data.
func (p *plot) ruleNames() {
	for _, r := range p.chart.Rules {
		name := clean(p.look, r.Name)
		if name == "" || !finite(r.Y) || r.Y < p.scale.bottom {
			continue
		}
		y := 0
		if p.within(r.Y) {
			y = p.dot(r.Y) / p.ky
		} else {
			name += " " + p.look.Glyph.Up
		}
		name = cut(p.look, name, p.w-p.left)
		if x, y := p.room(fit.Width(name), y); x >= 0 {
			p.text(x, y, p.w, name, p.paint(r.Paint))
		}
	}
}

// room returns the rightmost place for n cells on row y or next to it, or -1.
func (p *plot) room(n, y int) (int, int) {
	for right := p.w - n; right >= p.left; right -= 4 {
		for _, row := range [...]int{y, y - 1, y + 1} {
			if row >= 0 && row < p.rows && p.free(right, row, n) {
				return right, row
			}
		}
	}
	return -1, 0
}

func (p *plot) flags() {
	paint := p.paint(p.look.Accent)
	for _, f := range p.axis.Flags {
		if x := p.column(f.X); x >= 0 {
			p.set(x, 0, sign(p.look, '▼'), paint, text)
		}
	}
}

func (p *plot) bands() {
	if p.bandRow == 0 {
		return
	} else if p.left > 0 {
		p.label(p.bandRow, p.chart.BandName, p.paint(p.look.Faint))
	}
	blocks := p.look.Glyph.Blocks
	n := p.w - p.left
	shares := make([]float64, n)
	for _, b := range p.chart.Bands {
		if !(b.Share > 0 && b.X0 <= p.axis.To && b.X1 >= p.axis.From && b.X0 <= b.X1) {
			continue
		}
		from := max(p.axis.column(max(b.X0, p.axis.From), 0, n), 0)
		to := max(p.axis.column(min(b.X1, p.axis.To), 0, n), from)
		// A band that ends where a cell begins is not in that cell.
		if start := p.axis.From + (p.axis.To-p.axis.From)*float64(to)/float64(n); to > from && start >= b.X1 {
			to--
		}
		for x := from; x <= to; x++ {
			shares[x] = max(shares[x], min(b.Share, 1))
		}
	}
	paint, levels := p.paint(p.look.Warn), len(blocks)
	for x, share := range shares {
		if share > 0 {
			block := blocks[min(levels-1, int(share*float64(levels)))]
			p.set(p.left+x, p.bandRow, first(block), paint, data)
		}
	}
}
