package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"locbench/internal/bench"
)

// figure is one chart and the table of the same values.
type figure struct {
	ID      string
	Title   string // with the unit: "Throughput, successes/s"
	Note    string // how to read it; may be empty
	Log     bool   // logarithmic value axis
	Rows    []figureRow
	Columns []column
	Empty   bool // nothing was measured: say so instead of drawing an empty chart

	kind   figureKind
	series []series
	axis   string   // name of the horizontal axis
	stack  []string // names of the parts of a bar; the rows are these and their total, for each bar of a leg
	warmUp int
}

type figureKind string

const (
	kindSteps figureKind = "steps" // lines over the steps
	kindBars  figureKind = "bars"  // one bar a leg
	kindCurve figureKind = "curve" // lines over a value
	kindStack figureKind = "stack" // bars in parts
)

// figureRow is a row of the table, and the words of a tooltip.
type figureRow struct {
	Label  string
	Title  string
	WarmUp bool
	Cells  []string // one a column
}

// series is one leg's line. A point that was not measured is nil.
type series struct {
	column column
	points []*point
}

type point struct {
	x, y   float64 // x only in curves
	warmUp bool
}

// measure is what a figure over the steps shows: the value in the unit of its title and the words for it.
type measure struct {
	id, title, note string
	log             bool
	value           func(bench.StepResult) (v float64, words string, ok bool)
}

// figures are all of them, in the order of the specification.
func figures(run bench.Run, l layout) []figure {
	all := []figure{startUpFigure(l)}
	if l.anyPhases() {
		all = append(all, phaseFigure(l))
	}
	for _, m := range measures(run.Profile) {
		all = append(all, stepFigure(l, m))
	}
	return append(all, cumulativeFigure(l))
}

// measures are the figures over the steps. The memory per rate divides the high-water mark, as the published
// comparison did, so that it belongs to the figure before it.
func measures(p bench.Profile) []measure {
	return []measure{
		{id: "throughput", title: "Throughput, successes/s", note: "Successful answers per second of the step. Errors never count.",
			value: func(s bench.StepResult) (float64, string, bool) {
				v := s.Load.Throughput()
				return v, significant(v) + "/s", s.Load.Elapsed > 0 && s.Load.Succeeded+s.Load.FailedTotal() > 0
			}},
		{id: "errors", title: "Error ratio, %", note: "Errors / (errors + successes).", value: errorRatio},
		quantile("p50", "p50", func(l bench.Latencies) time.Duration { return l.P50 }),
		quantile("p90", "p90", func(l bench.Latencies) time.Duration { return l.P90 }),
		quantile("p99", "p99", func(l bench.Latencies) time.Duration { return l.P99 }),
		{id: "memory-peak", title: "Memory high-water mark, MiB", note: "Since the start of the contender, read at the end of the step." + limitNote(p.Limits.Memory > 0, "The limit is "+mebibytes(p.Limits.Memory)+".") + " “≥” marks an estimate: the largest sample, where no counter could be read.",
			value: func(s bench.StepResult) (float64, string, bool) {
				m, ok := memory(s)
				return float64(m.Peak) / (1 << 20), peak(m), ok && m.Peak > 0
			}},
		{id: "memory-per-rate", title: "Memory high-water mark per rate, MiB·s", note: "The figure before divided by the throughput of the step: memory held per request a second.", log: true,
			value: func(s bench.StepResult) (float64, string, bool) {
				m, ok := memory(s)
				rate := s.Load.Throughput()
				if !ok || m.Peak <= 0 || rate <= 0 {
					return 0, "", false
				}
				v := float64(m.Peak) / (1 << 20) / rate
				return v, estimate(m) + significant(v) + nbsp + "MiB·s", true
			}},
		{id: "memory-used", title: "Memory in use, MiB", note: "Without the page cache, at the end of the step.",
			value: func(s bench.StepResult) (float64, string, bool) {
				m, ok := memory(s)
				return float64(m.Used) / (1 << 20), mebibytes(m.Used), ok && m.Used > 0
			}},
		{id: "cpu", title: "CPU time per step, s", note: "Used by the contender between the two ends of the step." + cpuLimitNote(p),
			value: func(s bench.StepResult) (float64, string, bool) {
				cpu, ok := s.CPU()
				return cpu.Seconds(), duration(cpu), ok
			}},
		{id: "cpu-per-request", title: "CPU time per request, µs", note: "CPU time of the step / its successes.", log: true,
			value: func(s bench.StepResult) (float64, string, bool) {
				d, ok := s.CPUPerRequest()
				return float64(d) / float64(time.Microsecond), duration(d), ok && d > 0
			}},
		{id: "throttling", title: "Throttled periods, %", note: "Share of the scheduler's periods in which the contender used up its CPU quota and had to wait.",
			value: func(s bench.StepResult) (float64, string, bool) {
				t, ok := s.Throttling()
				if !ok || t.Periods <= 0 {
					return 0, "", false
				}
				ratio := float64(t.Throttled) / float64(t.Periods)
				return ratio * 100, fmt.Sprintf("%s (%s of %s periods, %s)", percent(ratio), count(t.Throttled), count(t.Periods), duration(t.Time)), true
			}},
	}
}

func quantile(id, title string, of func(bench.Latencies) time.Duration) measure {
	return measure{id: id, title: "Latency " + title + ", ms", note: "Of successes, from sending to the last byte.", log: true,
		value: func(s bench.StepResult) (float64, string, bool) {
			d := of(s.Load.Latency)
			return float64(d) / float64(time.Millisecond), duration(d), s.Load.Latency.Count > 0 && d > 0
		}}
}

