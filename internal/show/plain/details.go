package plain

import (
	"fmt"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/safe"
)

// parts are the parts of a line; those that are not known are left out.
type parts []string

func (p *parts) add(known bool, format string, args ...any) {
	if known {
		*p = append(*p, fmt.Sprintf(format, args...))
	}
}

// waited adds the shares of a step in which at least one process waited.
func (p *parts) waited(pressure *bench.Pressure, what string, r bench.StepResult) {
	wall := r.Load.Wall
	if r.Before != nil && r.After != nil {
		wall = r.After.At.Sub(r.Before.At)
	}
	if pressure == nil || wall <= 0 {
		return
	}
	for _, x := range []struct {
		name  string
		stall *bench.Stall
	}{{"CPU", pressure.CPU}, {"memory", pressure.Memory}, {"disk", pressure.IO}} {
		if x.stall != nil {
			p.add(true, "%sfor %s %d%%", what, x.name, percentOf(x.stall.Some, wall))
		}
	}
}

func percentOf(part, whole time.Duration) int64 { return int64(100*float64(part)/float64(whole) + .5) }

// Details returns lines with the known results of a step that do not fit into its row.
func Details(r bench.StepResult) (lines []Sentence) {
	var line parts
	end := func(name string) {
		if len(line) > 0 {
			lines = append(lines, Sentence{Label: name, Text: strings.Join(line, ", ")})
		}
		line = nil
	}
	if l := r.Load; l.LatencyOf == bench.FromScheduled || l.Dropped > 0 || l.Late > 0 {
		line.add(true, "%s scheduled, %s late, %s dropped, up to %s in use", units.Count(l.Scheduled),
			units.Count(l.Late), units.Count(l.Dropped), units.Plural(l.MaxOpenConnections, "connection"))
		line.add(l.Lag.Count > 0, "send delay p99 %s", units.Duration(l.Lag.P99))
	}
	end("open loop")
	user, system, split := r.CPUSplit()
	cpu, ok := r.CPU()
	if all := user + system; split && ok && all > 0 {
		line.add(true, "%s, %d%% user, %d%% system", units.Duration(cpu), percentOf(user, all), percentOf(system, all))
		t, ok := r.Throttling()
		line.add(ok && t.Periods > 0, "%s throttled in %d of %d periods", units.Duration(t.Time), t.Throttled, t.Periods)
	}
	end("CPU")
	line.waited(r.Pressure(), "", r)
	end("waiting")
	peak, ok := r.StepPeak()
	line.add(ok, "peak %s in this step", units.Bytes(peak))
	minor, major, ok := r.Faults()
	line.add(ok, "%s minor and %s major page faults", units.Count(minor), units.Count(major))
	end("memory")
	if a := r.After; a != nil && a.Threads != nil {
		text := units.Plural(*a.Threads, "thread")
		if a.Processes != nil {
			text += " in " + units.Plural(*a.Processes, "process")
		}
		line.add(true, "%s", text)
	}
	voluntary, involuntary, ok := r.Switches()
	line.add(ok, "%s voluntary and %s involuntary context switches", units.Count(voluntary), units.Count(involuntary))
	end("threads")
	in, out, ok := r.Network()
	line.add(ok, "%s in, %s out", units.Bytes(in), units.Bytes(out))
	end("network")
	if d := r.Disk(); d != nil {
		words := verdict.DiskWords(d, r.After.At.Sub(r.Before.At))
		line.add(words != "", "%s", words)
	}
	end("disk")
	for _, m := range measure.View(measure.TextDetails) {
		v, ok := m.Of(r)
		line.add(m.Worth(v, ok), "%s %s", m.Unit.Text(v), m.Name)
	}
	end("other")
	busy, steal, ok := r.HostShare()
	line.add(ok, "%s busy, %.1f%% steal", units.Percent(busy), 100*steal)
	line.waited(r.HostPressure(), "waited ", r)
	end("machine")
	for _, name := range r.Needs() {
		words := measure.NeedWords(name, r)
		line.add(words != "", "%s", words)
		end("need")
	}
	if a := r.After; a != nil {
		line.add(a.Took > 0, "%s, reading took %s", a.Source, units.Duration(a.Took))
	}
	end("source")
	return lines
}

// requestText returns how long one of the first requests took; the report has its phases.
func requestText(r bench.RequestPhases) string {
	switch {
	case r.Err != "":
		return "failed: " + safe.Line(r.Err, 300)
	case r.Total <= 0:
		return units.Missing
	}
	return units.Duration(r.Total)
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
	traits := i.Runtime.Traits()
	if traits.AlreadyRunning {
		return "target at " + safe.Line(i.Address, 200)
	}
	var of parts
	of.add(traits.Where != "", "%s", traits.Where)
	of.add(i.Limits.CPUs > 0, "%s", units.CPUs(i.Limits.CPUs))
	of.add(i.Limits.Memory > 0, "%s (no swap)", units.Bytes(i.Limits.Memory))
	of.add(len(i.CPUSet) > 0, "on CPU %s", i.CPUSet)
	confined := i.Confined.String()
	of.add(confined != "", "%s", safe.Line(confined, 300))
	of.add(!i.LimitsEnforced, "LIMITS NOT ENFORCED")
	return strings.Join(of, ", ")
}

// ofCPUs returns ", 1.5 CPUs": the limit next to the number of threads; "" without one.
func ofCPUs(i *bench.InstanceInfo) string {
	if i == nil || i.Limits.CPUs <= 0 {
		return ""
	}
	return ", " + units.CPUs(i.Limits.CPUs)
}

func stopText(s bench.StopResult) (Level, string) {
	took := units.Duration(s.Took)
	switch {
	case s.ExitedBeforeStop:
		return Error, "already exited: " + s.Exit.String()
	case s.Forced:
		return Info, "killed after " + took + ": stop was forced"
	case s.Killed:
		return Warning, "killed after " + took + ": no exit after " + safe.Line(s.SignalName(), 20)
	case s.Graceful:
		return Info, "gracefully in " + took
	}
	return Warning, "after " + took + ", " + s.Exit.String()
}

// wideRow is the least width of a terminal, in columns, that holds the whole row of a step. A
// narrower one leaves out columns that the final table has.
const wideRow = 102

// stepLine returns a line of the table that grows while a trial runs, so its widths are fixed.
func stepLine(narrow bool, name string, text func(measure.Shown) string) string {
	width := 26
	if narrow {
		width = 22
	}
	line := fmt.Sprintf("%-*s", width, name)
	for _, col := range measure.View(measure.TextLive) {
		width := max(8, fit.Width(col.Head)+1)
		if col.Unit == measure.PerSecond {
			width = 9
		}
		if !narrow || col.Drop == 0 {
			line += fmt.Sprintf(" %*s", width, text(col))
		}
	}
	return line
}

func stepHeader(narrow bool) string {
	return stepLine(narrow, "step", func(col measure.Shown) string { return col.Head })
}

func stepRow(r bench.StepResult, narrow bool) string {
	return stepLine(narrow, safe.Line(r.Step.Title(), 40), func(col measure.Shown) string {
		if t, ok := r.Throttling(); ok && col.ID == measure.Throttled {
			if t.Periods == 0 {
				return "0"
			}
			return fmt.Sprintf("%d/%d", t.Throttled, t.Periods)
		}
		v, ok := col.Of(r)
		return col.Text(measure.Result{Known: ok, Value: v})
	})
}
