package board

import (
	"fmt"

	"locbench/internal/tui/fold"
	"locbench/internal/tui/look"
)

// small is the overview where there is little room: a line of blocks with its value for each figure, and the table of steps.
func (v *view) small(w, h int) []string {
	load, usage := v.newest()
	limits := v.leg.Limits()
	var lines []string
	add := func(m metric, name, value string, paint look.Paint, top float64, values []float64) {
		mark := " "
		if v.focus == m {
			mark = v.l.Glyph.Cursor
		}
		head := mark + v.l.Fit(name, 7) + v.l.Right(value, 12) + " "
		n := len(lines)
		v.hits = append(v.hits, hit{0, n, w, 1, func() { v.Board.point(m) }})
		lines = append(lines, head+v.l.Spark(values, max(0, w-21), top, paint))
	}
	at := func(value string, known bool) string {
		if !known {
			return v.missing()
		}
		return value
	}
	a := v.axis(w)
	loads, usages := loadIn(v.leg.Load, a), usageIn(v.leg.Usage, a)
	loadOf := func(y func(*fold.LoadPoint) float64) (out []float64) {
		for i := range loads {
			out = append(out, y(&loads[i]))
		}
		return out
	}
	usageOf := func(y func(*fold.UsagePoint) float64) (out []float64) {
		for i := range usages {
			out = append(out, y(&usages[i]))
		}
		return out
	}
	if load == nil {
		load = &fold.LoadPoint{}
	}
	if usage == nil {
		usage = &fold.UsagePoint{}
	}
	add(throughput, "req/s", at(rate(load.Throughput), len(v.leg.Load) > 0), v.l.Series[0], 0, loadOf(func(p *fold.LoadPoint) float64 {
		if p.Drain {
			return -1
		}
		return p.Throughput
	}))
	add(latency, "p99", v.seconds(load.P99), v.l.Series[2], 0, loadOf(func(p *fold.LoadPoint) float64 { return p.P99 }))
	cpus := at(fmt.Sprintf("%.2f", usage.CPUs), usage.Known)
	if limits.CPUs > 0 {
		cpus += fmt.Sprintf(" of %g", limits.CPUs)
	}
	add(cpu, "CPU", cpus, v.l.Series[3], limits.CPUs, usageOf(func(p *fold.UsagePoint) float64 {
		if !p.Known {
			return -1
		}
		return p.CPUs
	}))
	add(memory, "memory", at(size(usage.Used), usage.Used > 0), v.l.Series[1], float64(limits.Memory), usageOf(func(p *fold.UsagePoint) float64 { return p.Used }))
	errors := int64(0)
	for _, n := range v.errorsByKind() {
		errors += n
	}
	add(failures, "errors", v.errorCount(errors), v.l.Bad, 0, loadOf(func(p *fold.LoadPoint) float64 { return p.Errors }))
	lines = append(lines, v.failure(w)...)
	if rest := h - len(lines); rest >= 2 {
		lines = append(lines, v.table(w, rest)...)
	}
	return lines
}
