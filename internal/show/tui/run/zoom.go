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
}

// fullPage is the chart in focus, and the exact values at the cursor.
func (o *Overview) fullPage() []ui.Block {
	w, t := o.size.Width, o.theme
	a := o.axis(w)
	lines := a.Draw(t, w)
	moment, i, n := o.moments()
	values := []string{t.Faint.S("no point yet")}
	if n > 0 {
		at := moment(i)
		values = o.valuesAt(at, w)
		if at >= a.From && at <= a.To {
			a.Flags = append(a.Flags, chart.Flag{X: at})
			a.Bounds = append(a.Bounds, chart.Bound{X: at})
		}
	}
	return []ui.Block{
		ui.Text(4, t.Title.S(o.spanName())),
		{Priority: 1, Least: 4, Most: ui.Rest, Draw: func(w, h int) string { return strings.Join(o.chart(o.focus, a, w, h), "\n") }},
		ui.Text(2, lines...), ui.Text(3, values...),
	}
}

// moments returns the moments that the cursor can be at, the points of the chart, the one it is at,
// and how many there are.
func (o *Overview) moments() (moment func(int) float64, at, n int) {
	moment, n = loadMoments(o.Trial)
	if mainCurve[o.focus].usage != nil {
		moment, n = usageMoments(o.Trial)
	}
	if o.zoom.pinned {
		return moment, nearest(o.zoom.at, moment, n), n
	}
	return moment, n - 1, n
}

func loadMoments(t *fold.Trial) (func(int) float64, int) {
	return func(i int) float64 { return t.Load[i].T }, len(t.Load)
}

func usageMoments(t *fold.Trial) (func(int) float64, int) {
	return func(i int) float64 { return t.Usage[i].T }, len(t.Usage)
}

// nearest returns which of n ascending moments is nearest to t, -1 without any.
func nearest(t float64, moment func(int) float64, n int) int {
	i := sort.Search(n, func(i int) bool { return moment(i) >= t })
	if i == n || i > 0 && t-moment(i-1) < moment(i)-t {
		i--
	}
	return i
}

func (o *Overview) move(by int) {
	if moment, i, n := o.moments(); by != 0 && n > 0 {
		i = max(0, min(i+by, n-1))
		o.zoom.at, o.zoom.pinned = moment(i), i < n-1
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
	moment, n := loadMoments(o.Trial)
	if i := nearest(at, moment, n); i >= 0 {
		lines = append(lines, flow(o.loadValues(&o.Trial.Load[i]), "", w)...)
	}
	moment, n = usageMoments(o.Trial)
	if i := nearest(at, moment, n); i >= 0 {
		lines = append(lines, flow(usageValues(&o.Trial.Usage[i]), "", w)...)
	}
	return lines
}

func (o *Overview) loadValues(p *fold.LoadPoint) []string {
	all := []string{"load at " + clock(p.T) + ":"}
	all = append(all, perSecond(p.Throughput)+" req/s", "p50 "+seconds(p.P50), "p90 "+seconds(p.P90),
		"p99 "+seconds(p.P99), "max "+seconds(p.Max))
	if p.Bytes > 0 {
		all = append(all, sizeOf(p.Bytes)+"/s bodies")
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
