package run

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// metric is the subject of a chart, or of the line about errors.
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

// course is a value over the windows of load, or over the readings of the counters; NaN where there
// is none.
type course struct {
	load  func(*fold.LoadPoint) float64
	usage func(*fold.UsagePoint) float64
	mean  bool // of the time between two readings: its point is in the middle
}

var (
	throughputs = course{load: func(p *fold.LoadPoint) float64 { return p.Throughput }}
	targets     = course{load: func(p *fold.LoadPoint) float64 { return known(p.Rate > 0, p.Rate) }}
	p50s        = course{load: func(p *fold.LoadPoint) float64 { return p.P50 }}
	p90s        = course{load: func(p *fold.LoadPoint) float64 { return p.P90 }}
	p99s        = course{load: func(p *fold.LoadPoint) float64 { return p.P99 }}
	errorRates  = course{load: func(p *fold.LoadPoint) float64 { return p.Errors }}
	cpusUsed    = course{usage: func(p *fold.UsagePoint) float64 { return known(p.Known, p.CPUs) }, mean: true}
	memoryUsed  = course{usage: func(p *fold.UsagePoint) float64 { return known(p.Used > 0, p.Used) }}
	memoryPeaks = course{usage: func(p *fold.UsagePoint) float64 { return known(p.Peak > 0, p.Peak) }}
)

// ofNeed is the CPUs that a need used.
func ofNeed(name string) course {
	return course{mean: true, usage: func(p *fold.UsagePoint) float64 {
		used, ok := p.Needs[name]
		return known(ok, used)
	}}
}

// mainCurve is for places with room for one.
var mainCurve = [failures]course{throughputs, p99s, cpusUsed, memoryUsed}

func known(is bool, y float64) float64 {
	if is {
		return y
	}
	return math.NaN()
}

// points returns the curve of a trial on an axis.
func (c course) points(t *fold.Trial, a chart.Axis) []chart.Point {
	switch {
	case c.mean:
		return line(t.Usage, func(p *fold.UsagePoint) float64 { return (p.From + p.T) / 2 }, c.usage, a)
	case c.usage != nil:
		return line(t.Usage, usageTime, c.usage, a)
	}
	return line(t.Load, loadTime, c.load, a)
}

// any reports whether a trial has a value.
func (c course) any(t *fold.Trial) bool {
	if c.usage != nil {
		return slices.ContainsFunc(t.Usage, func(p fold.UsagePoint) bool { return c.usage(&p) >= 0 })
	}
	return slices.ContainsFunc(t.Load, func(p fold.LoadPoint) bool { return c.load(&p) >= 0 })
}

func loadTime(p *fold.LoadPoint) float64   { return p.T }
func usageTime(p *fold.UsagePoint) float64 { return p.T }

// line returns the curve of y on the axis, and one point more at each end, so it reaches the edges.
// There is a gap where there is no point for 3 s.
func line[T any](points []T, at, y func(*T) float64, a chart.Axis) []chart.Point {
	from := sort.Search(len(points), func(i int) bool { return at(&points[i]) >= a.From })
	to := sort.Search(len(points), func(i int) bool { return at(&points[i]) > a.To })
	points = points[max(0, min(from, to)-1):min(len(points), to+1)]
	out := make([]chart.Point, 0, len(points)+8)
	for i := range points {
		t := at(&points[i])
		if i > 0 && t-at(&points[i-1]) > 3 {
			out = append(out, chart.Point{X: t, Y: math.NaN()})
		}
		out = append(out, chart.Point{X: t, Y: y(&points[i])})
	}
	return out
}

// chart draws the chart of a metric over the time of a.
func (o *Overview) chart(m metric, a chart.Axis, w, h int) []string {
	c := o.series(m, a)
	c.Title, c.Value, c.Note = o.head(m), o.value(m), o.note(m)
	return c.Draw(o.theme, a, w, h)
}

// head is the title of a chart.
func (o *Overview) head(m metric) string {
	if o.size.Class == ui.Full {
		return "  " + m.String()
	}
	return " " + m.String()
}

