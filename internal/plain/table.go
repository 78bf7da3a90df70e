package plain

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"locbench/internal/bench"
	"locbench/internal/compare"
	"locbench/internal/safe"
	"locbench/internal/stats"
	"locbench/internal/units"
	"locbench/internal/verdict"
)

// Table writes the final tables: the steps of each contender, then all contenders beside each other. Figures of several
// rounds are medians, except that latencies are quantiles of all rounds' requests together. Where width is not 0, columns
// that do not fit are left out, the least important first, and sentences are wrapped; summary.md and report.html have them all.
//
// Who is in front is told in tiers, from stats.MinInterval rounds on; floor is the noise floor of the machine, nil where it is not known. The
// run's warnings are left out where a Printer has told them already.
func Table(w io.Writer, run bench.Run, legs []bench.LegResult, floor *compare.Floor, width int, warned bool) error {
	contenders := stats.Summarise(legs, run.Profile.PriceVCPUHr)
	var b bytes.Buffer
	for _, c := range contenders {
		if len(c.Steps) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s\n", safe.Line(c.Label, 100))
		steps(&b, c, verdict.Rounds(run.Machine.CPUs, legsOf(c, legs)), width)
		b.WriteByte('\n')
	}
	standing := standings(run, legs, floor)
	headline(&b, contenders, intervals(standing), run.Profile.Rounds, width)
	tiers(&b, standing, floor, width)
	notes(&b, run, contenders, legs, standing, width)
	if warned {
		run.Warnings = nil
	}
	warnings(&b, run, contenders, width)
	_, err := w.Write(b.Bytes())
	return err
}

// legsOf are the rounds of a contender.
func legsOf(c stats.Contender, legs []bench.LegResult) (own []bench.LegResult) {
	for _, leg := range legs {
		if leg.Leg.Label() == c.Label {
			own = append(own, leg)
		}
	}
	return own
}

func steps(b *bytes.Buffer, c stats.Contender, bound map[int]verdict.Summary, width int) {
	rows := [][]string{{"step", "req/s", "errors", "p50", "p90", "p99", "max", "CPU/req", "CPUs", "throttled", "memory", "bound by"}}
	for _, s := range c.Steps {
		name := s.Step.Name
		if s.Step.WarmUp {
			name += " (warm-up)"
		}
		if drift := s.DriftWords(); drift != "" {
			name += " (" + drift + ")"
		}
		rows = append(rows, []string{
			safe.Line(name, 60), value(s.Throughput, units.Rate), errorRatio(s.FailedTotal(), s.ErrorRatio()),
			latency(s.Latency, s.Latency.P50), latency(s.Latency, s.Latency.P90), latency(s.Latency, s.Latency.P99), latency(s.Latency, s.Latency.Max),
			value(s.CPURequest, nanoseconds), value(s.CPUs, two), value(s.Throttled, percent), value(s.Memory, bytesOf), boundBy(bound[s.Index]),
		})
	}
	align(b, "  ", shorten(fit(rows, width-2, "CPUs", "max", "p90", "throttled", "memory", "CPU/req", "bound by"), width-2))
	if c.Peak >= 0 && c.Peak < len(c.Steps) {
		if s := bound[c.Steps[c.Peak].Index]; s.Bound != "" {
			text := s.Verdict.String()
			if s.Bound == verdict.Unclear {
				text = s.Words()
			}
			b.WriteString(wrap("  at the peak: "+text, width) + "\n")
		}
	}
}

// boundBy is one word, and how many of the rounds it is of where they differ.
func boundBy(s verdict.Summary) string {
	switch {
	case s.Bound == "":
		return missing
	case s.Agree < s.Rounds:
		return fmt.Sprintf("%s (%d of %d)", s.Bound, s.Agree, s.Rounds)
	}
	return string(s.Bound)
}

