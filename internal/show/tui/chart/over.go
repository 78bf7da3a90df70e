package chart

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// Over is a chart over a number, such as connections or requests per second: every point has its
// mark, and the lines have their names at their ends.
type Over struct {
	Chart        // without Bands
	LogX  bool   // x on a log scale; values <= 0 are left out
	NameX string // of the x axis, at the end of its labels if there is room
}

// mostMarked is how many points of a line each get their mark.
const mostMarked = 40

// leastOver are the lines below which Over is only its title.
const leastOver = 5

// Draw returns exactly h lines of exactly w cells.
func (o Over) Draw(l *ui.Theme, w, h int) []string {
	c := o.Chart
	c.Series = nil // their names are at their ends
	title := []string{c.title(l, w)}
	if w <= 0 || h < leastOver {
		return ui.Exact(title, max(0, w), h)
	}
	c.Series = o.placed()
	a, names := o.axis(), o.names(l, w, h-2)
	few := !slices.ContainsFunc(c.Series, func(s Series) bool { return len(s.Points) > mostMarked })
	p := c.plot(l, a, w-names, h-2, few)
	lines := p.lines()
	if names > 0 {
		for y, name := range p.ends(names) {
			lines[y] += name
		}
	}
	return slices.Concat(title, lines, o.labels(l, a, w, names))
}

// OverLoad makes c a chart of what over connections, or over rates if no step has connections; at
// is the place of a step on it, 0 if it has none.
func OverLoad(what string, steps []bench.Step, c Chart) (o Over, at func(bench.Step) float64) {
	closed := func(s bench.Step) bool { return !s.WarmUp && s.Connections > 0 }
	c.Title = what + " over "
	if slices.ContainsFunc(steps, closed) {
		c.Title += "connections"
		at = func(s bench.Step) float64 { return float64(s.Connections) }
		return Over{Chart: c, LogX: true, NameX: "connections"}, at
	}
	c.Title += "the scheduled rate"
	return Over{Chart: c, LogX: true, NameX: "req/s"}, func(s bench.Step) float64 { return s.Rate }
}

// x returns a number at its place on the axis; it is not finite if it has none.
func (o Over) x(v float64) float64 {
	if o.LogX {
		return math.Log2(v)
	}
	return v
}

// placed returns the lines with their points on the axis.
func (o Over) placed() []Series {
	all := slices.Clone(o.Series[:min(len(o.Series), maxSeries)])
	for i := range all {
		var points []Point
		for _, p := range all[i].Points {
			if x := o.x(p.X); finite(x) {
				points = append(points, Point{x, p.Y})
			}
		}
		all[i].Points = points
	}
	return all
}

// axis returns the range of all points; of numbers without a log scale from 0 on.
func (o Over) axis() Axis {
	a := Axis{From: math.Inf(1), To: math.Inf(-1), Gutter: Gutter}
	for _, s := range o.placed() {
		for _, p := range s.Points {
			a.From, a.To = min(a.From, p.X), max(a.To, p.X)
		}
	}
	if !o.LogX {
		a.From = min(0, a.From)
	}
	return a.sane()
}

// names returns the cells for the names at the right; 0 without names, or without room for them.
func (o Over) names(l *ui.Theme, w, rows int) int {
	wide := 0
	for _, s := range o.Series[:min(len(o.Series), maxSeries)] {
		wide = max(wide, fit.Width(clean(l, s.Name))+4)
	}
	if wide <= 4 || len(o.Series) > rows || wide > w/3 {
		return 0
	}
	return wide
}

// ends returns the mark and the name of each line for the rows of the plot, in n cells: at the row
// where the line ends, or as near as the others leave room.
func (p *plot) ends(n int) []string {
	type end struct{ series, row int }
	var all []end
	for i := range p.chart.Series {
		_, _, cols := p.series(i)
		for x := len(cols) - 1; x >= 0; x-- {
			if cols[x].state != empty {
				all = append(all, end{i, int(cols[x].dots.last) / p.ky})
				break
			}
		}
	}
	slices.SortStableFunc(all, func(a, b end) int { return cmp.Compare(a.row, b.row) })
	for i := range all { // downwards, then back up from the last row
		if i > 0 {
			all[i].row = max(all[i].row, all[i-1].row+1)
		}
	}
	for i, below := len(all)-1, p.rows; i >= 0; i-- {
		all[i].row = min(all[i].row, below-1)
		below = all[i].row
	}
	rows := slices.Repeat([]string{strings.Repeat(" ", n)}, p.rows)
	for _, e := range all {
		s := p.chart.Series[e.series]
		text := "  " + s.Paint.S(mark(p.look, s)) + " " + clean(p.look, s.Name)
		rows[e.row] = fit.Left(text, n)
	}
	return rows
}

// labels returns the line under the plot: the numbers of the points, or round ones, and the name of
// the axis, where there is room.
func (o Over) labels(l *ui.Theme, a Axis, w, names int) []string {
	plot := w - names
	left := a.left(plot)
	line := newCanvas(w, 1)
	for _, v := range o.ticks(a, plot-left) {
		text := clean(l, RateLabel(v))
		x := a.column(o.x(v), left, plot) - fit.Width(text)/2
		line.put(max(0, min(x, w-fit.Width(text))), 0, text, l.Faint)
	}
	name := clean(l, o.NameX)
	line.put(w-fit.Width(name), 0, name, l.Faint)
	return line.lines()
}

// ticks returns the numbers to label, the most important first.
func (o Over) ticks(a Axis, n int) (all []float64) {
	if !o.LogX {
		step := oneTwoFive(max((a.To-a.From)/float64(max(1, n/9)), tiny), true)
		for v := 0.; v <= a.To && len(all) <= n; v += step {
			all = append(all, v)
		}
		return all
	}
	for _, s := range o.Series[:min(len(o.Series), maxSeries)] {
		for _, p := range s.Points {
			if p.X > 0 && finite(p.X) && !slices.Contains(all, p.X) && len(all) < maxMarks {
				all = append(all, p.X)
			}
		}
	}
	slices.Sort(all)
	return all
}
