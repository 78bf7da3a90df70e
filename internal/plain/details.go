package plain

import (
	"fmt"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/measure"
	"locbench/internal/units"
)

// details are what the row of a step has no room for. What no source tells is left out.
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
	add("besides", besides(r)...)
	add("machine", hostParts(r)...)
	if r.After != nil && r.After.Took > 0 {
		add("source", r.After.Source, "a reading took "+units.Duration(r.After.Took))
	}
	return lines
}

func cpuParts(r bench.StepResult) (parts []string) {
	user, system, ok := r.CPUSplit()
	cpu, known := r.CPU()
	if !ok || !known || user+system <= 0 {
		return nil
	}
	parts = append(parts, units.Duration(cpu), fmt.Sprintf("%d %% user, %d %% system", percentOf(user, user+system), percentOf(system, user+system)))
	if t, ok := r.Throttling(); ok && t.Periods > 0 {
		parts = append(parts, fmt.Sprintf("%s lost in %d throttled of %d periods", units.Duration(t.Time), t.Throttled, t.Periods))
	}
	return parts
}

// pressureParts are the shares of the step in which some of the processes waited.
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
			parts = append(parts, fmt.Sprintf("%sfor %s %d %%", what, x.name, percentOf(x.stall.Some, wall)))
		}
	}
	return parts
}

// between is the time between the two readings of the step.
func between(r bench.StepResult) time.Duration {
	if r.Before == nil || r.After == nil {
		return r.Load.Wall
	}
	return r.After.At.Sub(r.Before.At)
}

func memoryParts(r bench.StepResult) (parts []string) {
	if n, ok := r.StepPeak(); ok {
		parts = append(parts, "at most "+units.Bytes(n)+" in this step")
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
			n += fmt.Sprintf(" in %d", *r.After.Processes)
		}
		parts = append(parts, n)
	}
	if v, i, ok := r.Switches(); ok {
		parts = append(parts, fmt.Sprintf("%s voluntary and %s involuntary context switches", units.Count(v), units.Count(i)))
	}
	return parts
}

func besides(r bench.StepResult) (parts []string) {
	for _, m := range measure.View(measure.TextDetails) {
		if v, ok := m.Of(r); ok {
			parts = append(parts, m.Unit.Text(v)+" "+m.Name)
		}
	}
	return parts
}

func hostParts(r bench.StepResult) (parts []string) {
	if busy, steal, ok := r.HostShare(); ok {
		parts = append(parts, fmt.Sprintf("%s busy, %.1f %% stolen", units.Percent(busy), 100*steal))
	}
	parts = append(parts, pressureParts(r.HostPressure(), "some waited ", r)...)
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
