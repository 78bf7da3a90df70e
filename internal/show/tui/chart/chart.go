// Package chart draws the charts of the dashboard as lines of text: curves over time in Braille
// dots (or in ASCII marks), all on one time axis, with the boundaries of the steps, limits,
// throttled time and flags.
//
// It is pure: the same input gives the same lines, and nothing is kept. Every result has exactly
// the requested size in cells, whatever the input is. Texts are plain (not painted) and may come
// from outside; they are made safe here. Points are read in one pass; all other work is bounded by
// the size of the chart.
package chart

import (
	"cmp"

	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// Gutter is the width of the labels of the y axis; all units of locbench fit.
const Gutter = 10

// The most that is drawn of each kind: more could not be distinguished.
const (
	maxSeries = 64
	maxMarks  = 4096 // bounds, and as many flags
	maxText   = 120  // bytes of a name
)

// Point is one value at X seconds. A Y that is NaN or infinite is a gap.
type Point struct{ X, Y float64 }

// Series is one line of a chart.
type Series struct {
	Name   string
	Points []Point // ordered by X
	Paint  ui.Paint
	Mark   int // index into Glyph.Marks, for the legend and to distinguish lines without color
}

// Rule is a horizontal line: a quota, a limit. One far above all values is named at the top, with
// an arrow, and does not compress the scale.
type Rule struct {
	Y     float64
	Name  string
	Paint ui.Paint
}

// Bound is a vertical line between steps, with the name of the step that begins there.
type Bound struct {
	X    float64
	Name string
}

// Flag marks a moment (a note, a pause, a change of the rate).
type Flag = Bound

// Band is a share of 0 to 1 over a time, drawn in its own row under the curve (throttled time).
// Where bands overlap or share a column, the largest share is shown.
type Band struct{ X0, X1, Share float64 }

// Chart is one chart over time.
type Chart struct {
	Title    string               // "throughput"
	Value    string               // current value, next to the title: "12,345 req/s"
	Note     string               // at the right of the title, if there is no legend
	Unit     func(float64) string // for the labels of the y axis; nil: three digits
	Series   []Series             // later ones are drawn over earlier ones; at most 64
	Rules    []Rule
	Bands    []Band
	BandName string // "throttled"; if set, the bands have a row, even without any
	Log      bool   // y on a log scale (latency); values <= 0 are gaps
	Binary   bool   // the y axis is divided by powers of two (bytes)
}

// Draw returns exactly h lines of exactly w cells: the title with the value and the legend, the
// curves and the bands. Two lines have no room for curves.
func (c Chart) Draw(l *ui.Theme, a Axis, w, h int) []string {
	if w <= 0 || h <= 2 {
		return ui.Exact([]string{c.title(l, w)}, max(0, w), h)
	}
	return append([]string{c.title(l, w)}, c.plot(l, a, w, h-1).lines()...)
}

// plot draws all but the title.
func (c Chart) plot(l *ui.Theme, a Axis, w, h int) *plot {
	c.Series = c.Series[:min(len(c.Series), maxSeries)]
	p := newPlot(l, c, a.sane(), w, h)
	p.frame()
	p.bounds()
	p.rules()
	for i := range c.Series {
		p.line(i)
	}
	for i := range c.Series {
		p.marks(i)
	}
	p.flags()
	p.ruleNames()
	p.bands()
	return p
}

// title returns the first line: name, value and, at the right, as much of the legend as fits, or the
// note.
func (c Chart) title(l *ui.Theme, w int) string {
	name, value := clean(l, c.Title), clean(l, c.Value)
	if value != "" && name != "" {
		value = "  " + value
	}
	if fit.Width(name) >= w {
		return l.Title.S(fit.Left(cut(l, name, w), w))
	}
	left := l.Title.S(name) + l.Strong.S(cut(l, value, w-fit.Width(name)))
	right := cmp.Or(c.legend(l, w-fit.Width(left)-3), l.Faint.S(clean(l, c.Note)))
	return fit.Left(l.ASCIIOnly(l.Rule(left, right, w)), w)
}

// legend names the lines, if there are several, in at most room cells; "" if there is only room for
// one name.
func (c Chart) legend(l *ui.Theme, room int) (text string) {
	shown := 0
	for i, s := range c.Series[:min(len(c.Series), maxSeries)] {
		entry, rest := s.Paint.S(mark(l, s))+" "+clean(l, s.Name), 2 // for the ellipsis
		if s.Name == "" {
			continue
		}
		if shown > 0 {
			entry = "  " + entry
		}
		if i == len(c.Series)-1 {
			rest = 0
		}
		if fit.Width(text+entry)+rest > room {
			text += " " + l.Glyph.Ellipsis
			break
		}
		text += entry
		shown++
	}
	if shown < 2 {
		return ""
	}
	return text
}
