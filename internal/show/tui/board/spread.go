package board

import (
	"math"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// The lines of a distribution of latencies, at least and usually; and the width of its y axis with
// labels, which the small multiples have too.
const leastSpread, spreadHeight, spreadGutter = 7, 13, 8

// spread is the decoded histogram of the step that was shown last: decoding takes milliseconds.
type spread struct {
	of   *bench.StepResult
	bars []hdr.Bar // empty: it cannot be read
}

func (v *view) hasSpread(s *fold.Step) bool { return s.Result != nil && len(v.bars(s.Result)) > 0 }

func (v *view) bars(r *bench.StepResult) []hdr.Bar {
	kept := &v.b.spread
	if kept.of != r {
		*kept = spread{of: r}
		if h, err := hdr.Decode(r.Load.Latency); err == nil {
			kept.bars = h.Bars()
		}
	}
	return kept.bars
}

// distribution draws the latencies of a finished step as a histogram on a log scale, in h lines of
// w cells, with the quantiles under it. A bar is as high as its share of the requests, and always
// visible.
func (v *view) distribution(s *fold.Step, w, h int) []string {
	l := s.Result.Load
	bars := v.bars(s.Result)
	head := v.l.Title.S("latencies") + "  " + v.numbered(s)
	if l.Origin() == bench.FromScheduled {
		head += ", from scheduled time"
	}
	out := []string{v.justify(w, head, v.l.Faint.S("bars: share of "+units.Count(l.Latency.Count)), "")}
	n := w - spreadGutter
	if n < 8 || h < leastSpread {
		return out
	}
	scale := spreadScale(bars, n)
	shares, top, _ := scale.shares(bars)
	quantiles := []quantile{
		{"p50", l.Latency.P50.Seconds(), v.l.Series[0]}, {"p99", l.Latency.P99.Seconds(), v.l.Series[2]},
		{"p90", l.Latency.P90.Seconds(), v.l.Series[1]},
		{"max", l.Latency.Max.Seconds(), v.l.Faint}, {"p99.9", l.Latency.P999.Seconds(), v.l.Faint},
	}
	rows := h - 3
	p90, p99 := scale.column(quantiles[2].at), scale.column(quantiles[1].at)
	vertical, tick := v.l.Glyph.Vertical, "┤"
	if v.l.ASCII {
		tick = "+"
	}
	for y := range rows {
		label, edge := "", vertical
		if y == 0 {
			label, edge = units.Tenths(top), tick
		} else if y == rows-1 {
			label, edge = "0", tick
		}
		row := make([]string, n)
		for x, share := range shares {
			row[x] = v.block(share/top, rows-1-y, rows)
		}
		cut := func(from, to int) string {
			return strings.Join(row[max(0, min(from, n)):max(0, min(max(from, to), n))], "")
		}
		out = append(out, v.l.Faint.S(v.l.Right(label, spreadGutter-1))+v.l.Border.S(edge)+
			v.l.Series[0].S(cut(0, p90+1))+v.l.Series[1].S(cut(p90+1, p99+1))+v.l.Series[2].S(cut(max(p90, p99)+1, n)))
	}
	return append(out, v.spreadTicks(scale), v.spreadMarks(scale, quantiles))
}

// block returns the part of a bar of height full (1: all rows) in row y, counted from the bottom.
func (v *view) block(full float64, y, rows int) string {
	if !(full > 0) {
		return " "
	}
	steps := len(v.l.Glyph.Blocks)
	level := max(1, int(math.Round(min(full, 1)*float64(rows*steps)))) - y*steps
	switch {
	case level <= 0:
		return " "
	case level >= steps:
		return v.l.Glyph.Full
	}
	return v.l.Glyph.Blocks[level-1]
}

// quantile is a latency to mark, in seconds.
type quantile struct {
	name  string
	at    float64
	paint ui.Paint
}

func (v *view) spreadTicks(scale logCells) string {
	line := chart.NewLine(scale.n)
	for _, step := range [][]float64{{1}, {2, 5}} {
		for d := -9; d <= 4; d++ {
			for _, f := range step {
				at := f * math.Pow(10, float64(d))
				if x := scale.column(at); x >= 0 && x < scale.n {
					label := v.own(chart.LatencyLabel(at))
					w := ui.Width(label)
					line.Put(max(0, min(x-w/2, scale.n-w)), label, v.l.Faint)
				}
			}
		}
	}
	return strings.Repeat(" ", spreadGutter) + line.String()
}

// spreadMarks names the quantiles under the bars, each with a mark at its column.
func (v *view) spreadMarks(scale logCells, quantiles []quantile) string {
	line := chart.NewLine(scale.n)
	for _, q := range quantiles {
		text := v.l.Glyph.Up + q.name
		n := ui.Width(text)
		x := max(0, min(scale.column(q.at), scale.n-1))
		if x+n > scale.n { // the mark stays at its column
			text = q.name + v.l.Glyph.Up
			x -= n - 1
		}
		line.Put(x, text, q.paint)
	}
	return strings.Repeat(" ", spreadGutter) + line.String()
}

// logCells divides a range of latencies into n cells that are equally wide on a log scale.
type logCells struct {
	from, width float64 // logarithms, to base 10, of seconds
	n           int
}

// leastDecades is the shortest range: in a shorter one, cells are narrower than buckets.
const leastDecades = 0.6

// spreadScale returns the scale that holds all bars, of which there must be one.
func spreadScale(bars []hdr.Bar, n int) logCells {
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
