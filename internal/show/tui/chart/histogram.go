package chart

import (
	"math"
	"strings"

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
	scale := cellsOf(h.bars, n)
	shares, top, _ := scale.shares(h.bars)
	quantiles := []quantile{
		{"p50", h.Latency.P50.Seconds(), l.Series[0]}, {"p99", h.Latency.P99.Seconds(), l.Series[2]},
		{"p90", h.Latency.P90.Seconds(), l.Series[1]},
		{"max", h.Latency.Max.Seconds(), l.Faint}, {"p99.9", h.Latency.P999.Seconds(), l.Faint},
	}
	high := rows - 2
	p90, p99 := scale.column(quantiles[2].at), scale.column(quantiles[1].at)
	tick := sign(l, '┤')
	var out []string
	for y := range high {
		label, edge := "", l.Glyph.Vertical
		if y == 0 {
			label, edge = units.Tenths(top), string(tick)
		} else if y == high-1 {
			label, edge = "0", string(tick)
		}
		row := make([]string, n)
		for x, share := range shares {
			row[x] = block(l, share/top, high-1-y, high)
		}
		cut := func(from, to int) string {
			return strings.Join(row[max(0, min(from, n)):max(0, min(max(from, to), n))], "")
		}
		label = strings.Repeat(" ", max(0, histogramGutter-1-fit.Width(label))) + label
		out = append(out, l.Faint.S(label)+l.Border.S(edge)+
			l.Series[0].S(cut(0, p90+1))+l.Series[1].S(cut(p90+1, p99+1))+l.Series[2].S(cut(max(p90, p99)+1, n)))
	}
	return ui.Exact(append(out, scale.ticks(l), scale.marks(l, quantiles)), w, rows)
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

// quantile is a latency to mark, in seconds.
type quantile struct {
	name  string
	at    float64
	paint ui.Paint
}

// logCells divides a range of latencies into n cells that are equally wide on a log scale.
type logCells struct {
	from, width float64 // logarithms, to base 10, of seconds
	n           int
}

// ticks names round latencies.
func (c logCells) ticks(l *ui.Theme) string {
	line := NewLine(c.n)
	for _, step := range [][]float64{{1}, {2, 5}} {
		for d := -9; d <= 4; d++ {
			for _, f := range step {
				at := f * math.Pow(10, float64(d))
				if x := c.column(at); x >= 0 && x < c.n {
					label := string(sign(l, '╵')) + l.ASCIIOnly(LatencyLabel(at))
					line.Put(max(0, min(x, c.n-fit.Width(label))), label, l.Faint)
				}
			}
		}
	}
	return strings.Repeat(" ", histogramGutter) + line.String()
}

// marks names the quantiles under the bars, each with a mark at its column.
func (c logCells) marks(l *ui.Theme, quantiles []quantile) string {
	line := NewLine(c.n)
	for _, q := range quantiles {
		text := l.Glyph.Up + q.name
		n := fit.Width(text)
		x := max(0, min(c.column(q.at), c.n-1))
		if x+n > c.n { // the mark stays at its column
			text = q.name + l.Glyph.Up
			x -= n - 1
		}
		line.Put(x, text, q.paint)
	}
	return strings.Repeat(" ", histogramGutter) + line.String()
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