func errorRatio(s bench.StepResult) (float64, string, bool) {
	failed := s.Load.FailedTotal()
	if failed+s.Load.Succeeded <= 0 {
		return 0, "", false
	}
	ratio := s.Load.ErrorRatio()
	words := percent(ratio)
	if failed > 0 {
		words += " (" + strings.Join(errorKinds(s.Load.Failed), ", ") + ")"
	}
	return ratio * 100, words, true
}

// errorKinds is "timeout 12", "5xx 3", the most frequent first.
func errorKinds(failed map[bench.ErrorKind]int64) []string {
	kinds := make([]bench.ErrorKind, 0, len(failed))
	for k, n := range failed {
		if n != 0 {
			kinds = append(kinds, k)
		}
	}
	slices.SortFunc(kinds, func(a, b bench.ErrorKind) int {
		return cmp.Or(cmp.Compare(failed[b], failed[a]), cmp.Compare(a, b))
	})
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = cleanName(string(k)) + " " + count(failed[k])
	}
	return words
}

func memory(s bench.StepResult) (bench.Memory, bool) {
	if s.After == nil || s.After.Memory == nil {
		return bench.Memory{}, false
	}
	return *s.After.Memory, true
}

// estimate marks a high-water mark that was only sampled: the true one is as high or higher.
func estimate(m bench.Memory) string {
	if m.PeakIsSample {
		return "≥" + nbsp
	}
	return ""
}

func peak(m bench.Memory) string { return estimate(m) + mebibytes(m.Peak) }

func limitNote(limited bool, words string) string {
	if !limited {
		return ""
	}
	return " " + words
}

// cpuLimitNote says how much the quota allows, where all steps take equally long.
func cpuLimitNote(p bench.Profile) string {
	if p.Limits.CPUs <= 0 || len(p.Steps) == 0 {
		return ""
	}
	d := p.Steps[0].Duration
	for _, s := range p.Steps {
		if s.Duration != d {
			return " The quota is " + plain(p.Limits.CPUs) + " CPU seconds a second."
		}
	}
	return " The quota of " + plain(p.Limits.CPUs) + " CPUs allows " + plain(p.Limits.CPUs*d.Seconds()) + " s" + " a step."
}

// stepFigure draws one measure of every leg over the steps.
func stepFigure(l layout, m measure) figure {
	f := figure{ID: m.id, Title: m.title, Note: m.note, Log: m.log, Empty: true, Columns: l.columns,
		kind: kindSteps, axis: l.axis(), warmUp: l.warmUp()}
	for _, r := range l.rows {
		f.Rows = append(f.Rows, figureRow{Label: r.Label, Title: r.Title, WarmUp: r.WarmUp, Cells: make([]string, len(l.columns))})
	}
	for j, c := range l.columns {
		line := series{column: c, points: make([]*point, len(l.rows))}
		for i, s := range c.steps {
			f.Rows[i].Cells[j] = missing
			if s == nil {
				continue
			}
			if v, words, ok := m.value(*s); ok {
				line.points[i] = &point{y: v, warmUp: l.rows[i].WarmUp}
				f.Rows[i].Cells[j] = words + cut(*s)
				f.Empty = false
			}
		}
		f.series = append(f.series, line)
	}
	return f
}

// cut marks a step that ended early; the legend of the tables explains it.
func cut(s bench.StepResult) string {
	if s.Aborted != "" {
		return " †"
	}
	return ""
}

// startUpFigure has a bar for every leg.
func startUpFigure(l layout) figure {
	f := figure{ID: "start-up", Title: "Start-up time, ms", Columns: l.columns, Empty: true, kind: kindBars,
		Note: "From the start of the process to its first HTTP answer."}
	r := figureRow{Label: "start-up", Title: "start-up", Cells: make([]string, len(l.columns))}
	for j, c := range l.columns {
		r.Cells[j] = missing
		s := series{column: c, points: []*point{nil}}
		if d := c.leg.StartUp; d != nil {
			s.points[0] = &point{y: float64(*d) / float64(time.Millisecond)}
			r.Cells[j] = duration(*d)
			f.Empty = false
		}
		f.series = append(f.series, s)
	}
	f.Rows = []figureRow{r}
	return f
}

// cumulativeFigure sets the successes so far against the CPU time so far.
func cumulativeFigure(l layout) figure {
	f := figure{ID: "cumulative", Title: "Cumulative successes over cumulative CPU time", Columns: l.columns, Empty: true,
		Note: "Every point is the end of a step; the first one the beginning of the load: CPU time is counted from the start of the contender, start-up and checks included. Steeper is better.",
		kind: kindCurve, axis: "CPU seconds since start"}
	f.Rows = append(f.Rows, figureRow{Label: "before", Title: "before the load", WarmUp: true, Cells: make([]string, len(l.columns))})
	for _, r := range l.rows {
		f.Rows = append(f.Rows, figureRow{Label: r.Label, Title: "after " + r.Title, WarmUp: r.WarmUp, Cells: make([]string, len(l.columns))})
	}
	for j, c := range l.columns {
		line := series{column: c, points: make([]*point, len(f.Rows))}
		for i := range f.Rows {
			f.Rows[i].Cells[j] = missing
		}
		var successes int64
		set := func(i int, u *bench.Usage, mark string) {
			if u == nil {
				return
			}
			line.points[i] = &point{x: u.CPU.Seconds(), y: float64(successes), warmUp: f.Rows[i].WarmUp}
			f.Rows[i].Cells[j] = count(successes) + " / " + significant(u.CPU.Seconds()) + nbsp + "s" + mark
			f.Empty = false
		}
		for i, s := range c.steps {
			if s == nil {
				continue
			}
			if successes == 0 && line.points[0] == nil {
				set(0, s.Before, "")
			}
			successes += s.Load.Succeeded
			set(i+1, s.After, cut(*s))
		}
		f.series = append(f.series, line)
	}
	return f
}
