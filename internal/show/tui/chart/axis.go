package chart

import (
	"fmt"
	"math"
	"slices"

	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// Axis is the time axis that stacked charts share.
type Axis struct {
	From, To float64 // seconds
	Gutter   int     // cells left of the plot; none if it would leave fewer than 12 for the curves
	Name     string  // what the names of the bounds are, in the gutter: "conns"
	Bounds   []Bound
	Flags    []Flag
}

// Draw returns the lines under the lowest chart, each of exactly w cells: the times, the names of
// the steps and, if there are any, the names of the flags.
func (a Axis) Draw(l *ui.Theme, w int) []string {
	h := 1
	bounds := len(a.Bounds) > 0
	if bounds {
		h++
	}
	flags := slices.ContainsFunc(a.Flags, func(f Flag) bool { return f.Name != "" })
	if flags {
		h++
	}
	if w <= 0 {
		return make([]string, h)
	}
	a = a.sane()
	c := newCanvas(w, h)
	left := a.left(w)
	a.times(l, c, left)
	if bounds {
		name := cut(l, clean(l, a.Name), max(0, left-1))
		c.text(left-1-fit.Width(name), 1, left, name, c.paint(l.Faint))
		a.names(l, c, nameRow{1, '│', c.paint(l.Border), c.paint(l.Text), a.Bounds})
	}
	if flags {
		a.names(l, c, nameRow{h - 1, '▼', c.paint(l.Accent), c.paint(l.Faint), a.Flags})
	}
	return c.lines()
}

func (a Axis) times(l *ui.Theme, c *canvas, left int) {
	wide := 4
	for _, t := range [...]float64{a.From, a.To} {
		wide = max(wide, min(fit.Width(clean(l, clock(t))), 12))
	}
	step := tickStep((a.To - a.From) / float64(c.w-left) * float64(wide+3))
	border, faint := c.paint(l.Border), c.paint(l.Faint)
	k := math.Ceil(a.From/step - 1e-9)
	for range c.w - left {
		t := k * step
		x := a.column(max(t, a.From), left, c.w)
		if x < 0 || t > a.To {
			return
		}
		if s := clean(l, clock(t)); x+1+fit.Width(s) <= c.w && c.free(x, 0, 1) {
			c.set(x, 0, sign(l, '╵'), border, text)
			c.text(x+1, 0, c.w, s, faint)
		}
		k++
	}
}

// cutName is the room for a name that is cut: in less it is left out.
const cutName = 10

// nameRow is a row of names below the axis, each after its mark.
type nameRow struct {
	row          int
	mark         rune
	signs, paint uint16 // of the marks and of the names
	all          []Bound
}

// names writes each name between its place and the next one's, or before it if only there is room.
func (a Axis) names(l *ui.Theme, c *canvas, of nameRow) {
	left, row, paint, all := a.left(c.w), of.row, of.paint, of.all
	for i, at := range all {
		col, end := a.column(at.X, left, c.w), c.w
		if col < 0 {
			continue
		}
		if i+1 < len(all) {
			if e := a.column(all[i+1].X, left, c.w); e >= 0 {
				end = e
			}
		}
		c.text(col, row, c.w, string(sign(l, of.mark)), of.signs)
		name := clean(l, at.Name)
		cells := fit.Width(name)
		switch {
		case cells+1 < end-col || end == c.w && cells < end-col:
			c.text(col+1, row, end, name, paint)
		case col-cells > left && c.free(col-cells-1, row, cells+1):
			c.text(col-cells, row, col, name, paint) // the newest is at the right edge
		case end-col > cutName:
			c.text(col+1, row, end, cut(l, name, end-col-2), paint)
		}
	}
}

// sane returns the axis with finite bounds.
func (a Axis) sane() Axis {
	if !(a.To > a.From) || !finite(a.To-a.From) {
		if !finite(a.From) || math.Abs(a.From) > 1e15 {
			a.From = 0
		}
		a.To = a.From + 1
	}
	a.Bounds = a.Bounds[max(0, len(a.Bounds)-maxMarks):]
	a.Flags = a.Flags[max(0, len(a.Flags)-maxMarks):]
	return a
}

// left returns the first cell of the plot in w cells.
func (a Axis) left(w int) int {
	if a.Gutter < 2 || w-a.Gutter < 12 {
		return 0
	}
	return a.Gutter
}

// column returns the cell of moment x in the cells from left to w, or -1 if it is out of sight.
func (a Axis) column(x float64, left, w int) int {
	if !(x >= a.From && x <= a.To) {
		return -1
	}
	n := w - left
	return left + index((x-a.From)*(float64(n)/(a.To-a.From)), n)
}

// tickStep returns a round number of seconds that is at least least, and a second at least.
func tickStep(least float64) float64 {
	round := [...]float64{1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10800, 21600, 43200,
		86400}
	if i := slices.IndexFunc(round[:], func(s float64) bool { return s >= least }); i >= 0 {
		return round[i]
	}
	return min(oneTwoFive(least, true), huge)
}

// clock returns a number of seconds as a time of the axis: "1:05".
func clock(s float64) string {
	if !(math.Abs(s) < 1e9) {
		return PlainLabel(s)
	}
	n, sign := int64(math.Abs(s)), ""
	if s <= -1 {
		sign = "-"
	}
	if n >= 3600 {
		return fmt.Sprintf("%s%d:%02d:%02d", sign, n/3600, n/60%60, n%60)
	}
	return fmt.Sprintf("%s%d:%02d", sign, n/60, n%60)
}
