package board

import (
	"math"
	"sort"

	"locbench/internal/tui/chart"
	"locbench/internal/tui/fold"
)

// room is an empty list for n points, whose memory serves for the next chart when this is drawn.
func (v *view) room(n int) []chart.Point {
	b := v.Board
	if cap(b.points)-len(b.points) < n {
		b.points = make([]chart.Point, 0, max(4096, 2*n))
	}
	at := len(b.points)
	b.points = b.points[:at+n]
	return b.points[at : at : at+n]
}

// The figures of the curves; NaN where there is none.

func throughputOf(p *fold.LoadPoint) float64 { return known(!p.Drain, p.Throughput) }
func dueOf(p *fold.LoadPoint) float64        { return known(!p.Drain && p.Due > 0, p.Due) }
func p50Of(p *fold.LoadPoint) float64        { return p.P50 }
func p90Of(p *fold.LoadPoint) float64        { return p.P90 }
func p99Of(p *fold.LoadPoint) float64        { return p.P99 }
func errorsOf(p *fold.LoadPoint) float64     { return p.Errors }
func cpusOf(p *fold.UsagePoint) float64      { return known(p.Known, p.CPUs) }
func usedOf(p *fold.UsagePoint) float64      { return known(p.Used > 0, p.Used) }
func peakOf(p *fold.UsagePoint) float64      { return known(p.Peak > 0, p.Peak) }
func loadTime(p *fold.LoadPoint) float64     { return p.T }
func usageTime(p *fold.UsagePoint) float64   { return p.T }

func known(is bool, y float64) float64 {
	if is {
		return y
	}
	return math.NaN()
}

// inSight are the points on the axis, and one more at each end so that the curves reach the edges.
func inSight[T any](points []T, at func(*T) float64, a chart.Axis) []T {
	from := sort.Search(len(points), func(i int) bool { return at(&points[i]) >= a.From })
	to := sort.Search(len(points), func(i int) bool { return at(&points[i]) > a.To })
	return points[max(0, min(from, to)-1):min(len(points), to+1)]
}

// line is a curve of what y is of points, with gaps where there is none for a while.
func line[T any](v *view, points []T, at, y func(*T) float64) []chart.Point {
	out := v.room(len(points) + 8)
	for i := range points {
		t := at(&points[i])
		if i > 0 && t-at(&points[i-1]) > gap {
			out = append(out, chart.Point{X: t, Y: math.NaN()})
		}
		out = append(out, chart.Point{X: t, Y: y(&points[i])})
	}
	return out
}

// cpuLine puts each value in the middle of the time that it is the mean of.
func (v *view) cpuLine(points []fold.UsagePoint) []chart.Point {
	out := v.room(len(points))
	for i := range points {
		p := &points[i]
		out = append(out, chart.Point{X: (p.From + p.T) / 2, Y: cpusOf(p)})
	}
	return out
}
