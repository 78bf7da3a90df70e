package board

import (
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/fold"
)

// metric is the subject of a chart.
type metric int

const (
	throughput metric = iota
	latency
	cpu
	memory
	failures
	metrics
)

// String returns the title of the chart.
func (m metric) String() string {
	return [metrics]string{"throughput", "latency", "CPU", "memory", "errors"}[m]
}

// counted reports whether m comes from the counters; the others come from the load.
func (m metric) counted() bool { return m == cpu || m == memory }

// chart draws one chart of w by h cells over the time of a.
func (v *view) chart(m metric, a chart.Axis, w, h int) []string {
	c := v.series(m, a, w)
	if v.b.overlay {
		c.Series = append(v.earlier(m, a), c.Series...)
	}
	if m == v.b.focus {
		c.Title = v.l.Glyph.Cursor + " " + c.Title
	}
	return c.Draw(v.l.Theme, a, w, h)
}

func (v *view) series(m metric, a chart.Axis, w int) chart.Chart {
	l, trial := v.l, v.trial
	limits := trial.Limits()
	load, usage := inSight(trial.Load, loadTime, a), inSight(trial.Usage, usageTime, a)
	c := chart.Chart{Title: m.String(), Value: v.valueOf(m, w), Unit: chart.RateLabel}
	switch m {
	case throughput:
		if slices.ContainsFunc(load, func(p fold.LoadPoint) bool { return p.Rate > 0 }) {
			c.Series = []chart.Series{{Name: "target/s", Paint: l.Faint, Mark: 4, Points: line(load, loadTime, targetOf)}}
		}
		c.Series = append(c.Series, chart.Series{Name: "req/s", Paint: l.Series[0],
			Points: line(load, loadTime, throughputOf)})
		if v.anyErrors() {
			points := line(load, loadTime, errorsOf)
			c.Series = append(c.Series, chart.Series{Name: "errors/s", Paint: l.Bad, Mark: 2, Points: points})
		}
	case latency:
		c.Unit, c.Log = chart.LatencyLabel, true
		c.Series = []chart.Series{
			{Name: "p50", Paint: l.Series[0], Mark: 0, Points: line(load, loadTime, p50Of)},
			{Name: "p90", Paint: l.Series[1], Mark: 1, Points: line(load, loadTime, p90Of)},
			{Name: "p99", Paint: l.Series[2], Mark: 2, Points: line(load, loadTime, p99Of)},
		}
	case cpu:
		c.Unit = chart.PlainLabel
		c.Series = []chart.Series{{Name: "CPUs", Paint: l.Series[3], Points: cpuLine(usage)}}
		if limits.CPUs > 0 {
			c.Rules = []chart.Rule{{Y: limits.CPUs, Name: "quota", Paint: l.Warn}}
		}
		for i := range usage {
			if p := &usage[i]; p.Throttled >= 0 {
				if c.BandName == "" {
					c.BandName, c.Bands = "throttled", make([]chart.Band, 0, len(usage))
				}
				c.Bands = append(c.Bands, chart.Band{X0: p.From, X1: p.T, Share: p.Throttled})
			}
		}
	case memory:
		c.Unit, c.Binary = chart.SizeLabel, true
		c.Series = []chart.Series{
			{Name: "peak", Paint: l.Series[4], Mark: 1, Points: line(usage, usageTime, peakOf)},
			{Name: "in use", Paint: l.Series[1], Mark: 0, Points: line(usage, usageTime, usedOf)},
		}
		if limits.Memory > 0 {
			c.Rules = []chart.Rule{{Y: float64(limits.Memory), Name: "limit " + units.Bytes(limits.Memory), Paint: l.Bad}}
		}
	case failures: // a line for each kind
		all := v.errors()
		for i, kind := range slices.Sorted(maps.Keys(all.curves)) {
			n := i % len(l.Series)
			c.Series = append(c.Series, chart.Series{Name: kind.Words(), Paint: l.Series[n], Mark: n, Points: all.curves[kind]})
		}
	}
	return c
}

// The values of the curves; NaN where there is none.
func throughputOf(p *fold.LoadPoint) float64 { return known(!p.Drain, p.Throughput) }
func targetOf(p *fold.LoadPoint) float64     { return known(!p.Drain && p.Rate > 0, p.Rate) }
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

// course returns the main curve of a metric, for places with room for one.
func course(m metric, trial *fold.Trial) []chart.Point {
	switch m {
	case latency:
		return line(trial.Load, loadTime, p99Of)
	case cpu:
		return cpuLine(trial.Usage)
	case memory:
		return line(trial.Usage, usageTime, usedOf)
	case failures:
		return line(trial.Load, loadTime, errorsOf)
	}
	return line(trial.Load, loadTime, throughputOf)
}

// inSight returns the points on the axis and one more at each end, so the curves reach the edges.
func inSight[T any](points []T, at func(*T) float64, a chart.Axis) []T {
	from := sort.Search(len(points), func(i int) bool { return at(&points[i]) >= a.From })
	to := sort.Search(len(points), func(i int) bool { return at(&points[i]) > a.To })
	return points[max(0, min(from, to)-1):min(len(points), to+1)]
}

// line returns the curve of y over points, with a gap where there is no point for 3 s.
func line[T any](points []T, at, y func(*T) float64) []chart.Point {
	out := make([]chart.Point, 0, len(points)+8)
	for i := range points {
		t := at(&points[i])
		if i > 0 && t-at(&points[i-1]) > 3 { // seconds without a point
			out = append(out, chart.Point{X: t, Y: math.NaN()})
		}
		out = append(out, chart.Point{X: t, Y: y(&points[i])})
	}
	return out
}

// cpuLine puts each value, a mean, in the middle of its time.
func cpuLine(points []fold.UsagePoint) []chart.Point {
	out := make([]chart.Point, 0, len(points))
	for i := range points {
		p := &points[i]
		out = append(out, chart.Point{X: (p.From + p.T) / 2, Y: cpusOf(p)})
	}
	return out
}
