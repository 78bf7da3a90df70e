package board

import (
	"sort"

	"locbench/internal/bench"
	"locbench/internal/tui/chart"
	"locbench/internal/tui/fold"
)

// maxKinds bounds the curves of errors.
const maxKinds = 12

// counted are the errors of a leg, in all and a second, kept until there is another window.
type counted struct {
	leg    *fold.Leg
	points int
	last   float64
	kinds  map[bench.ErrorKind]int64
	curves map[bench.ErrorKind][]chart.Point // 0 wherever there is no point between two others
}

func (v *view) errors() *counted {
	load, last := v.leg.Load, 0.0
	if n := len(load); n > 0 {
		last = load[n-1].T
	}
	c := &v.Board.counted
	if c.kinds != nil && c.leg == v.leg && c.points == len(load) && c.last == last {
		return c
	}
	*c = counted{v.leg, len(load), last, map[bench.ErrorKind]int64{}, map[bench.ErrorKind][]chart.Point{}}
	for i := range load {
		p := &load[i]
		total := int64(0)
		for _, n := range p.Kinds {
			total += max(0, n)
		}
		if total <= 0 {
			continue
		}
		for kind, n := range p.Kinds {
			if n <= 0 {
				continue
			}
			c.kinds[kind] += n
			if len(c.curves) < maxKinds || c.curves[kind] != nil {
				c.curves[kind] = extend(c.curves[kind], load, i, p.Errors*float64(n)/float64(total))
			}
		}
	}
	for kind, points := range c.curves {
		if n := len(load); points[len(points)-1].X < load[n-1].T {
			c.curves[kind] = append(points, chart.Point{X: load[n-1].T})
		}
	}
	return c
}

// extend adds point i to a curve that may have none for the points before it: there were no such
// errors then.
func extend(points []chart.Point, load []fold.LoadPoint, i int, y float64) []chart.Point {
	n := len(points)
	if n == 0 {
		points = make([]chart.Point, 0, len(load)+2)
	}
	if i > 0 && n == 0 {
		points = append(points, chart.Point{X: load[0].T}, chart.Point{X: load[i-1].T})
	} else if i > 0 && points[n-1].X < load[i-1].T {
		behind := sort.Search(i-1, func(at int) bool { return load[at].T > points[n-1].X })
		points = append(points, chart.Point{X: load[behind].T}, chart.Point{X: load[i-1].T})
	}
	return append(points, chart.Point{X: load[i].T, Y: y})
}

func (v *view) anyErrors() bool { return len(v.errors().kinds) > 0 }
