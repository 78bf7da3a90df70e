package chart

import (
	"fmt"
	"math"

	"locbench/internal/tui/look"
)

// Axis is the time axis that stacked charts share.
type Axis struct {
	From, To float64 // seconds
	// Gutter is the number of cells left of the plot, the same for all charts on the axis. Where
	// less than 12 cells would be left for the curves there is no gutter.
	Gutter int
	Bounds []Bound
	Flags  []Flag
	Label  func(float64) string // "1:20"; nil: minutes and seconds
}

// Height is the number of lines that Draw returns: one for the times, one for the names of steps
// and one for those of flags, where there are any.
func (a Axis) Height() int {
	n := 1
	if len(a.Bounds) > 0 {
		n++
	}
	if a.named() {
		n++
	}
	return n
}

func (a Axis) named() bool {
	for _, f := range a.Flags {
		if f.Name != "" {
			return true
		}
	}
	return false
}

// Draw returns the lines under the lowest chart, Height of them, each of exactly w cells.
func (a Axis) Draw(l *look.Look, w int) []string {
	out := make([]string, a.Height())
	if w <= 0 {
		return out
	}
	names := a.named()
	bounds := len(a.Bounds) > 0
	a = a.sane()
	c := newCanvas(w, len(out))
	left := a.left(w)
	a.times(l, c, left)
	row := 1
	if bounds {
		line := "│"
		if l.ASCII {
			line = "|"
		}
		a.names(l, c, left, row, line, c.paint(l.Border), c.paint(l.Text), len(a.Bounds), func(i int) (float64, string) {
			return a.Bounds[i].X, a.Bounds[i].Name
		})
		row++
	}
	if names {
		sign := "▼"
		if l.ASCII {
			sign = "v"
		}
		a.names(l, c, left, row, sign, c.paint(l.Accent), c.paint(l.Faint), len(a.Flags), func(i int) (float64, string) {
			return a.Flags[i].X, a.Flags[i].Name
		})
	}
	c.lines(out)
	return out
}

// times writes the times, each behind its tick.
func (a Axis) times(l *look.Look, c *canvas, left int) {
	label := a.Label
	if label == nil {
		label = clock
	}
	wide := 4
	for _, t := range [...]float64{a.From, a.To} {
		wide = max(wide, min(look.Width(clean(l, label(t))), 12))
	}
	n := c.w - left
	step := tickStep((a.To - a.From) / float64(n) * float64(wide+3))
	if a.Label == nil && step < 1 {
		places := max(1, min(6, int(math.Ceil(-math.Log10(step)-1e-9))))
		if step = tickStep((a.To - a.From) / float64(n) * float64(wide+4+places)); step < 1 {
			label = func(s float64) string { return fine(s, places) }
		}
	}
	tick := '╵'
	if l.ASCII {
		tick = '|'
	}
	border, faint := c.paint(l.Border), c.paint(l.Faint)
	k := math.Ceil(a.From/step - 1e-9)
	for range n {
		t := k * step
		x := a.column(max(t, a.From), left, c.w)
		if x < 0 || t > a.To {
			return
		}
		if s := clean(l, label(t)); x+1+look.Width(s) <= c.w && c.free(x, 0, 1) {
			c.set(x, 0, tick, border, text)
			c.text(x+1, 0, c.w, s, faint)
		}
		k++
	}
}

// names writes each name between its place and the next one's; or before its place, if there alone
// it finds room.
func (a Axis) names(l *look.Look, c *canvas, left, row int, sign string, signs, paint uint16, n int, at func(int) (float64, string)) {
	for i := range n {
		x, name := at(i)
		col := a.column(x, left, c.w)
		// A step that began out of sight still has its name here.
		hidden := col < 0 && x < a.From
		if hidden {
			col = left - 1
		}
		end := c.w
		if i+1 < n {
			next, _ := at(i + 1)
			if e := a.column(next, left, c.w); e >= 0 {
				end = e
			} else if next < a.From {
				continue // the next one's, rather
			}
		}
		if col < left-1 || hidden && end <= left {
			continue
		}
		if !hidden {
			c.text(col, row, c.w, sign, signs)
		}
		name = clean(l, name)
		cells := look.Width(name)
		switch {
		case cells >= end-col && col-cells > left && c.free(col-cells-1, row, cells+1):
			c.text(col-cells, row, col, name, paint) // the newest is at the right edge
		case end-col > 3:
			c.text(col+1, row, end, l.Cut(name, end-col-1), paint)
		}
	}
}

// sane is the axis with bounds that can be computed with.
func (a Axis) sane() Axis {
	if !finite(a.From) || !finite(a.To) || !(a.To > a.From) || !finite(a.To-a.From) {
		if !finite(a.From) || math.Abs(a.From) > 1e15 {
			a.From = 0
		}
		a.To = a.From + 1
	}
	a.Bounds = a.Bounds[max(0, len(a.Bounds)-maxMarks):]
	a.Flags = a.Flags[max(0, len(a.Flags)-maxMarks):]
	return a
}

// left is where the plot begins in w cells.
func (a Axis) left(w int) int {
	if a.Gutter < 2 || w-a.Gutter < 12 {
		return 0
	}
	return a.Gutter
}

// column is the cell of moment x in the cells from left to w, or -1 if it is out of sight.
func (a Axis) column(x float64, left, w int) int {
	if !(x >= a.From && x <= a.To) {
		return -1
	}
	n := w - left
	return left + index((x-a.From)*(float64(n)/(a.To-a.From)), n)
}

// At is the moment in the middle of cell x of charts of w cells, the nearest one in sight for cells
// beside the plot.
func (a Axis) At(x, w int) float64 {
	a = a.sane()
	left := a.left(w)
	n := max(1, w-left)
	return a.From + (a.To-a.From)*(float64(max(0, min(x-left, n-1)))+0.5)/float64(n)
}

// start is the moment at which cell x of n begins.
func (a Axis) start(x, n int) float64 {
	return a.From + (a.To-a.From)*float64(x)/float64(n)
}

// tickStep is a round number of seconds not less than least.
func tickStep(least float64) float64 {
	for _, s := range [...]float64{1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400} {
		if s >= least && least > 0.5 {
			return s
		}
	}
	if least > tiny && least < huge {
		return oneTwoFive(least, true)
	}
	return max(least, tiny)
}

// fine is a moment with decimal places, all of which its neighbours on the axis have too.
func fine(s float64, places int) string {
	if !(math.Abs(s) < 1e9) {
		return plainUnit(s)
	}
	sign := ""
	if s < 0 {
		sign = "-"
	}
	s = math.Abs(s) // of a negative zero too
	unit := math.Pow(10, float64(places))
	s = math.Round(s*unit) / unit
	minutes := math.Floor(s / 60)
	return fmt.Sprintf("%s%.0f:%0*.*f", sign, minutes, places+3, places, s-60*minutes)
}

// clock is a number of seconds as people read it.
func clock(s float64) string {
	if !(math.Abs(s) < 1e9) {
		return plainUnit(s)
	}
	if s != math.Trunc(s) {
		return fmt.Sprintf("%gs", math.Round(s*1e3)/1e3)
	}
	sign := ""
	if s < 0 {
		sign, s = "-", -s
	}
	n := int64(s)
	if n >= 3600 {
		return fmt.Sprintf("%s%d:%02d:%02d", sign, n/3600, n/60%60, n%60)
	}
	return fmt.Sprintf("%s%d:%02d", sign, n/60, n%60)
}
