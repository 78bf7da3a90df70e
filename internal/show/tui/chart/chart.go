// Package chart draws the charts of the dashboard as lines of text: curves over time in Braille
// dots (or in ASCII marks), all on one time axis, with the boundaries of the steps, limits,
// throttled time and flags; and small multiples over the steps.
//
// It is pure: the same input gives the same lines, and nothing is kept. Every result has exactly
// the requested size in cells, whatever the input is. Texts are plain (not painted) and may come
// from outside; they are made safe here. Points are read in one pass; all other work is bounded by
// the size of the chart.
package chart

import (
	"strings"

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
	BandName string  // "throttled"; if set, the bands have a row, even without any
	Log      bool    // y on a log scale (latency); values <= 0 are gaps
	Binary   bool    // the y axis is divided by powers of two (bytes)
	Top      float64 // the top of the y axis is at least this; 0: from the data
	Bottom   float64 // the bottom of a log scale is at most this; 0: from the data
}

// Draw returns exactly h lines of exactly w cells: the title with the value and the legend, the
// curves and the bands. Two lines have no room for curves.
func (c Chart) Draw(l *ui.Theme, a Axis, w, h int) []string {
	return c.draw(l, a, w, h, false)
}

// draw draws the chart; with points, every point gets its mark.
func (c Chart) draw(l *ui.Theme, a Axis, w, h int, points bool) []string {
	if h <= 0 {
		return nil
	}
	if w <= 0 {
		return make([]string, h)
	}
	c.Series = c.Series[:min(len(c.Series), maxSeries)]
	a = a.sane()
	if h <= 2 {
		c.Series = c.Series[:min(len(c.Series), 1)]
		return []string{c.title(l, w, false), strings.Repeat(" ", w)}[:h]
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

// Steps is a chart over steps (connections, rates) instead of time, with a line for each round or
// contender. Many of them fit side by side.
type Steps struct {
	Chart           // X is the index of the step
	Labels []string // names of the steps, from left to right
	Bounds []Bound  // between two steps, such as 2.5
	Gutter int      // cells left of the plot, as in Axis
}

// Draw returns exactly h lines of exactly w cells; the last one, of three or more, names the steps.
func (s Steps) Draw(l *ui.Theme, w, h int) []string {
	if h <= 0 {
		return nil
	}
	c, a := s.Chart, Axis{From: -0.5, To: max(1, float64(len(s.Labels))) - 0.5, Gutter: s.Gutter, Bounds: s.Bounds}
	if h < 4 || w <= 0 {
		return c.draw(l, a, w, h, true)
	}
	return append(c.draw(l, a, w, h-1, true), s.labels(l, a, w))
}

// labels returns the line under the plot: every label that has room next to the one before.
func (s Steps) labels(l *ui.Theme, a Axis, w int) string {
	c := newCanvas(w, 1)
	left, end := a.left(w), -1
	for i, label := range s.Labels {
		label = cut(l, clean(l, label), 12)
		cells := fit.Width(label)
		x := max(left, min(a.column(float64(i), left, w)-cells/2, w-cells))
		if x > end && cells > 0 {
			c.text(x, 0, w, label, c.paint(l.Faint))
			end = x + cells
		}
	}
	return c.lines()[0]
}

// title returns the first line: name, value and, at the right, as much of the legend as fits, or the
// note.
func (c Chart) title(l *ui.Theme, w int, band bool) string {
	name, value := clean(l, c.Title), clean(l, c.Value)
	if value != "" && name != "" {
		value = "  " + value
	}
	if fit.Width(name) >= w {
		return l.Title.S(fit.Left(cut(l, name, w), w))
	}
	value = cut(l, value, w-fit.Width(name))
	left := l.Title.S(name) + l.Strong.S(value)
	right, n := c.legend(l, w-fit.Width(left)-3, band)
	if n == 0 {
		right = l.Faint.S(clean(l, c.Note))
	}
	return fit.Left(l.ASCIIOnly(l.Rule(left, right, w)), w)
}

// legend names the lines, if there are several, in at most room cells, and returns its width. If
// room is short, the common beginning of the names is written only once: "● round 1 ■ 2".
func (c Chart) legend(l *ui.Theme, room int, band bool) (string, int) {
	s, n, all := c.names(l, room, band, 0)
	if skip := c.common(); !all && skip > 0 {
		s, n, all = c.names(l, room, band, skip)
	}
	first := 0 // width of the first name and an ellipsis
	if len(c.Series) > 1 {
		first = 2 + fit.Width(clean(l, c.Series[0].Name)) + 2
	}
	if !all && n <= first {
		return "", 0 // one name of several does not help
	}
	return s, n
}

// common returns the length, in bytes, of the whole words that all names begin with.
func (c Chart) common() int {
	if len(c.Series) == 0 {
		return 0
	}
	n := min(len(c.Series[0].Name), maxText)
	for _, s := range c.Series[1:] {
		n = min(n, len(s.Name))
		for n > 0 && s.Name[:n] != c.Series[0].Name[:n] {
			n--
		}
	}
	return strings.LastIndexByte(c.Series[0].Name[:n], ' ') + 1
}

// names returns the legend, without skip bytes of all names but the first; all: all names fit.
func (c Chart) names(l *ui.Theme, room int, band bool, skip int) (s string, cells int, all bool) {
	type entry struct {
		mark, name string
		paint      ui.Paint
	}
	entries := make([]entry, 0, len(c.Series)+1)
	if len(c.Series) > 1 {
		for i, s := range c.Series {
			if i > 0 {
				s.Name = s.Name[skip:]
			}
			entries = append(entries, entry{mark(l, s), clean(l, s.Name), s.Paint})
		}
	}
	if band {
		block := l.Glyph.Blocks[len(l.Glyph.Blocks)/2]
		entries = append(entries, entry{block, clean(l, c.BandName), l.Warn})
	}
	for i, e := range entries {
		if e.name == "" {
			continue
		}
		gap, rest := 2, 2 // rest is for the ellipsis
		if cells == 0 {
			gap = 0
		}
		if i == len(entries)-1 {
			rest = 0
		}
		wide := gap + fit.Width(e.mark) + 1 + fit.Width(e.name)
		if cells+wide+rest > room {
			if cells > 0 && cells+2 <= room {
				return s + " " + l.Glyph.Ellipsis, cells + 2, false
			}
			return s, cells, false
		}
		s += "  "[:gap] + e.paint.S(e.mark) + " " + e.name
		cells += wide
	}
	return s, cells, true
}
