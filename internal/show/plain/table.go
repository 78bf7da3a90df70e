package plain

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
)

// Headings of columns that show no measure.
const headLimits, headTrials, headPeak, headCI, headAt, headBound = "limits", "rounds", "peak req/s", "95%", "at", "bound by"

// Table writes the final tables: the steps of each contender, then all contenders side by side.
// Values are medians of the rounds; latencies are quantiles over the requests of all rounds. If
// width is above 0, columns that do not fit are left out, the least important first, and sentences
// are wrapped; summary.md and report.html have everything. The ranking is in tiers, from
// stats.MinInterval rounds on. floor is the noise floor of the machine, nil if unknown. warned
// leaves out the run's warnings, which a Printer has reported already.
func Table(w io.Writer, a *analysis.Run, floor *compare.Floor, width int, warned bool) error {
	run := a.Run
	var contenders []stats.Contender
	var b bytes.Buffer
	line := func(format string, args ...any) { b.WriteString(wrap(fmt.Sprintf(format, args...), width) + "\n") }
	ordered := a.Ordered()
	for _, c := range ordered {
		if why := c.WhyExcluded(); why != "" {
			line("EXCLUDED: %s %s", safe.Line(c.Label, 60), why)
		}
	}
	for _, c := range ordered {
		if w, ok := c.MemoryGrowth(); ok {
			line("%s: %s", safe.Line(c.Label, 60), safe.Line(w.Text, 500))
		}
	}
	if run.AcceptFailedChecks {
		line("Failed checks were accepted (--accept-failed-checks): responses may be wrong.")
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	for _, c := range ordered {
		contenders = append(contenders, c.Contender)
		if len(c.Steps) > 0 {
			fmt.Fprintf(&b, "%s\n", safe.Line(strings.TrimSpace(c.Label+" "+c.Under()), 160))
			steps(&b, c.Contender, c.Bounds, width)
			b.WriteByte('\n')
		}
	}
	standing := standings(a, floor)
	headline(&b, run.Profile, ordered, intervals(standing), width)
	tiers(&b, line, standing, a.LimitRatios(standing), a.Settle(ruleOf(floor)), floor, width)
	notes(line, run, contenders, a.Trials, standing)
	for _, c := range ordered {
		if c.Excluded == nil || c.Excluded.Cause == nil { // else they are symptoms
			failures(line, c)
		}
		sessions(line, c)
	}
	if warned {
		run.Warnings = nil
	}
	warnings(line, run, contenders)
	_, err := w.Write(b.Bytes())
	return err
}

func steps(b *bytes.Buffer, c stats.Contender, bound map[int]verdict.Summary, width int) {
	columns := shown(measure.TextSteps, func(m measure.Measure) bool {
		return slices.ContainsFunc(c.Steps, func(s stats.Step) bool { return m.Over(s).Known })
	})
	rows := [][]string{append(heads([]string{"step"}, columns), headBound)}
	for _, s := range c.Steps {
		name := s.Step.Title()
		if drift := s.DriftWords(); drift != "" {
			name += " (" + drift + ")"
		}
		row := []string{safe.Line(name, 60)}
		for _, col := range columns {
			if col.ID == measure.Errors {
				row = append(row, errorCell(s.FailedTotal(), s.ErrorRate(), s.ErrorRateIsEstimate()))
			} else {
				row = append(row, cell(col.Measure, col.Over(s)))
			}
		}
		of := bound[s.Index]
		if s.Failed[bench.ErrWrong] > 0 && s.Excluded { // what limited unexpected responses says nothing
			of = verdict.Summary{}
		}
		rows = append(rows, append(row, boundBy(of)))
	}
	rows = shorten(fit(rows, width-2, expendable(columns, other(headBound, 1))...), width-2)
	b.WriteString(inColumns(rows, "  ", rightAligned))
	for _, s := range c.Steps {
		if n := s.Failed[bench.ErrWrong]; n > 0 {
			text := bench.Unexpected{Count: n, Compared: s.Compared}.Share()
			b.WriteString(wrap("  "+safe.Line(s.Step.Title(), 60)+": "+text, width) + "\n")
		}
		if text := s.StatusWords(); text != "" {
			b.WriteString(wrap("  "+safe.Line(s.Step.Title(), 60)+": "+text, width) + "\n")
		}
	}
	if c.Peak >= 0 && c.Peak < len(c.Steps) {
		if s := bound[c.Steps[c.Peak].Index]; s.Bound != "" {
			text := s.Verdict.String()
			if s.Bound == verdict.Unclear {
				text = s.Words()
			}
			b.WriteString(wrap("  at peak: "+text, width) + "\n")
		}
	}
}

// boundBy returns the bottleneck, and where rounds differ, how many of them had it.
func boundBy(s verdict.Summary) string {
	switch {
	case s.Bound == "":
		return units.Missing
	case s.Agree < s.Rounds:
		return fmt.Sprintf("%s (%d of %d)", s.Bound, s.Agree, s.Rounds)
	}
	return string(s.Bound)
}

// headline writes a row for each contender, with the limits by which contenders differ.
func headline(b *bytes.Buffer, p bench.Profile, contenders []analysis.Contender, intervals map[string]string, width int) {
	columns := shown(measure.TextContenders, func(m measure.Measure) bool {
		return slices.ContainsFunc(contenders, func(c analysis.Contender) bool { return m.Contender(c.Contender).Known })
	})
	peak := slices.IndexFunc(columns, func(col measure.Shown) bool { return col.ID == measure.Throughput }) + 1
	head := append(heads([]string{"contender", headLimits, headTrials}, columns[:peak]), headCI, headAt)
	rows := [][]string{heads(head, columns[peak:])}
	for _, c := range contenders {
		own := p.OwnLimits(c.Results[0].Trial.Selection()).Words()
		row := []string{safe.Line(c.Label, 60), own, fmt.Sprintf("%d/%d", c.Complete, c.Trials)}
		for i, col := range columns {
			row = append(row, cell(col.Measure, col.Contender(c.Contender)))
			if i+1 == peak {
				row = append(row, atPeak(c.Contender, intervals[c.Label])...)
			}
		}
		rows = append(rows, row)
	}
	if p.EqualLimits() {
		rows = fit(rows, 1, headLimits)
	}
	if p.Rounds < 2 { // no interval: a note says why
		rows = fit(rows, 1, headCI)
	}
	out := expendable(columns, other(headCI, 9), other(headTrials, 8), other(headAt, 4))
	b.WriteString(inColumns(shorten(fit(rows, width, out...), width), "", rightAligned))
}

func atPeak(c stats.Contender, interval string) []string {
	if s, ok := c.PeakStep(); ok {
		return []string{interval, safe.Line(s.Step.At(), 30)}
	}
	return []string{units.Missing, units.Missing}
}

// shown returns the measures of a table; optional ones only if known reports a value.
func shown(p measure.Place, known func(measure.Measure) bool) []measure.Shown {
	return slices.DeleteFunc(measure.View(p), func(m measure.Shown) bool { return m.Optional && !known(m.Measure) })
}

func heads(titles []string, columns []measure.Shown) []string {
	for _, col := range columns {
		titles = append(titles, col.Head)
	}
	return titles
}

// other returns a column that shows no measure.
func other(head string, drop int) measure.Shown { return measure.Shown{Head: head, Drop: drop} }

// expendable returns the headings of the columns that may be left out, the least important first.
func expendable(columns []measure.Shown, others ...measure.Shown) []string {
	out := slices.DeleteFunc(slices.Concat(columns, others), func(col measure.Shown) bool { return col.Drop == 0 })
	slices.SortStableFunc(out, func(a, b measure.Shown) int { return b.Drop - a.Drop })
	return heads(nil, out)
}

func cell(m measure.Measure, r measure.Result) string {
	switch {
	case !r.Known:
		return units.Missing
	case r.AtLeast:
		return "≥ " + m.Unit.Cell(r.Value)
	case r.Estimate:
		return "~" + m.Unit.Cell(r.Value)
	}
	return m.Unit.Cell(r.Value)
}

// writer writes a line and wraps it.
type writer func(format string, args ...any)

// notes explains the tables and lists the costs, failures, thresholds and warnings of the results.
func notes(line writer, run bench.Run, contenders []stats.Contender, trials []bench.TrialResult,
	standing []analysis.Standing) {
	line("")
	line("p50, p99, CPU/req: at the peak step. Start-up, memory, errors, cost: from start to stop.")
	if run.Profile.Rounds > 1 {
		line("Values: medians of the rounds. Latencies: all successes of all rounds.")
	}
	if slices.ContainsFunc(run.Profile.Steps, bench.Step.Open) {
		line("Steps with a rate or arrivals: latency counts from the scheduled time.")
	}
	if engines := bench.EngineWords(trials); engines != "" {
		line("Load engine: %s.", safe.Line(engines, 500))
	}
	if n := run.Profile.Rounds; n < stats.MinInterval {
		more := fmt.Sprintf("%d or more", stats.MinInterval)
		if run.Plain != nil && run.Plain.Reason == bench.PlainRounds {
			more = fmt.Sprintf("%d or more to interleave", stats.MinPaired)
		}
		line("%s: too few for a 95%% CI or a ranking. Use --rounds %s.", units.Plural(n, "round"), more)
	}
	for _, c := range contenders {
		if c.Cost != nil {
			line("%s: $%.2f per billion requests (start-up %.2f, warm-up %.2f, steady %.2f, other %.2f)"+
				" at $%g per vCPU-hour; steady state only: $%.2f",
				safe.Line(c.Label, 60), c.Cost.Total, c.Cost.StartUp, c.Cost.WarmUp, c.Cost.Steady, c.Cost.Other,
				run.Profile.PriceVCPUHr, c.Cost.Marginal)
		}
		if n := c.Checks[bench.CheckFailed]; n > 0 && c.Excluded == nil { // else its first line says it
			line("%s: %s failed", safe.Line(c.Label, 60), units.Plural(n, "check"))
		}
		compared(line, c)
		failures := c.Failures
		if c.FailedRounds > 0 && (c.Excluded == nil || c.Excluded.Cause != nil) {
			failures = failures[min(1, len(failures)):] // the first line about the contender says it
		}
		for _, f := range failures {
			line("%s: %s", safe.Line(c.Label, 60), safe.Line(f, 300))
		}
	}
	thresholds(line, trials)
	roundWarnings(standing, line)
}

// compared writes how many bodies of a contender were compared, and what "~" means if it is used.
func compared(line writer, c stats.Contender) {
	n, estimated := c.Compared()
	unread := c.Unread()
	if n == 0 && unread == 0 {
		return
	}
	text := ""
	if unread > 0 {
		text = "; " + units.Count(unread) + " were not looked at"
	}
	if estimated {
		text += "; error rates with ~ are estimates from these, weighted by requests"
	}
	line("%s: compared %s bodies with the expected ones%s", safe.Line(c.Label, 60), units.Count(n), text)
}

// maxFailures is how many kinds of failures the table lists per contender; the report has all.
const maxFailures = 8

// failures writes the kinds of failures by kind of request, with the first text of each.
func failures(line writer, c analysis.Contender) {
	all := c.Failures()
	for _, f := range all[:min(len(all), maxFailures)] {
		of := "all requests"
		if f.Request != "" {
			of = fmt.Sprintf("requests %q", safe.Line(f.Request, 60))
			if f.Session != "" {
				of += fmt.Sprintf(" in session %q", safe.Line(f.Session, 60))
			}
		}
		text := fmt.Sprintf("%s: %s of %s failed: %s × %s", safe.Line(c.Label, 60), units.Tenths(f.Share), of,
			units.Count(f.Count), safe.Line(f.Kind.Words(), 60))
		if f.Compared > 0 {
			text = fmt.Sprintf("%s: %s, of %s", safe.Line(c.Label, 60), bench.Unexpected{Count: f.Count, Compared: f.Compared}.Share(), of)
		}
		if f.First != "" {
			text += ", first: " + safe.Line(f.First, 300)
		}
		line("%s", text)
	}
	if more := len(all) - maxFailures; more > 0 {
		line("%s: %s in the report", safe.Line(c.Label, 60), units.Plural(more, "more kind"))
	}
}

// sessions writes how many sessions of a contender completed, and where the others failed.
func sessions(line writer, c analysis.Contender) {
	for _, s := range c.Sessions() {
		text := fmt.Sprintf("%s: session %q: %s started, %s completed", safe.Line(c.Label, 60), safe.Line(s.Name, 60),
			units.Count(s.Begun), units.Count(s.Completed))
		for _, request := range slices.Sorted(maps.Keys(s.Failed)) {
			text += fmt.Sprintf(", %s failed at %q", units.Count(s.Failed[request]), safe.Line(request, 60))
		}
		if s.Rejected > 0 {
			text += ", " + units.Count(s.Rejected) + " ended by a rejected response"
		}
		line("%s", text)
	}
}

// warnings writes the warnings of the run and of its contenders, each one once.
func warnings(line writer, run bench.Run, contenders []stats.Contender) {
	for _, w := range run.Warnings {
		line("warning: %s", safe.Line(w.Text, 500))
	}
	var said bench.Warnings
	for _, c := range contenders {
		for _, w := range c.Warnings {
			if said.Add(w) {
				line("warning: %s: %s", safe.Line(c.Label, 60), safe.Line(w.Text, 500))
			}
		}
	}
}

func errorCell(n int64, ratio float64, estimated bool) string {
	if n == 0 || ratio < 0.001 {
		return units.Count(n)
	}
	about := ""
	if estimated {
		about = "~"
	}
	return fmt.Sprintf("%s (%s%.1f%%)", units.Count(n), about, 100*ratio)
}
