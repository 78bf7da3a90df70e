package plain

import (
	"fmt"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
)

// details returns lines with the known results of a step that do not fit into its row.
func details(r bench.StepResult) (lines []string) {
	add := func(name string, parts ...string) {
		if len(parts) > 0 {
			lines = append(lines, fmt.Sprintf("%-9s %s", name, strings.Join(parts, ", ")))
		}
	}
	add("CPU", cpuParts(r)...)
	add("waiting", pressureParts(r.Pressure(), "", r)...)
	add("memory", memoryParts(r)...)
	add("threads", threadParts(r)...)
	if in, out, ok := r.Network(); ok {
		add("network", units.Bytes(in)+" in", units.Bytes(out)+" out")
	}
	add("other", otherParts(r)...)
	add("machine", hostParts(r)...)
	if r.After != nil && r.After.Took > 0 {
		add("source", r.After.Source, "reading took "+units.Duration(r.After.Took))
	}
	return lines
}

func cpuParts(r bench.StepResult) []string {
	user, system, ok := r.CPUSplit()
	cpu, known := r.CPU()
	all := user + system
	if !ok || !known || all <= 0 {
		return nil
	}
	parts := []string{
		units.Duration(cpu), fmt.Sprintf("%d%% user, %d%% system", percentOf(user, all), percentOf(system, all)),
	}
	if t, ok := r.Throttling(); ok && t.Periods > 0 {
		parts = append(parts, fmt.Sprintf("%s throttled in %d of %d periods",
			units.Duration(t.Time), t.Throttled, t.Periods))
	}
	return parts
}

// pressureParts returns the shares of the step in which at least one process waited.
func pressureParts(p *bench.Pressure, what string, r bench.StepResult) (parts []string) {
	wall := between(r)
	if p == nil || wall <= 0 {
		return nil
	}
	for _, x := range []struct {
		name  string
		stall *bench.Stall
	}{{"CPU", p.CPU}, {"memory", p.Memory}, {"disk", p.IO}} {
		if x.stall != nil {
			parts = append(parts, fmt.Sprintf("%sfor %s %d%%", what, x.name, percentOf(x.stall.Some, wall)))
		}
	}
	return parts
}

// between returns the time between the readings at the start and end of the step.
func between(r bench.StepResult) time.Duration {
	if r.Before == nil || r.After == nil {
		return r.Load.Wall
	}
	return r.After.At.Sub(r.Before.At)
}

func memoryParts(r bench.StepResult) (parts []string) {
	if n, ok := r.StepPeak(); ok {
		parts = append(parts, "peak "+units.Bytes(n)+" in this step")
	}
	if minor, major, ok := r.Faults(); ok {
		parts = append(parts, fmt.Sprintf("%s minor and %s major page faults", units.Count(minor), units.Count(major)))
	}
	return parts
}

func threadParts(r bench.StepResult) (parts []string) {
	if r.After != nil && r.After.Threads != nil {
		n := units.Plural(*r.After.Threads, "thread")
		if r.After.Processes != nil {
			n += " in " + units.Plural(*r.After.Processes, "process")
		}
		parts = append(parts, n)
	}
	if v, i, ok := r.Switches(); ok {
		parts = append(parts, fmt.Sprintf("%s voluntary and %s involuntary context switches", units.Count(v), units.Count(i)))
	}
	return parts
}

func otherParts(r bench.StepResult) (parts []string) {
	for _, m := range measure.View(measure.TextDetails) {
		if v, ok := m.Of(r); ok {
			parts = append(parts, m.Unit.Text(v)+" "+m.Name)
		}
	}
	return parts
}

func hostParts(r bench.StepResult) (parts []string) {
	if busy, steal, ok := r.HostShare(); ok {
		parts = append(parts, fmt.Sprintf("%s busy, %.1f%% steal", units.Percent(busy), 100*steal))
	}
	parts = append(parts, pressureParts(r.HostPressure(), "waited ", r)...)
	if cpus, ok := r.StoreCPUs(); ok {
		parts = append(parts, fmt.Sprintf("store %.2f CPUs", cpus))
	}
	return parts
}

func percentOf(part, whole time.Duration) int64 {
	if whole <= 0 {
		return 0
	}
	return int64(100*float64(part)/float64(whole) + .5)
}

