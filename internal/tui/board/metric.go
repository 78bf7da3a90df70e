package board

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/tui/chart"
	"locbench/internal/tui/fold"
	"locbench/internal/tui/look"
	"locbench/internal/units"
)

// metric is what a chart shows.
type metric int

const (
	throughput metric = iota
	latency
	cpu
	memory
	failures
	metrics
)

// gap is the time without a point, in seconds, from which on a curve is interrupted.
const gap = 3.0

// curve is a chart as it was drawn last, kept until something in it changes.
type curve struct {
	key   curveKey
	lines []string
}

type curveKey struct {
	leg              *fold.Leg
	look             *look.Look
	w, h             int
	focused, overlay bool
	from, to         float64
	bounds, flags    int
	points           int
	last             float64 // time of the newest point
	errors           bool
	limits           bench.Limits
}

// chart draws one chart of w by h cells over the stretch of a.
func (v *view) chart(m metric, a chart.Axis, w, h int) []string {
	key := curveKey{
		v.leg, v.l, w, h, m == v.focus, v.overlay, a.From, a.To, len(a.Bounds), len(a.Flags), 0, 0, v.anyErrors(), v.leg.Limits(),
	}
	if n := len(v.leg.Usage); (m == cpu || m == memory) && n > 0 {
		key.points, key.last = n, v.leg.Usage[n-1].T
	} else if n := len(v.leg.Load); m != cpu && m != memory && n > 0 {
		key.points, key.last = n, v.leg.Load[n-1].T
	}
	kept := &v.Board.curves[m]
	if kept.key != key || kept.lines == nil {
		*kept = curve{key, v.chartOf(m, a, w).Draw(v.l, a, w, h)}
	}
	return kept.lines
}

func (v *view) chartOf(m metric, a chart.Axis, w int) chart.Chart {
	c := v.series(m, a, w)
	if v.overlay {
		c.Series = append(v.earlier(m, a), c.Series...)
	}
	if m == v.focus {
		c.Title = v.l.Glyph.Cursor + " " + c.Title
	}
	return c
}

func (v *view) series(m metric, a chart.Axis, w int) chart.Chart {
	l, leg := v.l, v.leg
	limits := leg.Limits()
	load, usage := loadIn(leg.Load, a), usageIn(leg.Usage, a)
	switch m {
	case latency:
		return chart.Chart{Title: "latency", Value: v.valueOf(m, w), Unit: latencyLabel, Log: true, Series: []chart.Series{
			{Name: "p50", Paint: l.Series[0], Mark: 0, Points: loadLine(load, func(p *fold.LoadPoint) float64 { return p.P50 })},
			{Name: "p90", Paint: l.Series[1], Mark: 1, Points: loadLine(load, func(p *fold.LoadPoint) float64 { return p.P90 })},
			{Name: "p99", Paint: l.Series[2], Mark: 2, Points: loadLine(load, func(p *fold.LoadPoint) float64 { return p.P99 })},
		}}
	case cpu:
		c := chart.Chart{Title: "CPU", Value: v.valueOf(m, w), Unit: cpuLabel, Series: []chart.Series{{Name: "CPUs", Paint: l.Series[3], Points: cpuLine(usage)}}}
		if limits.CPUs > 0 {
			c.Rules = []chart.Rule{{Y: limits.CPUs, Name: "quota", Paint: l.Warn}}
		}
		for i := range usage {
			if p := &usage[i]; p.Throttled >= 0 {
				c.BandName = "throttled"
				c.Bands = append(c.Bands, chart.Band{X0: p.From, X1: p.T, Share: p.Throttled})
			}
		}
		return c
	case memory:
		c := chart.Chart{Title: "memory", Value: v.valueOf(m, w), Unit: sizeLabel, Binary: true, Series: []chart.Series{
			{Name: "high-water mark", Paint: l.Series[4], Mark: 1, Points: usageLine(usage, func(p *fold.UsagePoint) float64 { return p.Peak })},
			{Name: "in use", Paint: l.Series[1], Mark: 0, Points: usageLine(usage, func(p *fold.UsagePoint) float64 { return p.Used })},
		}}
		if limits.Memory > 0 {
			c.Rules = []chart.Rule{{Y: float64(limits.Memory), Name: "limit " + units.Bytes(limits.Memory), Paint: l.Bad}}
		}
		return c
	case failures:
		return v.errorCurves(load)
	}
	c := chart.Chart{Title: "throughput", Value: v.valueOf(m, w), Unit: rateLabel, Series: []chart.Series{
		{Name: "req/s", Paint: l.Series[0], Points: loadLine(load, func(p *fold.LoadPoint) float64 {
			if p.Drain {
				return math.NaN()
			}
			return p.Throughput
		})},
	}}
	if v.anyErrors() {
		c.Series = append(c.Series, chart.Series{Name: "errors/s", Paint: l.Bad, Mark: 2, Points: loadLine(load, func(p *fold.LoadPoint) float64 { return p.Errors })})
	}
	return c
}

// errorCurves has a line for each kind of error.
func (v *view) errorCurves(load []fold.LoadPoint) chart.Chart {
	c := chart.Chart{Title: "errors", Value: v.valueOf(failures, 0), Unit: rateLabel}
	for i, kind := range slices.Sorted(maps.Keys(v.errorsByKind())) {
		n := i % len(v.l.Series)
		c.Series = append(c.Series, chart.Series{Name: string(kind), Paint: v.l.Series[n], Mark: n, Points: loadLine(load, func(p *fold.LoadPoint) float64 {
			return perKind(p, kind)
		})})
	}
	return c
}

