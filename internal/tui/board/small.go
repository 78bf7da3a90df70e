package board

import (
	"cmp"
	"fmt"

	"locbench/internal/tui/fold"
	"locbench/internal/tui/look"
)

func (v *view) small(w, h int) []string {
	lines := v.failure(w)
	lines = append(lines, v.sparks(w, len(lines), throughput, latency, cpu, memory, failures)...)
	return append(lines, v.table(w, h-len(lines))...)
}

func (v *view) sparks(w, y int, shown ...metric) []string {
	a := v.axis(w)
	var lines []string
	for _, m := range shown {
		name, value, paint, top, values := v.spark(m, inSight(v.leg.Load, loadTime, a), inSight(v.leg.Usage, usageTime, a))
		mark := " "
		if v.focus == m {
			mark = v.l.Glyph.Cursor
		}
		v.hits = append(v.hits, hit{0, y + len(lines), w, 1, func() { v.Board.point(m) }})
		line := v.l.Title.S(mark+v.l.Fit(name, 7)) + v.l.Right(value, min(14, w-8))
		if cells := w - 23; cells >= 8 {
			line += " " + v.l.Spark(wide(values, cells), cells, top, paint)
		}
		lines = append(lines, line)
	}
	return lines
}

// spark is the newest value of a figure, and its course; negative where it is not known.
func (v *view) spark(m metric, loads []fold.LoadPoint, usages []fold.UsagePoint) (name, value string, paint look.Paint, top float64, values []float64) {
	load, usage := v.newest()
	load, usage = cmp.Or(load, &fold.LoadPoint{}), cmp.Or(usage, &fold.UsagePoint{})
	limits := v.leg.Limits()
	switch m {
	case latency:
		return "p99", v.seconds(load.P99), v.l.Series[2], 0, each(loads, p99Of)
	case cpu:
		value = v.cpus(usage, "%.2f")
		if limits.CPUs > 0 {
			value += fmt.Sprintf(" of %g", limits.CPUs)
		}
		return "CPU", value, v.l.Series[3], limits.CPUs, each(usages, cpusOf)
	case memory:
		used := func(p *fold.UsagePoint) float64 { return p.Used }
		return "memory", v.bytes(usage.Used), v.l.Series[1], float64(limits.Memory), each(usages, used)
	case failures:
		n := int64(0)
		for _, k := range v.errors().kinds {
			n += k
		}
		return "errors", v.errorCount(n), v.l.Bad, 0, each(loads, errorsOf)
	}
	if value = v.missing(); len(v.leg.Load) > 0 {
		value = rate(load.Throughput)
	}
	return "req/s", value, v.l.Series[0], 0, each(loads, throughputOf)
}

// wide repeats values that would not fill the cells, up to four times.
func wide(values []float64, cells int) []float64 {
	n := min(4, cells/max(1, len(values)))
	if n < 2 {
		return values
	}
	out := make([]float64, n*len(values))
	for i := range out {
		out[i] = values[i/n]
	}
	return out
}

func each[T any](points []T, y func(*T) float64) []float64 {
	out := make([]float64, len(points))
	for i := range points {
		out[i] = y(&points[i])
	}
	return out
}