func (o *Overview) series(m metric, a chart.Axis) chart.Chart {
	t, limits := o.theme, o.Trial.Limits()
	c := chart.Chart{Unit: chart.RateLabel}
	add := func(mark int, name string, of course) *chart.Series {
		c.Series = append(c.Series, chart.Series{Name: name, Paint: t.Hue(mark), Mark: mark, Points: of.points(o.Trial, a)})
		return &c.Series[len(c.Series)-1]
	}
	switch m {
	case throughput:
		if targets.any(o.Trial) {
			add(4, "scheduled/s", targets).Paint = t.Faint
		}
		add(0, "req/s", throughputs)
		if len(o.Trial.Errors) > 0 {
			add(2, "errors/s", errorRates).Paint = t.Bad
		}
	case latency:
		c.Unit, c.Log = chart.LatencyLabel, true
		add(0, "p50", p50s)
		if o.size.Class == ui.Full {
			add(1, "p90", p90s)
		}
		add(2, "p99", p99s)
	case cpu:
		c.Unit = chart.PlainLabel
		add(3, "CPUs", cpusUsed).Mark = 0
		names, _ := o.needs()
		for i, name := range names {
			add(i+1, ui.Outside(name, nameBytes), ofNeed(name)).Mark = i + 1
		}
		if limits.CPUs > 0 {
			c.Rules = []chart.Rule{{Y: limits.CPUs, Name: "quota " + chart.PlainLabel(limits.CPUs), Paint: t.Warn}}
		}
		for _, p := range o.Trial.Usage {
			if p.Throttled >= 0 && p.T >= a.From && p.From <= a.To {
				c.BandName = "throttled"
				c.Bands = append(c.Bands, chart.Band{X0: p.From, X1: p.T, Share: p.Throttled})
			}
		}
	case memory:
		c.Unit, c.Binary = chart.SizeLabel, true
		peak := "peak"
		if u := last(o.Trial.Usage); u != nil && u.Peak > 0 {
			peak += " " + sizeOf(u.Peak)
		}
		add(1, "in use", memoryUsed).Mark = 0
		add(4, peak, memoryPeaks).Mark = 1
		if limits.Memory > 0 {
			c.Rules = []chart.Rule{{Y: float64(limits.Memory), Name: "limit " + sizeOf(float64(limits.Memory)), Paint: t.Bad}}
		}
	}
	return c
}

// needs returns the names of the needs whose CPU time is known, at most two, since the chart is the
// contender's, and the CPUs that each used last.
func (o *Overview) needs() (names []string, used map[string]float64) {
	for _, u := range slices.Backward(o.Trial.Usage) {
		if used = u.Needs; used != nil {
			names = slices.Sorted(maps.Keys(used))
			break
		}
	}
	return names[:min(len(names), 2)], used
}

// kinds returns the kinds of the errors of the trial, the most frequent first. They are bounded:
// they may come from outside.
func (o *Overview) kinds() []bench.ErrorKind {
	const most = 12
	n := o.Trial.Errors
	all := slices.SortedFunc(maps.Keys(n), func(a, b bench.ErrorKind) int {
		return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b))
	})
	return all[:min(len(all), most)]
}

// leastSpan is the shortest time that is drawn, in seconds.
const leastSpan = 5.0

// axis returns the time axis of all charts, for w cells. It ends at the planned end of the running
// step, so it does not move with every point.
func (o *Overview) axis(w int) chart.Axis {
	trial, last := o.Trial, o.Trial.Steps[len(o.Trial.Steps)-1]
	end := trial.Span()
	if last.Running() {
		if planned := last.From + last.Step.Duration.Seconds(); planned < 48*3600 {
			end = max(end, planned)
		}
	}
	if n := len(trial.Flags); n > 0 {
		end = max(end, trial.Flags[n-1].T)
	}
	a := chart.Axis{From: 0, To: max(end, leastSpan), Gutter: chart.Gutter}
	whole := named(trial, w, a)
	if !whole && !slices.ContainsFunc(trial.Steps, func(s *fold.Step) bool { return s.Step.Connections == 0 }) {
		a.Name = "conns"
	}
	for _, s := range trial.Steps {
		name := s.Step.Short()
		if whole {
			name = s.Step.Name
		}
		a.Bounds = append(a.Bounds, chart.Bound{X: s.From, Name: name})
	}
	for _, f := range trial.Flags {
		a.Flags = append(a.Flags, chart.Flag{X: f.T, Name: f.Text})
	}
	return a
}

// named reports whether the steps in sight have room for their whole names.
func named(t *fold.Trial, w int, a chart.Axis) bool {
	per := float64(max(1, w-chart.Gutter)) / (a.To - a.From)
	for i, s := range t.Steps {
		end := a.To
		if i+1 < len(t.Steps) {
			end = t.Steps[i+1].From
		}
		if end > a.From && (end-max(a.From, s.From))*per < float64(min(len(s.Step.Name), 24)+3) {
			return false
		}
	}
	return true
}