func headline(b *bytes.Buffer, contenders []stats.Contender, intervals map[string]string, n, width int) {
	rows := [][]string{{"contender", "legs", "start-up", "to peak", "peak req/s", "95 %", "at", "p50", "p99", "errors", "CPU/req", "peak memory", "$/10⁹ req"}}
	for _, c := range contenders {
		row := []string{safe.Line(c.Label, 60), fmt.Sprintf("%d/%d", c.Complete, c.Legs), value(c.StartUp, nanoseconds), value(c.PeakTime, nanoseconds)}
		if s, ok := c.PeakStep(); ok {
			row = append(row, value(s.Throughput, units.Rate), intervals[c.Label], at(s.Step),
				latency(s.Latency, s.Latency.P50), latency(s.Latency, s.Latency.P99), units.Count(c.ErrorsTotal()), value(s.CPURequest, nanoseconds))
		} else {
			row = append(row, missing, missing, missing, missing, missing, units.Count(c.ErrorsTotal()), missing)
		}
		memory := missing
		if c.MemoryPeak > 0 {
			memory = units.Bytes(c.MemoryPeak)
			if c.MemoryPeakIsSample {
				memory = "≥ " + memory
			}
		}
		rows = append(rows, append(row, memory, value(c.CostEach, dollars)))
	}
	if !slices.ContainsFunc(contenders, func(c stats.Contender) bool { return c.PeakTime.Known() }) {
		rows = fit(rows, 1, "to peak")
	}
	if n < 2 { // the note says it for all
		rows = fit(rows, 1, "95 %")
	}
	align(b, "", shorten(fit(rows, width, "95 %", "legs", "p50", "to peak", "start-up", "at", "errors", "$/10⁹ req", "peak memory"), width))
}

// at is short for the load of a step.
func at(s bench.Step) string {
	if s.Connections > 0 && s.Request == "" {
		return count(s.Connections, "conn")
	}
	return safe.Line(s.Name, 30)
}

// notes says what the figures are and where to doubt them.
func notes(b *bytes.Buffer, run bench.Run, contenders []stats.Contender, legs []bench.LegResult, standing []compare.Standing, width int) {
	line := func(format string, args ...any) { b.WriteString(wrap(fmt.Sprintf(format, args...), width) + "\n") }
	line("")
	line("p50, p99 and CPU/req are those of the step with the peak; start-up, memory, errors and cost are of the whole life.")
	if run.Profile.Rounds > 1 {
		line("Medians of the rounds; latencies are quantiles of all rounds' successful requests.")
	}
	if slices.ContainsFunc(run.Profile.Steps, bench.Step.Open) {
		line("Latencies of steps with a rate or arrivals begin when a request was due, not when it was sent.")
	}
	if n := run.Profile.Rounds; n < stats.MinInterval {
		line("%s: no interval and no claim of a difference; for a 95 %% interval of the median, --rounds %d or more.", count(n, "round"), stats.MinInterval)
	}
	for _, c := range contenders {
		if c.Cost != nil {
			line("%s: $%.2f per 10⁹ requests = %.2f start-up + %.2f warm-up + %.2f steady + %.2f checks, lead-ins and pauses, at $%g per vCPU-hour; steady state alone $%.2f",
				safe.Line(c.Label, 60), c.Cost.Total, c.Cost.StartUp, c.Cost.WarmUp, c.Cost.Steady, c.Cost.Other, run.Profile.PriceVCPUHr, c.Cost.Marginal)
		}
		if n := c.Checks[bench.CheckFailed]; n > 0 {
			line("%s: %s FAILED", safe.Line(c.Label, 60), count(n, "check"))
		}
		for _, f := range c.Failures {
			line("%s: %s", safe.Line(c.Label, 60), safe.Line(f, 300))
		}
	}
	thresholds(line, legs)
	doubts(standing, line)
}

// warnings are those of the run, and what is doubtful about the figures of a contender, each once.
func warnings(b *bytes.Buffer, run bench.Run, contenders []stats.Contender, width int) {
	line := func(format string, args ...any) { b.WriteString(wrap(fmt.Sprintf(format, args...), width) + "\n") }
	seen := map[string]bool{}
	for _, w := range run.Warnings {
		seen[w.Text] = true
		line("warning: %s", safe.Line(w.Text, 500))
	}
	for _, c := range contenders {
		for _, w := range c.Warnings {
			if !seen[w] {
				seen[w] = true
				line("warning: %s: %s", safe.Line(c.Label, 60), safe.Line(w, 500))
			}
		}
	}
}