// perKind is the errors of one kind a second.
func perKind(p *fold.LoadPoint, kind bench.ErrorKind) float64 {
	if len(p.Kinds) == 0 {
		return 0
	}
	total := int64(0)
	for _, n := range p.Kinds {
		total += n
	}
	if total <= 0 {
		return 0
	}
	return p.Errors * float64(p.Kinds[kind]) / float64(total)
}

// counted are the errors of a leg, kept until there is another window.
type counted struct {
	leg    *fold.Leg
	points int
	last   float64
	kinds  map[bench.ErrorKind]int64
}

// errorsByKind counts the errors of the leg so far.
func (v *view) errorsByKind() map[bench.ErrorKind]int64 {
	load, last := v.leg.Load, 0.0
	if n := len(load); n > 0 {
		last = load[n-1].T
	}
	c := &v.Board.counted
	if c.kinds != nil && c.leg == v.leg && c.points == len(load) && c.last == last {
		return c.kinds
	}
	*c = counted{v.leg, len(load), last, map[bench.ErrorKind]int64{}}
	for i := range load {
		for kind, n := range load[i].Kinds {
			if n > 0 {
				c.kinds[kind] += n
			}
		}
	}
	return c.kinds
}

func (v *view) anyErrors() bool { return len(v.errorsByKind()) > 0 }

// valueOf is the newest value, for the title of a chart of w cells.
func (v *view) valueOf(m metric, w int) string {
	load, usage := v.newest()
	limits := v.leg.Limits()
	switch {
	case m == failures:
		return v.errorText()
	case (m == throughput || m == latency) && load == nil, (m == cpu || m == memory) && usage == nil:
		return v.missing()
	}
	switch m {
	case latency:
		if w < 60 { // there is no room for the legend then
			return fmt.Sprintf("%s p50 %s  %s p99 %s", v.l.Glyph.Marks[0], v.seconds(load.P50), v.l.Glyph.Marks[2], v.seconds(load.P99))
		}
		return fmt.Sprintf("p50 %s  p99 %s", v.seconds(load.P50), v.seconds(load.P99))
	case cpu:
		text := v.missing()
		if usage.Known {
			text = fmt.Sprintf("%.2f", usage.CPUs)
		}
		if limits.CPUs > 0 {
			text += fmt.Sprintf(" of %g CPUs", limits.CPUs)
		} else {
			text += " CPUs, no quota"
		}
		if usage.Throttled > 0 {
			text += ", throttled " + percent(usage.Throttled)
		}
		return text
	case memory:
		if usage.Used <= 0 {
			return v.missing()
		}
		text := size(usage.Used)
		if w < 60 && usage.Peak > 0 { // the limit is in the chart
			return text + ", peak " + size(usage.Peak)
		}
		if limits.Memory > 0 {
			text += " of " + units.Bytes(limits.Memory)
		}
		if usage.Peak > 0 {
			text += ", at most " + size(usage.Peak)
		}
		return text
	}
	text := rate(load.Throughput) + " req/s"
	if load.Errors > 0 {
		text += ", " + rate(load.Errors) + " errors/s"
	}
	return text
}

// errorText counts the errors of the leg by kind.
func (v *view) errorText() string {
	kinds := v.errorsByKind()
	if len(kinds) == 0 {
		return "no errors"
	}
	names := slices.Collect(maps.Keys(kinds))
	sort.Slice(names, func(i, j int) bool {
		if a, b := kinds[names[i]], kinds[names[j]]; a != b {
			return a > b
		}
		return names[i] < names[j]
	})
	var parts []string
	for _, k := range names[:min(len(names), 6)] {
		parts = append(parts, look.Outside(string(k), nameBytes)+" "+units.Count(kinds[k]))
	}
	return strings.Join(parts, ", ")
}

// newest are the last points that have a value.
func (v *view) newest() (load *fold.LoadPoint, usage *fold.UsagePoint) {
	for i := len(v.leg.Load) - 1; i >= 0 && load == nil; i-- {
		if !v.leg.Load[i].Drain {
			load = &v.leg.Load[i]
		}
	}
	if n := len(v.leg.Usage); n > 0 {
		usage = &v.leg.Usage[n-1]
	}
	return load, usage
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

func loadLine(points []fold.LoadPoint, y func(*fold.LoadPoint) float64) []chart.Point {
	out := make([]chart.Point, 0, len(points)+8)
	for i := range points {
		p := &points[i]
		if i > 0 && p.T-points[i-1].T > gap {
			out = append(out, chart.Point{X: p.T, Y: math.NaN()})
		}
		out = append(out, chart.Point{X: p.T, Y: y(p)})
	}
	return out
}

// cpuLine puts each value in the middle of the time that it is the mean of.
func cpuLine(points []fold.UsagePoint) []chart.Point {
	out := make([]chart.Point, 0, len(points))
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
func usageLine(points []fold.UsagePoint, y func(*fold.UsagePoint) float64) []chart.Point {
	out := make([]chart.Point, 0, len(points)+8)
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