// requestsTimed reports the first request and the typical later ones, one line each.
func (p *Printer) requestsTimed(ph bench.FirstRequests) {
	p.line("  request  first %s", p.phases(ph.First))
	later := func(name string, all []bench.RequestPhases, mid bench.RequestPhases) {
		good, text := int64(0), "no success"
		for _, r := range all {
			if r.Err == "" {
				good++
			}
		}
		if good > 0 {
			text = p.phases(mid) + ", median of " + units.Count(good)
		}
		if failed := int64(len(all)) - good; failed > 0 {
			text += ", " + p.paint(red, units.Count(failed)+" failed")
		}
		if len(all) > 0 {
			p.line("           %s %s", name, text)
		}
	}
	later("later", ph.Kept, ph.Typical())
	later("new connection", ph.New, ph.TypicalNew())
}

// phases returns "1.20 ms: connect 80.1 µs, sent 9.00 µs, first byte 1.10 ms, last byte 10.0 µs".
func (p *Printer) phases(r bench.RequestPhases) string {
	var parts []string
	for _, part := range []struct {
		name string
		d    time.Duration
	}{
		{"name", r.Name}, {"connect", r.Connect}, {"TLS", r.TLS}, {"sent", r.Send},
		{"first byte", r.FirstByte}, {"last byte", r.Receive},
	} {
		if part.d > 0 {
			parts = append(parts, part.name+" "+units.Duration(part.d))
		}
	}
	text := units.Duration(r.Total)
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if r.Err != "" {
		text += ", " + p.paint(red, "FAILED: ") + safe.Line(r.Err, 300)
	}
	return text
}

// around reports the spread of latencies and rates, if first requests were timed (procedure C).
func (p *Printer) around(l bench.Load) {
	if s, ok, err := stats.LatencySpread(l.Latency); ok && err == nil {
		text := func(ns float64) string { return units.Duration(time.Duration(ns)) }
		p.line("    latency  mean %s, SD %s, max %s, %.1f%% within 1 SD",
			text(s.Mean), text(s.SD), text(s.Max), 100*s.Within)
	}
	if s, ok := stats.RateSpread(l); ok {
		p.line("    req/s    mean %s, SD %s, max %s, %.1f%% within 1 SD, over %s of 1 s",
			units.Number(s.Mean), units.Number(s.SD), units.Number(s.Max), 100*s.Within, units.Plural(int(s.N), "window"))
	}
	if v := stats.BytesPerSecond(l); v > 0 {
		p.line("    bodies   %s/s", units.Bytes(int64(v)))
	}
}

func progressText(e bench.Progress) string {
	text := string(e.Phase)
	if e.Total > 0 {
		text += fmt.Sprintf(" %d%% (%d of %d %s)", 100*e.Done/e.Total, e.Done, e.Total, e.Unit)
	} else if e.Done > 0 {
		text += fmt.Sprintf(" %d %s", e.Done, e.Unit)
	}
	if e.Text != "" {
		text += "  " + e.Text
	}
	return text
}

func instanceText(i bench.InstanceInfo) string {
	var parts []string
	traits := i.Runtime.Traits()
	if traits.AlreadyRunning {
		return "target at " + safe.Line(i.Address, 200)
	}
	if traits.Where != "" {
		parts = append(parts, traits.Where)
	}
	if i.Limits.CPUs > 0 {
		parts = append(parts, fmt.Sprintf("%g CPUs", i.Limits.CPUs))
	}
	if i.Limits.Memory > 0 {
		parts = append(parts, units.Bytes(i.Limits.Memory)+" (no swap)")
	}
	if len(i.CPUSet) > 0 {
		parts = append(parts, "on CPU "+i.CPUSet.String())
	}
	if !i.LimitsEnforced {
		parts = append(parts, "LIMITS NOT ENFORCED")
	}
	return strings.Join(parts, ", ")
}

func stopText(s bench.StopResult) string {
	switch {
	case s.ExitedBeforeStop:
		return "already exited: " + s.Exit.String()
	case s.Forced:
		return "killed after " + units.Duration(s.Took) + ": stop was forced"
	case s.Killed:
		return "killed after " + units.Duration(s.Took) + ": no exit after SIGTERM"
	case s.Graceful:
		return "gracefully in " + units.Duration(s.Took)
	}
	return "after " + units.Duration(s.Took) + ", " + s.Exit.String()
}

func windowText(steps []bench.Step, e bench.WindowClosed) string {
	name := ""
	if e.Index < len(steps) {
		name = steps[e.Index].Name
	}
	text := fmt.Sprintf("%s: %s req/s, p50 %s, p99 %s", name,
		units.Number(e.Window.Throughput()), units.Duration(e.Window.P50), units.Duration(e.Window.P99))
	if failed := (bench.Load{Failed: e.Window.Failed}).FailedTotal(); failed > 0 {
		text += fmt.Sprintf(", %d errors", failed)
	}
	return text
}