const missing = "–"

func value(v stats.Value, show func(float64) string) string {
	if !v.Known() {
		return missing
	}
	return show(v.Median)
}

func nanoseconds(v float64) string { return units.Duration(time.Duration(v)) }
func bytesOf(v float64) string     { return units.Bytes(int64(v)) }
func two(v float64) string         { return fmt.Sprintf("%.2f", v) }
func percent(v float64) string     { return fmt.Sprintf("%.0f %%", 100*v) }
func dollars(v float64) string     { return fmt.Sprintf("%.2f", v) }

// latency shows a quantile, or nothing where there was no success.
func latency(l bench.Latencies, d time.Duration) string {
	if l.Count == 0 {
		return missing
	}
	return units.Duration(d)
}

func errorRatio(n int64, ratio float64) string {
	switch {
	case n == 0:
		return "0"
	case ratio < 0.001:
		return units.Count(n)
	}
	return fmt.Sprintf("%s (%.1f %%)", units.Count(n), 100*ratio)
}

// fit leaves columns out, in the order given by their titles, until the rest is no wider than width; 0 or less is no bound.
func fit(rows [][]string, width int, expendable ...string) [][]string {
	for _, title := range expendable {
		total := -2
		for _, w := range columnWidths(rows) {
			total += w + 2
		}
		if width <= 0 || total <= width {
			break
		}
		column := slices.Index(rows[0], title)
		if column < 0 {
			continue
		}
		for i, row := range rows {
			rows[i] = slices.Delete(row, column, column+1)
		}
	}
	return rows
}

func columnWidths(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// align writes rows in columns: the first to the left, all others to the right.
func align(b *bytes.Buffer, indent string, rows [][]string) {
	widths := columnWidths(rows)
	for _, row := range rows {
		b.WriteString(indent)
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString(cell + pad)
			} else {
				b.WriteString("  " + pad + cell)
			}
		}
		b.WriteByte('\n')
	}
}

// stepLine is one line of the table that grows while a leg runs. A narrow one, for terminals of 80 columns, leaves out what the
// final table and the reports have anyway.
func stepLine(narrow bool, name, rate, errors, p50, p99, top, cpu, throttled, memory string) string {
	if narrow {
		return fmt.Sprintf("%-22s %9s %8s %8s %8s %8s %8s", name, rate, errors, p50, p99, cpu, memory)
	}
	return fmt.Sprintf("%-26s %9s %8s %8s %8s %8s %8s %10s %8s", name, rate, errors, p50, p99, top, cpu, throttled, memory)
}

func stepHeader(narrow bool) string {
	return stepLine(narrow, "step", "req/s", "errors", "p50", "p99", "max", "CPU/req", "throttled", "memory")
}

func stepRow(r bench.StepResult, narrow bool) string {
	name := r.Step.Name
	if r.Step.WarmUp {
		name += " (warm-up)"
	}
	cpu, throttled, memory := missing, missing, missing
	if d, ok := r.CPUPerRequest(); ok {
		cpu = units.Duration(d)
	}
	if t, ok := r.Throttling(); ok && t.Periods > 0 {
		throttled = fmt.Sprintf("%d/%d", t.Throttled, t.Periods)
	} else if ok {
		throttled = "0"
	}
	if r.After != nil && r.After.Memory != nil {
		memory = units.Bytes(r.After.Memory.Used)
	}
	l := r.Load
	return stepLine(narrow, safe.Line(name, 40), units.Rate(l.Throughput()), units.Count(l.FailedTotal()),
		latency(l.Latency, l.Latency.P50), latency(l.Latency, l.Latency.P99), latency(l.Latency, l.Latency.Max), cpu, throttled, memory)
}
