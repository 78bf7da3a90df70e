package board

import (
	"math"
	"sort"

	"locbench/internal/tui/chart"
	"locbench/internal/tui/fold"
)

// room is an empty list for n points. It lives until the chart is drawn: then its memory serves for
// the next one.
func (v *view) room(n int) []chart.Point {
	b := v.Board
	if cap(b.points)-len(b.points) < n {
		b.points = make([]chart.Point, 0, max(4096, 2*n))
	}
	at := len(b.points)
	b.points = b.points[:at+n]
	return b.points[at : at : at+n]
}

// loadIn are the points in sight, and one more at each end so that the curves reach the edges.
func loadIn(points []fold.LoadPoint, a chart.Axis) []fold.LoadPoint {
	from := sort.Search(len(points), func(i int) bool { return points[i].T >= a.From })
	to := sort.Search(len(points), func(i int) bool { return points[i].T > a.To })
	return points[max(0, min(from, to)-1):min(len(points), to+1)]
}

func usageIn(points []fold.UsagePoint, a chart.Axis) []fold.UsagePoint {
	from := sort.Search(len(points), func(i int) bool { return points[i].T >= a.From })
	to := sort.Search(len(points), func(i int) bool { return points[i].T > a.To })
	return points[max(0, min(from, to)-1):min(len(points), to+1)]
}

func (v *view) loadLine(points []fold.LoadPoint, y func(*fold.LoadPoint) float64) []chart.Point {
	out := v.room(len(points) + 8)
	for i := range points {
		p := &points[i]
		if i > 0 && p.T-points[i-1].T > gap {
			out = append(out, chart.Point{X: p.T, Y: math.NaN()})
		}
		out = append(out, chart.Point{X: p.T, Y: y(p)})
	}
	return out
}

// due is the rate at which requests came due; nil where none did by a rate.
func (v *view) due(points []fold.LoadPoint) []chart.Point {
	for i := range points {
		if points[i].Due > 0 {
			return v.loadLine(points, func(p *fold.LoadPoint) float64 {
				if p.Drain || p.Due <= 0 {
					return math.NaN()
				}
				return p.Due
			})
		}
	}
	return nil
}

// cpuLine puts each value in the middle of the time that it is the mean of.
func (v *view) cpuLine(points []fold.UsagePoint) []chart.Point {
	out := v.room(len(points))
	for i := range points {
		p := &points[i]
		y := p.CPUs
		if !p.Known {
			y = math.NaN()
		}
		out = append(out, chart.Point{X: (p.From + p.T) / 2, Y: y})
	}
	return out
}

// usageLine leaves out what is 0, which means unknown.
func (v *view) usageLine(points []fold.UsagePoint, y func(*fold.UsagePoint) float64) []chart.Point {
	out := v.room(len(points) + 8)
	for i := range points {
		p := &points[i]
		at := y(p)
		if at <= 0 || i > 0 && p.T-points[i-1].T > gap {
			out = append(out, chart.Point{X: p.T, Y: math.NaN()})
		}
		if at > 0 {
			out = append(out, chart.Point{X: p.T, Y: at})
		}
	}
	return out
}
