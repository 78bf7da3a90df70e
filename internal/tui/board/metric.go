package board

import (
	"math"

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

// chartOf is such a chart, to be drawn before the next one is made.
func (v *view) chartOf(m metric, a chart.Axis, w int) chart.Chart {
	v.Board.points = v.Board.points[:0]
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
			{Name: "p50", Paint: l.Series[0], Mark: 0, Points: v.loadLine(load, func(p *fold.LoadPoint) float64 { return p.P50 })},
			{Name: "p90", Paint: l.Series[1], Mark: 1, Points: v.loadLine(load, func(p *fold.LoadPoint) float64 { return p.P90 })},
			{Name: "p99", Paint: l.Series[2], Mark: 2, Points: v.loadLine(load, func(p *fold.LoadPoint) float64 { return p.P99 })},
		}}
	case cpu:
		c := chart.Chart{Title: "CPU", Value: v.valueOf(m, w), Unit: cpuLabel, Series: []chart.Series{{Name: "CPUs", Paint: l.Series[3], Points: v.cpuLine(usage)}}}
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
		return c
	case memory:
		c := chart.Chart{Title: "memory", Value: v.valueOf(m, w), Unit: sizeLabel, Binary: true, Series: []chart.Series{
			{Name: "high-water mark", Paint: l.Series[4], Mark: 1, Points: v.usageLine(usage, func(p *fold.UsagePoint) float64 { return p.Peak })},
			{Name: "in use", Paint: l.Series[1], Mark: 0, Points: v.usageLine(usage, func(p *fold.UsagePoint) float64 { return p.Used })},
		}}
		if limits.Memory > 0 {
			c.Rules = []chart.Rule{{Y: float64(limits.Memory), Name: "limit " + units.Bytes(limits.Memory), Paint: l.Bad}}
		}
		return c
	case failures:
		return v.errorCurves()
	}
	c := chart.Chart{Title: "throughput", Value: v.valueOf(m, w), Unit: rateLabel, Series: []chart.Series{
		{Name: "req/s", Paint: l.Series[0], Points: v.loadLine(load, func(p *fold.LoadPoint) float64 {
			if p.Drain {
				return math.NaN()
			}
			return p.Throughput
		})},
	}}
	if due := v.due(load); due != nil {
		c.Series = append([]chart.Series{{Name: "due/s", Paint: l.Faint, Mark: 4, Points: due}}, c.Series...)
	}
	if v.anyErrors() {
		c.Series = append(c.Series, chart.Series{Name: "errors/s", Paint: l.Bad, Mark: 2, Points: v.loadLine(load, func(p *fold.LoadPoint) float64 { return p.Errors })})
	}
	return c
}
