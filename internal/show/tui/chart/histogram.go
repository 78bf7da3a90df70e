package chart

import (
	"math"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// LeastHistogram are the lines that a histogram needs; histogramGutter is the width of its y axis.
const LeastHistogram, histogramGutter = 6, 8

// Histogram is a distribution of latencies on a log scale, with the quantiles under it. A bar is as
// high as its share of the requests, and always visible.
type Histogram struct {
	Latency bench.Latencies
	bars    []hdr.Bar
}

// NewHistogram decodes latencies, which takes milliseconds.
func NewHistogram(of bench.Latencies) Histogram {
	h := Histogram{Latency: of}
	if decoded, err := hdr.Decode(of); err == nil {
		h.bars = decoded.Bars()
	}
	return h
}

// Empty reports whether there is nothing to draw.
func (h Histogram) Empty() bool { return len(h.bars) == 0 }

// Draw returns exactly rows lines of exactly w cells.
func (h Histogram) Draw(l *ui.Theme, w, rows int) []string {
	n := w - histogramGutter
	if h.Empty() || n < 8 || rows < LeastHistogram {
		return ui.Exact(nil, w, rows)
	}
	scale, high := cellsOf(h.bars, n), rows-2
	shares, top, _ := scale.shares(h.bars)
	p90, p99 := scale.column(h.Latency.P90.Seconds()), scale.column(h.Latency.P99.Seconds())
	c := newCanvas(w, rows)
	for x, share := range shares {
		paint := c.paint(l.Series[0])
		if x > max(p90, p99) {
			paint = c.paint(l.Series[2])
		} else if x > p90 {
			paint = c.paint(l.Series[1])
		}
		for y := range high {
			c.set(histogramGutter+x, y, first(block(l, share/top, high-1-y, high)), paint, data)
		}
	}
	for y := range high {
		c.set(histogramGutter-1, y, first(l.Glyph.Vertical), c.paint(l.Border), data)
	}
	for y, label := range map[int]string{0: units.Tenths(top), high - 1: "0"} {
		c.set(histogramGutter-1, y, sign(l, '┤'), c.paint(l.Border), data)
		c.text(histogramGutter-1-fit.Width(label), y, histogramGutter-1, label, c.paint(l.Faint))
	}
	scale.ticks(l, c, rows-2)
	for _, q := range []quantile{
		{"p50", h.Latency.P50, l.Series[0]}, {"p99", h.Latency.P99, l.Series[2]}, {"p90", h.Latency.P90, l.Series[1]},
		{"max", h.Latency.Max, l.Faint}, {"p99.9", h.Latency.P999, l.Faint},
	} {
		scale.mark(l, c, rows-1, q)
	}
	return c.lines()
}

// block returns the part of a bar of height full (1: all rows) in row y, counted from the bottom.
func block(l *ui.Theme, full float64, y, rows int) string {
	if !(full > 0) {
		return " "
	}
	steps := len(l.Glyph.Blocks)
	level := max(1, int(math.Round(min(full, 1)*float64(rows*steps)))) - y*steps
	switch {
	case level <= 0:
		return " "
	case level >= steps:
		return l.Glyph.Full
	}
	return l.Glyph.Blocks[level-1]
}

// quantile is a latency to mark.
type quantile struct {
	name  string
	at    time.Duration
	paint ui.Paint
}

// logCells divides a range of latencies into n cells that are equally wide on a log scale.
type logCells struct {
	from, width float64 // logarithms, to base 10, of seconds
	n           int
}

// ticks names round latencies on a row.
func (s logCells) ticks(l *ui.Theme, c *canvas, row int) {
	for _, step := range [][]float64{{1}, {2, 5}} {
		for d := -9; d <= 4; d++ {
			for _, f := range step {
				at := f * math.Pow(10, float64(d))
				if x := s.column(at); x >= 0 && x < s.n {
					label := string(sign(l, '╵')) + l.ASCIIOnly(LatencyLabel(at))
					c.put(histogramGutter+max(0, min(x, s.n-fit.Width(label))), row, label, l.Faint)
				}
			}
		}
	}
}

// mark names a quantile on a row, with a mark at its column.
func (s logCells) mark(l *ui.Theme, c *canvas, row int, q quantile) {
	text := l.Glyph.Up + q.name
	n := fit.Width(text)
	x := max(0, min(s.column(q.at.Seconds()), s.n-1))
	if x+n > s.n { // the mark stays at its column
		text = q.name + l.Glyph.Up
		x -= n - 1
	}
	c.put(histogramGutter+x, row, text, q.paint)
}

// leastDecades is the shortest range: in a shorter one, cells are narrower than buckets.
const leastDecades = 0.6

// cellsOf returns the scale that holds all bars, of which there must be one.
func cellsOf(bars []hdr.Bar, n int) logCells {
	from := math.Log10(max(1e-9, bars[0].From.Seconds()))
	to := math.Log10(max(1e-9, bars[len(bars)-1].To.Seconds()))
	if lack := leastDecades - (to - from); lack > 0 {
		from, to = from-lack/2, to+lack/2
	}
	return logCells{from, (to - from) / float64(n), n}
}

// column returns the cell of a latency in seconds, which may be outside of the range.
func (c logCells) column(seconds float64) int {
	x := (math.Log10(max(seconds, 1e-12)) - c.from) / c.width
	return int(math.Floor(max(-1, min(x, float64(c.n)+1)) + 1e-9))
}

// The number of bars is the root of the number of requests within these bounds: more show noise.
const mostBars, leastBars = 125, 16

// shares returns, for each cell, the share of the requests in its bar. A bar is each cells wide.
func (c logCells) shares(bars []hdr.Bar) (shares []float64, top float64, each int) {
	shares = make([]float64, c.n)
	total := 0.0
	for _, b := range bars {
		total += float64(b.Count)
	}
	n := int(max(leastBars, min(math.Sqrt(total), mostBars)))
	each = (c.n + n - 1) / n
	for _, b := range bars {
		x := max(0, min(c.column((b.From.Seconds()+b.To.Seconds())/2), c.n-1))
		shares[x-x%each] += float64(b.Count) / total
	}
	for i := range shares {
		shares[i] = shares[i-i%each]
		top = max(top, shares[i])
	}
	return shares, top, each
}
