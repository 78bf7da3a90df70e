package run

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/table"
)

// last returns the last point, nil if there is none.
func last[T any](points []T) *T {
	if len(points) == 0 {
		return nil
	}
	return &points[len(points)-1]
}

// value is the newest value of a metric, for the title of its chart.
func (o *Overview) value(m metric) string {
	load, usage := last(o.Trial.Load), last(o.Trial.Usage)
	counted := m == cpu || m == memory
	switch {
	case m == failures:
		var parts []string
		for _, k := range o.kinds() {
			parts = append(parts, ui.Outside(k.Words(), nameBytes)+" "+units.Count(o.Trial.Errors[k]))
		}
		return cmp.Or(strings.Join(parts[:min(len(parts), 6)], ", "), "none")
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
		text := cpus(usage) + " CPUs, no quota"
		if limits.CPUs > 0 {
			text = cpus(usage) + " of " + units.CPUs(limits.CPUs)
		}
		names, used := o.needs()
		for _, name := range names {
			text += fmt.Sprintf("  %s %.2f", ui.Outside(name, nameBytes), used[name])
		}
		return text
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
	load, usage := last(o.Trial.Load), last(o.Trial.Usage)
	switch {
	case m == throughput && load != nil && load.Bytes > 0:
		return sizeOf(load.Bytes) + "/s"
	case m == cpu:
		var texts []string
		if usage != nil && usage.Throttled >= 0 {
			texts = append(texts, "throttled "+units.Tenths(usage.Throttled)+" of periods")
		}
		if r := o.Trial.Steps[o.steps.newest()].Result; r != nil && o.size.Class == ui.Full {
			if busy, _, ok := r.HostShare(); ok {
				texts = append(texts, fmt.Sprintf("last step: client %.2f CPUs, machine %s busy", verdict.ClientCPUs(r.Load), units.Percent(busy)))
			}
		}
		return strings.Join(texts, "; ")
	}
	return ""
}

// column is the overview in one column: the newest value of each metric.
func (o *Overview) column() (blocks []ui.Block) {
	for m := range metrics {
		blocks = append(blocks, ui.Text(1+int(m), o.inLine(m, o.size.Width)))
	}
	if note := o.note(cpu); note != "" {
		blocks = append(blocks, ui.Text(1+int(metrics), " "+note))
	}
	return blocks
}

// standings is the table of what is known so far, under its title; none before the first step.
func (o *Overview) standings(w int) []string {
	of, t := o.soFar.of(o.State, soFar).Table, o.theme
	if len(of.Rows) == 0 {
		return nil
	}
	lines := of.Lines(w, func(tone table.Tone, s string) string { return t.Tone(tone, said(s)) })
	return append([]string{t.Rule(t.Title.S("standings"), t.Faint.S("so far"), w)}, lines...)
}

// side is the second column of a wide terminal.
func (o *Overview) side(w int) []ui.Block {
	var blocks []ui.Block
	if lines := o.standings(w); len(lines) > 0 {
		blocks = append(blocks, ui.Text(keepStandings, append(lines, "")...))
	}
	return append(blocks, o.lastLines("last events", keepEvents, o.events(w)))
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
