package board

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// valueOf returns the newest value, for the title of a chart of w cells.
func (v *view) valueOf(m metric, w int) string {
	load, usage := v.newest()
	limits := v.trial.Limits()
	switch {
	case m == failures:
		return v.errorText()
	case !m.counted() && load == nil, m.counted() && usage == nil:
		return v.missing()
	}
	switch m {
	case latency:
		if w < 60 { // there is no room for the legend then
			return fmt.Sprintf("%s p50 %s  %s p99 %s", v.l.Glyph.Marks[0], v.seconds(load.P50), v.l.Glyph.Marks[2],
				v.seconds(load.P99))
		}
		return fmt.Sprintf("p50 %s  p99 %s", v.seconds(load.P50), v.seconds(load.P99))
	case cpu:
		text := v.cpus(usage, "%.2f")
		if limits.CPUs > 0 {
			text += " of " + units.CPUs(limits.CPUs)
		} else {
			text += " CPUs, no quota"
		}
		if usage.Throttled > 0 {
			text += ", throttled " + units.Tenths(usage.Throttled)
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
			text += ", peak " + size(usage.Peak)
		}
		return text
	}
	text := rate(load.Throughput) + " req/s"
	if w >= 60 && load.Bytes > 0 {
		text += ", " + size(load.Bytes) + "/s"
	}
	if load.Errors > 0 {
		text += ", " + rate(load.Errors) + " errors/s"
	}
	return text
}

// errorText counts the errors of the trial by kind.
func (v *view) errorText() string {
	kinds := v.errors().counts
	if len(kinds) == 0 {
		return "no errors"
	}
	names := slices.SortedFunc(maps.Keys(kinds), func(a, b bench.ErrorKind) int {
		return cmp.Or(cmp.Compare(kinds[b], kinds[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, k := range names[:min(len(names), 6)] {
		parts = append(parts, ui.Outside(k.Words(), nameBytes)+" "+units.Count(kinds[k]))
	}
	return strings.Join(parts, ", ")
}

// newest returns the last points that have a value.
func (v *view) newest() (load *fold.LoadPoint, usage *fold.UsagePoint) {
	for i := len(v.trial.Load) - 1; i >= 0 && load == nil; i-- {
		if !v.trial.Load[i].Drain {
			load = &v.trial.Load[i]
		}
	}
	if n := len(v.trial.Usage); n > 0 {
		usage = &v.trial.Usage[n-1]
	}
	return load, usage
}

// errorKinds are the errors of a trial by kind, in total and per second.
type errorKinds struct {
	counts map[bench.ErrorKind]int64
	curves map[bench.ErrorKind][]chart.Point // per second; 0 where there were none
}

func (v *view) errors() *errorKinds {
	if v.kinds != nil {
		return v.kinds
	}
	load, c := v.trial.Load, &errorKinds{map[bench.ErrorKind]int64{}, map[bench.ErrorKind][]chart.Point{}}
	v.kinds = c
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
			c.counts[kind] += n
			if len(c.curves) < 12 || c.curves[kind] != nil { // bounded: kinds may come from outside
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

// extend adds point i to a curve; windows without an error of its kind since the last point are 0.
func extend(points []chart.Point, load []fold.LoadPoint, i int, y float64) []chart.Point {
	n := len(points)
	if n == 0 {
		points = make([]chart.Point, 0, len(load)+2)
	}
	if i > 0 && n == 0 {
		points = append(points, chart.Point{X: load[0].T}, chart.Point{X: load[i-1].T})
	} else if i > 0 && points[n-1].X < load[i-1].T {
		next := sort.Search(i-1, func(at int) bool { return load[at].T > points[n-1].X })
		points = append(points, chart.Point{X: load[next].T}, chart.Point{X: load[i-1].T})
	}
	return append(points, chart.Point{X: load[i].T, Y: y})
}

func (v *view) anyErrors() bool { return len(v.errors().counts) > 0 }
