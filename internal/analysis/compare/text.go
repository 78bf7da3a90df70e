package compare

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// narrow is the width in cells below which the text has measures and verdicts only, without the
// values of both sides and the steps.
const narrow = 60

// maxKinds is how many kinds of requests the text has; the report has all.
const maxKinds = 10

// Text writes the result as text: a table per contender, then caveats, in lines of at most width
// cells where possible; 0: no limit. Labels and all other text from files are made safe for a
// terminal.
func (r Result) Text(w io.Writer, width int) error {
	_, err := io.WriteString(w, strings.Join(r.lines(width, nil, true), "\n")+"\n")
	return err
}

// Lines returns the lines of Text for a place that has the headline already; paint gives a text the
// look of its tone, nil: none.
func (r Result) Lines(width int, paint func(table.Tone, string) string) []string {
	return r.lines(width, paint, false)
}

func (r Result) lines(width int, paint func(table.Tone, string) string, first bool) (lines []string) {
	if paint == nil {
		paint = func(_ table.Tone, s string) string { return s }
	}
	say := func(indent string, texts ...string) {
		for _, text := range slices.DeleteFunc(texts, func(s string) bool { return s == "" }) {
			for line := range strings.SplitSeq(fit.Paragraph(indent+safe.Line(text, 1000), width, "  "), "\n") {
				lines = append(lines, paint(table.Plain, line))
			}
		}
	}
	if texts := differing(r.Differences); len(texts) > 0 {
		say("", "The runs differ:")
		say("  ", texts...)
		lines = append(lines, "")
	}
	for _, c := range r.Contenders {
		if headline, _ := c.Headline(); first {
			say("", headline)
		}
		if c.Subject != c.limits {
			say("", c.Subject)
		}
		say("", c.Why()...)
		say("", fmt.Sprintf("%s   %s", c.name(), c.rounds()))
		t := c.table(c.Rows, "old", "new")
		if width > 0 && width < narrow { // the verdicts say how much has changed
			t = t.Without("old").Without("new")
			for i, row := range c.Rows {
				t.Rows[i].Cells[0].Text = measure.Get(row.Measure).Comparison.Head
			}
		}
		for _, line := range t.Lines(width-2, paint) {
			lines = append(lines, "  "+line)
		}
		if t := c.RequestTable(maxKinds); len(t.Rows) > 0 {
			lines = append(lines, "")
			for _, line := range t.Lines(width-2, paint) {
				lines = append(lines, "  "+line)
			}
			say("  ", t.Footnotes...)
		}
		say("  ", c.remarks()...)
		lines = append(lines, "")
	}
	say("", r.remarks()...)
	return lines
}

