package plain

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// maxCaveats is how many caveats the end of a run has; the report has all.
const maxCaveats = 3

// End writes the end of a run: the steps of each contender unless shown says that they have just
// been printed, the verdict and how sure it is, the table of contenders, what failed, the worst
// caveats, and what to do next. If width is above 0, lines are wrapped and columns that do not fit
// are left out; report.html has everything. floor is the noise floor of the machine, nil if
// unknown.
func End(w io.Writer, a *analysis.Run, floor *compare.Floor, width int, shown bool) error {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(fit.Paragraph(fmt.Sprintf(format, args...), width, "  ") + "\n")
	}
	if !shown {
		for _, c := range a.Ordered() {
			steps(&b, line, c, width)
		}
	}
	r := conclusion.Of(a, floor)
	line("%s", r.Verdict)
	line("%s.", strings.TrimSuffix(r.Confidence, "."))
	if a.Run.AcceptFailedChecks {
		line("Failed checks were accepted (--accept-failed-checks): responses may be wrong.")
	}
	evidence(&b, line, r, width)
	for _, c := range a.Ordered() {
		if c.Excluded == nil || c.Excluded.Cause == nil { // else they are symptoms
			failures(line, c)
		}
		sessions(line, c)
	}
	thresholds(line, a.Trials)
	caveats(line, r)
	_, err := io.WriteString(w, b.String())
	return err
}

// Conclusion writes the end of a search for capacity, as End.
func Conclusion(w io.Writer, r conclusion.Conclusion, width int) error {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(fit.Paragraph(fmt.Sprintf(format, args...), width, "  ") + "\n")
	}
	line("%s", r.Verdict)
	line("%s.", strings.TrimSuffix(r.Confidence, "."))
	evidence(&b, line, r, width)
	caveats(line, r)
	_, err := io.WriteString(w, b.String())
	return err
}

// evidence writes what failed, the table and the cost.
func evidence(b *strings.Builder, line writer, r conclusion.Conclusion, width int) {
	for _, p := range r.Problems {
		problem(line, p)
	}
	if len(r.Table.Rows) > 0 && r.Kind != conclusion.Single { // the steps of one contender are above
		b.WriteString("\n" + r.Table.Text(width))
	}
	for _, note := range r.Table.Footnotes {
		line("%s", note)
	}
	b.WriteByte('\n')
	line("cost: %s", r.Cost)
	if len(r.Problems) == 0 || !r.Failed {
		line("failures: %s", r.Failures)
	}
}

// caveats writes the worst caveats, and what to do next.
func caveats(line writer, r conclusion.Conclusion) {
	for _, s := range r.Caveats[:min(len(r.Caveats), maxCaveats)] {
		line("! %s", s.Text)
	}
	if more := len(r.Caveats) - maxCaveats; more > 0 {
		line("%s in the report", units.Plural(more, "more note"))
	}
	remedy := func(p conclusion.Problem) bool { return strings.Contains(p.Remedy, r.Command) }
	if r.Command != "" && !slices.ContainsFunc(r.Problems, remedy) {
		line("%s: %s", r.Next, r.Command)
	}
}

// problem writes what is wrong with a contender, the likely cause and what to do.
func problem(line writer, p conclusion.Problem) {
	mark, verb := "✗", " is excluded: it "
	if p.Warning {
		mark, verb = "!", ": "
	}
	line("%s %s%s%s", mark, p.Contender, verb, p.What)
	if p.Cause != "" {
		line("  likely cause: %s", p.Cause)
	}
	line("  %s", p.Remedy)
}

// steps writes the steps of a contender over its rounds.
func steps(b *strings.Builder, line writer, c analysis.Contender, width int) {
	if len(c.Steps) == 0 {
		return
	}
	line("%s", safe.Line(strings.TrimSpace(c.Label+" "+c.Under()), 160))
	measures := slices.DeleteFunc(measure.View(measure.TextSteps), func(m measure.Shown) bool {
		return m.Optional && !slices.ContainsFunc(c.Steps, func(s stats.Step) bool { return m.Over(s).Known })
	})
	t := table.Table{Columns: []table.Column{{Title: "step", Left: true}}}
	for _, m := range measures {
		t.Columns = append(t.Columns, table.Column{Title: m.Head, Drop: m.Drop})
	}
	t.Columns = append(t.Columns, table.Column{Title: "bound by", Drop: 1})
	for _, s := range c.Steps {
		name := s.Step.Title()
		if drift := s.DriftWords(); drift != "" {
			name += " (" + drift + ")"
		}
		cells := []string{safe.Line(name, 60)}
		for _, m := range measures {
			if m.ID == measure.Errors {
				cells = append(cells, errorCell(s.FailedTotal(), s.ErrorRate(), s.ErrorRateIsEstimate()))
			} else {
				cells = append(cells, m.Text(m.Over(s)))
			}
		}
		bound := c.Bounds[s.Index]
		if s.Failed[bench.ErrWrong] > 0 && s.Excluded { // what limited unexpected responses says nothing
			bound = verdict.Summary{}
		}
		t.Add(append(cells, boundBy(bound))...)
	}
	for _, text := range t.Lines(width-2, nil) {
		b.WriteString("  " + text + "\n")
	}
	for _, s := range c.Steps {
		if n := s.Failed[bench.ErrWrong]; n > 0 {
			line("  %s: %s", safe.Line(s.Step.Title(), 60), bench.Unexpected{Count: n, Compared: s.Compared}.Share())
		}
		if text := s.StatusWords(); text != "" {
			line("  %s: %s", safe.Line(s.Step.Title(), 60), text)
		}
	}
	if peak, ok := c.PeakStep(); ok {
		if s := c.Bounds[peak.Index]; s.Bound == verdict.Unclear {
			line("  at peak: %s", s.Words())
		} else if s.Bound != "" {
			line("  at peak: %s", s.Verdict.String())
		}
	}
	b.WriteByte('\n')
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

// writer writes a line and wraps it.
type writer func(format string, args ...any)

// maxMissed is how many missed thresholds the end of a run lists; the report has all.
const maxMissed = 20

// missedText returns "p99 is 71.2ms, not <50ms; stopped the trial".
func missedText(r bench.ThresholdResult) string {
	if r.Stopped != "" {
		return r.Text + "; stopped the " + string(r.Stopped)
	}
	return r.Text
}

// thresholds writes how many thresholds were checked, and which were missed.
func thresholds(line writer, trials []bench.TrialResult) {
	checked := 0
	var missed []string
	for _, trial := range trials {
		for _, s := range trial.Steps {
			checked += len(s.Thresholds)
			for _, r := range s.Missed() {
				missed = append(missed, fmt.Sprintf("missed: %s, step %d (%s): %s",
					trial.Trial, s.Index+1, safe.Line(s.Step.Name, 60), safe.Line(missedText(r), 300)))
			}
		}
	}
	if checked == 0 {
		return
	}
	line("thresholds: %d of %d missed", len(missed), checked)
	for _, text := range missed[:min(len(missed), maxMissed)] {
		line("%s", text)
	}
	if more := len(missed) - maxMissed; more > 0 {
		line("%d more in the report", more)
	}
}

// maxFailures is how many kinds of failures are listed per contender; the report has all.
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
