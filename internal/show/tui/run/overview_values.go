package run

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// newestLoad returns the last window with load, nil if there is none.
func (o *Overview) newestLoad() *fold.LoadPoint {
	for i := len(o.Trial.Load) - 1; i >= 0; i-- {
		if !o.Trial.Load[i].Drain {
			return &o.Trial.Load[i]
		}
	}
	return nil
}

// newestUsage returns the last reading of the counters, nil if there is none.
func (o *Overview) newestUsage() *fold.UsagePoint {
	if n := len(o.Trial.Usage); n > 0 {
		return &o.Trial.Usage[n-1]
	}
	return nil
}

// value is the newest value of a metric, for the title of its chart.
func (o *Overview) value(m metric) string {
	load, usage := o.newestLoad(), o.newestUsage()
	counted := m == cpu || m == memory
	switch {
	case m == failures:
		return o.errorText()
	case !counted && load == nil, counted && usage == nil:
		return units.Missing
	}
	limits := o.Trial.Limits()
	switch m {
	case latency:
		text := "p50 " + seconds(load.P50)
		if o.size.Class == ui.Full {
			text += "  p90 " + seconds(load.P90)
		}
		return text + "  p99 " + seconds(load.P99)
	case cpu:
		if limits.CPUs > 0 {
			return cpus(usage) + " of " + units.CPUs(limits.CPUs)
		}
		return cpus(usage) + " CPUs, no quota"
	case memory:
		text := sizeOf(usage.Used)
		if limits.Memory > 0 {
			text += " of " + units.Bytes(limits.Memory)
		}
		return text
	}
	text := perSecond(load.Throughput) + " req/s"
	if load.Errors > 0 {
		text += "  " + perSecond(load.Errors) + " errors/s"
	}
	return text
}

// note is what belongs to a chart next to its value.
func (o *Overview) note(m metric) string {
	load, usage := o.newestLoad(), o.newestUsage()
	switch {
	case m == throughput && load != nil && load.Bytes > 0:
		return sizeOf(load.Bytes) + "/s"
	case m == cpu && usage != nil && usage.Throttled >= 0:
		return "throttled " + units.Tenths(usage.Throttled) + " of periods"
	case m == failures:
		return o.spanName()
	}
	return ""
}

// errorText counts the errors of the trial by kind, the most frequent first.
func (o *Overview) errorText() string {
	const most = 6
	counts := o.errors.counts
	names := slices.SortedFunc(maps.Keys(counts), func(a, b bench.ErrorKind) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, k := range names[:min(len(names), most)] {
		parts = append(parts, ui.Outside(k.Words(), nameBytes)+" "+units.Count(counts[k]))
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// column is the overview in one column: a line for each metric, with its name, its newest value and
// its course.
func (o *Overview) column() (blocks []ui.Block) {
	const names, values = 9, 12
	load, usage := o.newestLoad(), o.newestUsage()
	load, usage = cmp.Or(load, &fold.LoadPoint{}), cmp.Or(usage, &fold.UsagePoint{Throttled: -1})
	limits := o.Trial.Limits()
	add := func(name, value string, most float64, course []float64) {
		text := o.theme.Title.S(fit.Left(name, names)) + o.theme.Strong.S(strings.Repeat(" ", max(0, min(values, o.size.Width-names)-fit.Width(value)))+value)
		if n := o.size.Width - names - values - 2; n >= 4 && len(course) > 0 {
			for _, v := range course {
				most = max(most, v)
			}
			text += "  " + o.theme.Sparkline(course, most*1.001, n, o.theme.Hue(len(blocks)))
		}
		blocks = append(blocks, ui.Text(len(blocks)+1, text))
	}
	throughput, used := units.Missing, cpus(usage)
	if len(o.Trial.Load) > 0 {
		throughput = perSecond(load.Throughput)
	}
	if limits.CPUs > 0 {
		used += " of " + fmt.Sprint(limits.CPUs)
	}
	add("req/s", throughput, 0, valuesOf(o.Trial.Load, throughputOf))
	add("p99", seconds(load.P99), 0, valuesOf(o.Trial.Load, p99Of))
	add("CPU", used, limits.CPUs, valuesOf(o.Trial.Usage, cpusOf))
	if usage.Throttled >= 0 {
		add("throttled", units.Tenths(usage.Throttled), 1,
			valuesOf(o.Trial.Usage, func(p *fold.UsagePoint) float64 { return p.Throttled }))
	}
	add("memory", sizeOf(usage.Used), float64(limits.Memory), valuesOf(o.Trial.Usage, usedOf))
	failed := int64(0)
	for _, n := range o.errors.counts {
		failed += n
	}
	errors := "none"
	if failed > 0 {
		errors = units.Count(failed)
	}
	add("errors", errors, 0, nil)
	return blocks
}

// valuesOf returns the values of points; a negative one is a gap.
func valuesOf[T any](points []T, y func(*T) float64) []float64 {
	out := make([]float64, len(points))
	for i := range points {
		if out[i] = y(&points[i]); !(out[i] >= 0) {
			out[i] = -1
		}
	}
	return out
}

// seconds returns a latency in seconds as text; 0 is unknown.
func seconds(s float64) string {
	if !(s > 0) || s > 1e9 {
		return units.Missing
	}
	return units.Duration(time.Duration(s * 1e9))
}

// sizeOf returns a number of bytes as text; 0 is unknown.
func sizeOf(b float64) string {
	if !(b > 0) {
		return units.Missing
	}
	return units.Bytes(int64(min(b, 1<<62)))
}

func cpus(u *fold.UsagePoint) string {
	if !u.Known {
		return units.Missing
	}
	return fmt.Sprintf("%.2f", u.CPUs)
}

func perSecond(r float64) string {
	if !(r > 0) {
		return "0"
	}
	return units.Number(min(r, 1e15))
}