// Markdown writes the result for a pull request: of each contender the verdict, what changed, and
// the cost, the gates and the checks in a line; everything else is folded.
func (r Result) Markdown(w io.Writer, gates []GateResult) error {
	var b strings.Builder
	for i, c := range r.Contenders {
		before, after := "old", "new"
		if c.Old != c.New {
			before, after = c.Old, c.New
		}
		var changed, rest []Row
		for _, row := range c.Rows {
			if row.Verdict == stats.Better || row.Verdict == stats.Worse {
				changed = append(changed, row)
			} else {
				rest = append(rest, row)
			}
		}
		headline, _ := c.Headline()
		fmt.Fprintf(&b, "### %s\n\n", table.Escape(headline))
		for _, line := range append(c.excludedSides(), c.Why()...) {
			b.WriteString(table.Escape(line) + "\n\n")
		}
		noun := "measure"
		if len(changed) > 0 {
			noun = "more measure"
			b.WriteString(c.table(changed, before, after).Markdown() + "\n")
		}
		fmt.Fprintf(&b, "%s\n\n<details><summary>%s · %s</summary>\n\n%s\n", c.costs(gates), units.Plural(len(rest), noun),
			c.rounds(), c.table(rest, before, after).Markdown())
		if t := c.RequestTable(maxKinds); len(t.Rows) > 0 {
			b.WriteString(t.Markdown() + "\n")
		}
		lines := append([]string{c.Subject}, c.remarks()...)
		if i == len(r.Contenders)-1 {
			lines = slices.Concat(lines, differing(r.Differences), r.remarks())
		}
		for _, line := range lines {
			if line != "" {
				b.WriteString("- " + table.Escape(safe.Line(line, 1000)) + "\n")
			}
		}
		b.WriteString("\n</details>\n\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Changes says what changed from the old side to the new one: the first significant changes in the
// order of the measures, and whether throughput is known. It is Good, Bad, or Plain without a
// verdict; "" if nothing has a change.
func (c Contender) Changes() (text string, tone table.Tone) {
	var parts []changedRow
	var open []string
	same, throughput := 0, ""
	tone = table.Good
	for _, r := range c.Rows {
		m := measure.Get(r.Measure)
		if m.Comparison.Apart || m.Comparison.Own || r.NotComparable != "" || r.P == nil || r.silent == [2]bool{true, true} {
			continue
		}
		switch r.Verdict {
		case stats.Worse, stats.Better:
			if r.Verdict == stats.Worse {
				tone = table.Bad
			}
			parts = append(parts, changedRow{r, m})
			continue
		case stats.Same:
			same++
		default:
			open = append(open, m.Comparison.Title)
		}
		if m.ID == measure.Throughput {
			throughput = "; " + m.Comparison.Title + " " + r.Verdict.String()
		}
	}
	before, name := safe.Line(c.Old, 60), safe.Line(c.New, 60)
	if before == name {
		before = "the old " + name
	}
	if nothing := c.nothing(before, name); nothing != "" {
		return nothing + throughput + ".", table.Bad
	}
	switch {
	case len(parts) > 0:
		return name + ": " + inOrder(parts) + throughput + ".", tone
	case len(open) > 0:
		text = fmt.Sprintf("No significant change from %s to %s; inconclusive: %s.", before, name, strings.Join(open, ", "))
		return text, table.Plain
	case same > 0:
		return fmt.Sprintf("%s is the same as %s in all %s.", name, before, units.Plural(same, "measure")), table.Good
	}
	return "", table.Plain
}

// changedRow is a significant change of a measure.
type changedRow struct {
	Row
	m measure.Measure
}

// weight is 2 for a change for the worse by several times, 1 for another one for the worse.
func (c changedRow) weight() int {
	switch {
	case c.Verdict != stats.Worse:
		return 0
	case c.Ratio == nil, max(c.Ratio.Estimate, 1/c.Ratio.Estimate) >= stats.SeveralTimes:
		return 2
	}
	return 1
}

// inOrder returns the changes in words, what is worse first: of many the first, those that are worse
// by several times, and throughput, with the number of the rest.
func inOrder(all []changedRow) string {
	slices.SortStableFunc(all, func(a, b changedRow) int { return cmp.Compare(b.weight(), a.weight()) })
	var said []string
	for i, c := range all {
		if i == 0 || len(all) == 2 || c.weight() == 2 || c.Measure == measure.Throughput {
			said = append(said, c.said(c.m, i == 0)+", "+c.Verdict.String())
		}
	}
	if more := len(all) - len(said); more > 0 {
		said = append(said, units.Plural(more, "more change"))
	}
	return strings.Join(said, "; ")
}

// nothing says that nothing succeeded in the new version, where that has no verdict: too few rounds,
// or nothing succeeded in the old one either; "" otherwise.
func (c Contender) nothing(before, name string) string {
	i := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Measure == measure.Throughput })
	if i < 0 || !c.Rows[i].silent[1] || c.Rows[i].NotComparable != "" {
		return ""
	}
	switch r := c.Rows[i]; {
	case r.silent[0]:
		return "Nothing succeeded in " + before + " and in " + name
	case r.Verdict != stats.Worse:
		return fmt.Sprintf("%s: nothing succeeded, %s in %s", name, r.Old.Text(measure.Get(r.Measure).Unit), before)
	}
	return ""
}

// Title returns the measure with its step: "p99, 4 connections (50% of peak)".
func (r Row) Title() string {
	return joined(", ", measure.Get(r.Measure).Comparison.Title, safe.Line(r.At, 60))
}

// said returns changed or, where a value is 0, "peak throughput 19.0/s → 0/s, nothing succeeded".
func (r Row) said(m measure.Measure, interval bool) string {
	if r.Ratio == nil {
		text := long(m) + " " + strings.Replace(r.changed, ": ", ", ", 1)
		if r.silent[1] {
			text = strings.TrimSuffix(text, " in new")
		}
		return text
	}
	return changed(m, *r.Ratio, interval)
}

// changed returns "CPU per request 13.6% higher (8.3% to 20.1%)", with or without the CI.
func changed(m measure.Measure, r stats.Ratio, interval bool) string {
	low, high := r.Low, r.High
	if r.Estimate < 1 {
		low, high = high, low
	}
	text, in := long(m)+" "+size(r), fmt.Sprintf(" (%s to %s)", percent(low), percent(high))
	if times(r) {
		in = fmt.Sprintf(" (%.3g to %.3g)", r.Low, r.High)
	}
	if !interval {
		return text
	}
	return text + in
}

func percent(ratio float64) string { return fmt.Sprintf("%.1f%%", 100*math.Abs(ratio-1)) }

// times reports whether a change is said as a factor.
func times(r stats.Ratio) bool { return r.Estimate >= 2 || r.Estimate <= .5 }

// size returns "13.6% higher" or "×2.6".
func size(r stats.Ratio) string {
	switch {
	case times(r):
		return fmt.Sprintf("×%.3g", r.Estimate)
	case r.Estimate < 1:
		return percent(r.Estimate) + " lower"
	}
	return percent(r.Estimate) + " higher"
}

// name returns the labels of both sides: "a → b"; one if they are the same.
func (c Contender) name() string {
	if c.Old == c.New {
		return safe.Line(c.New, 200)
	}
	return safe.Line(c.Old+" → "+c.New, 200)
}

func (c Contender) rounds() string {
	return units.Plural(c.OldTrials.Seen, "round") + " → " + units.Plural(c.NewTrials.Seen, "round")
}

// table returns a row for each measure, with the medians of both sides.
func (c Contender) table(rows []Row, before, after string) table.Table {
	t := table.Table{Columns: []table.Column{{Title: "measure", Left: true}, {Title: safe.Line(before, 60)},
		{Title: safe.Line(after, 60)}, {Title: "verdict", Left: true, Wrap: true}}}
	for _, r := range rows {
		m := measure.Get(r.Measure)
		row := t.Add(r.Title(), r.Old.Text(m.Unit), r.New.Text(m.Unit),
			safe.Line(r.Sentence, 200))
		row.Cells[3].Tone = map[stats.Verdict]table.Tone{stats.Better: table.Good, stats.Worse: table.Bad}[r.Verdict]
	}
	return t
}

// costs returns cost and checks of the new side, with those of the old one, and the gates.
func (c Contender) costs(gates []GateResult) string {
	var cost, checks [2]string
	known, checked := false, 0
	for i, side := range c.sides {
		cost[i] = units.Missing
		if side.Cost != nil && !c.excluded {
			cost[i], known = units.Dollars(side.Cost.Total), true
		}
		passed, failed := side.Checks[bench.CheckPassed], side.Checks[bench.CheckFailed]
		checks[i], checked = fmt.Sprintf("%d of %d", passed, passed+failed), checked+passed+failed
	}
	var parts []string
	if known {
		parts = append(parts, table.Escape(fmt.Sprintf("Cost: %s per billion requests, %s before.", cost[1], cost[0])))
	}
	if checked > 0 {
		parts = append(parts, fmt.Sprintf("Checks: %s, %s before.", checks[1], checks[0]))
	}
	for _, g := range gates {
		if g.Contender == c.New {
			parts = append(parts, fmt.Sprintf("Gate `%s`: %s.", g.Gate, g.Outcome))
		}
	}
	return strings.Join(parts, " ")
}

// excludedSides says which sides are excluded, and why.
func (c Contender) excludedSides() (lines []string) {
	for i, side := range c.sides {
		if why := side.WhyExcluded(); why != "" {
			lines = append(lines, c.side(i)+" is excluded: it "+why)
		}
	}
	return lines
}

// remarks returns the caveats of a contender.
func (c Contender) remarks() (lines []string) {
	for _, row := range c.Rows {
		for _, w := range row.Warnings {
			lines = append(lines, string(row.Measure)+": "+safe.Line(w.String(), 300))
		}
	}
	if c.Settle != "" {
		lines = append(lines, c.Settle)
	}
	for _, note := range c.Notes {
		lines = append(lines, safe.Line(note.String(), 300))
	}
	return append(lines, differing(c.Differences)...)
}

func differing(all []Difference) (lines []string) {
	for _, d := range all {
		d.Old, d.New = safe.Line(d.Old, 120), safe.Line(d.New, 120)
		text := d.String()
		if d.Weight == Incomparable {
			text += ": not comparable"
			if d.What == limitsSet || d.What == limitsInUse {
				text += ". Put both in one run (`contenders: [NAME, {NAME: {cpus: 0.5, as: half}}]` in its profile), " +
					"or use 'locbench capacity --limits', or --force"
			}
		}
		lines = append(lines, text)
	}
	return lines
}

// remarks returns the caveats of the whole comparison, and how it was made.
func (r Result) remarks() (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for i, labels := range [][]string{r.OnlyOld, r.OnlyNew} {
		if len(labels) > 0 {
			add("Only in %s: %s", sides[i], list(labels))
		}
	}
	for _, w := range r.Warnings {
		add("%s", safe.Line(w.String(), 300))
	}
	switch {
	case r.Floor != nil:
		add("Noise floor: %s. Less is inconclusive.", r.Floor.Words())
	case r.RuleFloor > 0:
		add("Changes below %.3g%% are inconclusive.", 100*r.RuleFloor)
	default:
		add("No noise floor is known for this machine and load. Measure it: 'locbench calibrate' with the same options.")
	}
	if r.Margin > 0 {
		add("Same: within %.3g%% here (--same); the final table and the report of a run use %g%%.",
			100*r.Margin, 100*stats.DefaultMargin)
	}
	if r.TwoRuns {
		add("These are two separate runs: changes of the machine in between are part of the result.")
		add("For close calls put both in one run, then: locbench compare DIR CONTENDER CONTENDER.")
	}
	how := "Mann-Whitney, Hodges-Lehmann"
	paired := func(row Row) bool { return row.Paired }
	if slices.ContainsFunc(r.Contenders, func(c Contender) bool { return slices.ContainsFunc(c.Rows, paired) }) {
		add("Interleaved run: rounds are compared in pairs, which cancels machine noise.")
		how = "signed ranks, Hodges-Lehmann"
	}
	add("Medians of the rounds, latency of all their requests, the highest peak memory; change: new vs old with 95%% CI (%s), "+
		"estimated from all pairs of rounds, so it may differ from the ratio of the two medians; p Holm-corrected.", how)
	return lines
}
