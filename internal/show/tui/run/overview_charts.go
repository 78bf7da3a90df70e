package run

import (
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
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

// chart draws the chart of a metric over the time of a.
func (o *Overview) chart(m metric, a chart.Axis, w, h int) []string {
	c := o.series(m, a)
	c.Title, c.Value, c.Note = o.head(m), o.value(m), o.note(m)
	if o.zoomed() {
		c.Series = append(o.earlier(m), c.Series...)
	}
	return c.Draw(o.theme, a, w, h)
}

// head is the title of a chart, with a cursor if it is in focus.
func (o *Overview) head(m metric) string {
	cursor, gap := " ", ""
	if m == o.focus {
		cursor = o.theme.Glyph.Cursor
	}
	if o.size.Class == ui.Full {
		gap = " "
	}
	return cursor + gap + m.String()
}

func (o *Overview) series(m metric, a chart.Axis) chart.Chart {
	t, limits := o.theme, o.Trial.Limits()
	load, usage := inSpan(o.Trial.Load, loadTime, a), inSpan(o.Trial.Usage, usageTime, a)
	of := func(mark int, name string, y func(*fold.LoadPoint) float64) chart.Series {
		return chart.Series{Name: name, Paint: t.Hue(mark), Mark: mark, Points: line(load, loadTime, y)}
	}
	c := chart.Chart{Unit: chart.RateLabel}
	switch m {
	case throughput:
		if slices.ContainsFunc(load, func(p fold.LoadPoint) bool { return p.Rate > 0 }) {
			target := of(4, "scheduled/s", targetOf)
			target.Paint = t.Faint
			c.Series = append(c.Series, target)
		}
		c.Series = append(c.Series, of(0, "req/s", throughputOf))
		if len(o.errors.counts) > 0 {
			failed := of(2, "errors/s", errorsOf)
			failed.Paint = t.Bad
			c.Series = append(c.Series, failed)
		}
	case latency:
		c.Unit, c.Log = chart.LatencyLabel, true
		c.Series = []chart.Series{of(0, "p50", p50Of), of(1, "p90", p90Of), of(2, "p99", p99Of)}
		if o.size.Class != ui.Full {
			c.Series = slices.Delete(c.Series, 1, 2)
		}
	case cpu:
		c.Unit = chart.PlainLabel
		c.Series = []chart.Series{{Name: "CPUs", Paint: t.Hue(3), Points: cpuLine(usage)}}
		if limits.CPUs > 0 {
			c.Rules = []chart.Rule{{Y: limits.CPUs, Name: "quota " + chart.PlainLabel(limits.CPUs), Paint: t.Warn}}
		}
		for i := range usage {
			if p := &usage[i]; p.Throttled >= 0 {
				c.BandName = "throttled"
				c.Bands = append(c.Bands, chart.Band{X0: p.From, X1: p.T, Share: p.Throttled})
			}
		}
	case memory:
		c.Unit, c.Binary = chart.SizeLabel, true
		peak := "peak"
		if u := o.newestUsage(); u != nil && u.Peak > 0 {
			peak += " " + sizeOf(u.Peak)
		}
		c.Series = []chart.Series{
			{Name: "in use", Paint: t.Hue(1), Points: line(usage, usageTime, usedOf)},
			{Name: peak, Paint: t.Hue(4), Mark: 1, Points: line(usage, usageTime, peakOf)},
		}
		if limits.Memory > 0 {
			c.Rules = []chart.Rule{{Y: float64(limits.Memory), Name: "limit " + sizeOf(float64(limits.Memory)), Paint: t.Bad}}
		}
	case failures: // a line for each kind
		for i, kind := range slices.Sorted(maps.Keys(o.errors.curves)) {
			c.Series = append(c.Series, chart.Series{Name: kind.Words(), Paint: t.Hue(i), Mark: i % len(t.Glyph.Marks),
				Points: o.errors.curves[kind]})
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

// inSpan returns the points on the axis and one more at each end, so the curves reach the edges.
func inSpan[T any](points []T, at func(*T) float64, a chart.Axis) []T {
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

// errorKinds are the errors of a trial by kind, in total and per second.
type errorKinds struct {
	counts map[bench.ErrorKind]int64
	curves map[bench.ErrorKind][]chart.Point // per second; 0 where there were none
}

// mostKinds bounds the curves: kinds may come from outside.
const mostKinds = 12

func errorsIn(load []fold.LoadPoint) errorKinds {
	e := errorKinds{map[bench.ErrorKind]int64{}, map[bench.ErrorKind][]chart.Point{}}
	for i := range load {
		p := &load[i]
		total := int64(0)
		for _, n := range p.Kinds {
			total += max(0, n)
		}
		for kind, n := range p.Kinds {
			if n <= 0 {
				continue
			}
			e.counts[kind] += n
			if len(e.curves) < mostKinds || e.curves[kind] != nil {
				e.curves[kind] = extend(e.curves[kind], load, i, p.Errors*float64(n)/float64(total))
			}
		}
	}
	for kind, points := range e.curves {
		if n := len(load); points[len(points)-1].X < load[n-1].T {
			e.curves[kind] = append(points, chart.Point{X: load[n-1].T})
		}
	}
	return e
}

// extend adds point i to a curve; windows without an error of its kind since the last point are 0.
func extend(points []chart.Point, load []fold.LoadPoint, i int, y float64) []chart.Point {
	n := len(points)
	switch {
	case i > 0 && n == 0:
		points = append(points, chart.Point{X: load[0].T}, chart.Point{X: load[i-1].T})
	case i > 0 && points[n-1].X < load[i-1].T:
		next := sort.Search(i-1, func(at int) bool { return load[at].T > points[n-1].X })
		points = append(points, chart.Point{X: load[next].T}, chart.Point{X: load[i-1].T})
	}
	return append(points, chart.Point{X: load[i].T, Y: y})
}
