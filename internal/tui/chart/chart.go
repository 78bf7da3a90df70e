// Package chart draws the charts of the dashboard as lines of text: curves over time in Braille
// dots (or in ASCII marks), all on one time axis, with the boundaries of the steps, limits,
// throttled time and moments of note; and small multiples over the steps.
//
// It is pure: the same input gives the same lines, and nothing is kept. Every result has exactly
// the asked size in cells, whatever the input is. Texts are plain (not painted) and may come from
// outside; they are made harmless here. Work grows with the number of points only by one pass over
// them: what is drawn is bounded by the size of the chart.
package chart

import "locbench/internal/tui/look"

// Gutter is a width for the labels of the y axis in which the units of locbench find room.
const Gutter = 10

// What is drawn at most: more of it could not be told apart.
const (
	maxSeries = 64
	maxRules  = 16
	maxMarks  = 4096 // bounds, and flags
	maxText   = 120  // bytes of a name
)

// Point is one value at X seconds. A Y that is NaN or infinite is a gap.
type Point struct{ X, Y float64 }

// Series is one line of a chart.
type Series struct {
	Name   string
	Points []Point // ordered by X
	Paint  look.Paint
	Mark   int // index into Glyph.Marks, for the legend and for telling lines apart without colour
}

// Rule is a horizontal line: a quota, a limit. One far above all values is reported at the top,
// with an arrow, and does not squeeze them.
type Rule struct {
	Y     float64
	Name  string
	Paint look.Paint
}

// Bound is a vertical line between steps, with the name of the step that begins there.
type Bound struct {
	X    float64
	Name string
}

// Flag marks a moment (a note, a pause, a change of the rate).
type Flag = Bound

// Band is a share of 0 to 1 over a stretch of time, drawn in a row of its own under the curve
// (throttled time). Where bands overlap, or share a column, the largest share is shown.
type Band struct{ X0, X1, Share float64 }

// Chart is one chart over time.
type Chart struct {
	Title    string               // "throughput"
	Value    string               // of now, beside the title: "12,345 req/s"
	Unit     func(float64) string // for the labels of the y axis; nil: three digits
	Series   []Series             // later ones are drawn over earlier ones; at most 64
	Rules    []Rule               // at most 16
	Bands    []Band
	BandName string  // "throttled"; the row of the bands is kept free for them if this is set
	Log      bool    // y on a log scale (latency); values <= 0 are gaps
	Binary   bool    // the y axis is divided by powers of two (bytes)
	Top      float64 // least top of the y axis; 0: from the data
	Bottom   float64 // of a log scale: the highest bottom; 0: from the data
}

// Draw returns exactly h lines of exactly w cells: the title with the value and the legend; the
// curves; the bands. With two lines there is a spark line of the first series instead of curves.
func (c Chart) Draw(l *look.Look, a Axis, w, h int) []string {
	return c.draw(l, a, w, h, false)
}

// draw draws the chart; points tells that each point is of interest, so that each gets its mark.
func (c Chart) draw(l *look.Look, a Axis, w, h int, points bool) []string {
	if h <= 0 {
		return nil
	}
	if w <= 0 {
		return make([]string, h)
	}
	c.Series = c.Series[:min(len(c.Series), maxSeries)]
	c.Rules = c.Rules[:min(len(c.Rules), maxRules)]
	a = a.sane()
	if h <= 2 {
		c.Series = c.Series[:min(len(c.Series), 1)]
		return []string{c.title(l, w, false), c.spark(l, a, w)}[:h]
	}
	p := newPlot(l, c, a, w, h-1)
	p.frame()
	p.bounds()
	p.rules()
	for i := range c.Series {
		p.line(i)
	}
	for i := range c.Series {
		p.marks(i, points)
	}
	p.flags()
	p.ruleNames()
	p.bands()
	return append([]string{c.title(l, w, p.left == 0 && p.bandRow > 0)}, p.lines()...)
}

// spark is the first series as one line of blocks.
func (c Chart) spark(l *look.Look, a Axis, w int) string {
	cols := thin(c.Series, a, w, c.Log)
	s := c.scale(cols)
	cv := newCanvas(w, 1)
	blocks := l.Glyph.Spark
	for x := range cols { // none without a series
		if cols[x].state != empty {
			block := blocks[min(len(blocks)-1, int(s.pos(cols[x].hi)*float64(len(blocks))))]
			cv.set(x, 0, first(block), cv.paint(c.Series[0].Paint), data)
		}
	}
	return cv.lines()[0]
}
