package run

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// zoom is one chart on the whole page, with a cursor.
type zoom struct {
	at     float64 // the cursor: seconds of the trial
	pinned bool    // it stays there; else it follows the newest point
	marked bool    // a range is being picked
	mark   float64 // where it begins
}

// fullPage is the chart in focus, and the exact values at the cursor.
func (o *Overview) fullPage() []ui.Block {
	w, t := o.size.Width, o.theme
	a := o.axis(w)
	lines := a.Draw(t, w)
	times, i := o.times()
	var values []string
	if i < 0 {
		values = []string{t.Faint.S("no point yet")}
	} else {
		at := times[i]
		values = o.valuesAt(at, w)
		if at >= a.From && at <= a.To {
			a.Flags = append(a.Flags, chart.Flag{X: at})
			a.Bounds = append(a.Bounds, chart.Bound{X: at})
		}
	}
	if o.zoom.marked {
		a.Bounds = append(a.Bounds, chart.Bound{X: o.zoom.mark})
	}
	head := t.Title.S(o.spanName())
	if o.zoom.marked && i >= 0 {
		head += t.Accent.S(", range from " + clock(o.zoom.mark) + " to " + clock(times[i]))
	}
	return []ui.Block{
		ui.Text(4, head),
		{Priority: 1, Least: 4, Most: ui.Rest, Draw: func(w, h int) string { return strings.Join(o.chart(o.focus, a, w, h), "\n") }},
		ui.Text(2, lines...), ui.Text(3, values...),
	}
}

func (o *Overview) keyZoom(k ui.Key) {
	const all, some = 1 << 30, 10
	switch k {
	case ui.Space:
		o.pick()
	default:
		o.move(map[ui.Key]int{ui.Left: -1, ui.Right: 1, ui.PageUp: -some, ui.PageDown: some, ui.First: -all, ui.Last: all}[k])
	}
}

// times returns the moments that the cursor can be at, the points of the chart, and the index of the
// one it is at; -1 if there are none.
func (o *Overview) times() (times []float64, at int) {
	times = timesOf(o.Trial.Load, loadTime)
	if o.focus == cpu || o.focus == memory {
		times = timesOf(o.Trial.Usage, usageTime)
	}
	if o.zoom.pinned {
		return times, nearest(times, o.zoom.at)
	}
	return times, len(times) - 1
}

func timesOf[T any](points []T, at func(*T) float64) []float64 {
	out := make([]float64, len(points))
	for i := range points {
		out[i] = at(&points[i])
	}
	return out
}

// nearest returns the index of the value nearest to t, -1 without values; they must ascend.
func nearest(values []float64, t float64) int {
	i := sort.SearchFloat64s(values, t)
	if i == len(values) || i > 0 && t-values[i-1] < values[i]-t {
		i--
	}
	return i
}

func (o *Overview) move(by int) {
	if times, i := o.times(); by != 0 && i >= 0 {
		i = max(0, min(i+by, len(times)-1))
		o.zoom.at, o.zoom.pinned = times[i], i < len(times)-1
	}
}

// pick marks the cursor, or zooms to the time between the mark and the cursor. A time
// below a second holds no point, so it is ignored.
func (o *Overview) pick() {
	times, i := o.times()
	switch {
	case i < 0:
	case !o.zoom.marked:
		o.zoom.marked, o.zoom.mark = true, times[i]
	default:
		o.zoom.marked = false
		from, to := min(o.zoom.mark, times[i]), max(o.zoom.mark, times[i])
		if to-from >= 1 {
			o.picked, o.span = stretch{max(0, from), to}, ranged
		}
	}
}

// valuesAt returns the exact values at the cursor: of the nearest window and the nearest reading.
func (o *Overview) valuesAt(at float64, w int) []string {
	head := "at " + clock(at)
	if step := o.stepAt(at); step != nil {
		head += ", " + numbered(step)
	}
	head = o.theme.Accent.S(head)
	if !o.zoom.pinned {
		head += o.theme.Faint.S("  newest")
	}
	lines := []string{head}
	if i := nearest(timesOf(o.Trial.Load, loadTime), at); i >= 0 {
		lines = append(lines, flow(o.loadValues(&o.Trial.Load[i]), "", w)...)
	}
	if i := nearest(timesOf(o.Trial.Usage, usageTime), at); i >= 0 {
		lines = append(lines, flow(usageValues(&o.Trial.Usage[i]), "", w)...)
	}
	return lines
}

func (o *Overview) loadValues(p *fold.LoadPoint) []string {
	all := []string{"load at " + clock(p.T) + ":"}
	if p.Drain {
		all = append(all, "draining")
	} else {
		all = append(all, perSecond(p.Throughput)+" req/s", "p50 "+seconds(p.P50), "p90 "+seconds(p.P90),
			"p99 "+seconds(p.P99), "max "+seconds(p.Max))
		if p.Bytes > 0 {
			all = append(all, sizeOf(p.Bytes)+"/s bodies")
		}
	}
	if p.Rate > 0 {
		all = append(all, "scheduled "+perSecond(p.Rate)+"/s")
	}
	before := len(all)
	for _, kind := range slices.Sorted(maps.Keys(p.Kinds)) {
		if n := p.Kinds[kind]; n > 0 {
			all = append(all, o.theme.Bad.S(units.Count(n)+" "+ui.Outside(kind.Words(), nameBytes)))
		}
	}
	if len(all) == before {
		all = append(all, "0 errors")
	}
	return all
}

func usageValues(p *fold.UsagePoint) []string {
	throttled := units.Missing
	if p.Throttled >= 0 {
		throttled = units.Tenths(p.Throttled) + " of periods"
	}
	return []string{"counters at " + clock(p.T) + ":", cpus(p) + " CPUs", "throttled " + throttled,
		"memory " + sizeOf(p.Used), "peak " + sizeOf(p.Peak)}
}
