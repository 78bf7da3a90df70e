package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/analysis/summary"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// maxFailedChecks is how many failed checks summary.md lists; report.html has all.
const maxFailedChecks = 50

// Markdown writes summary.md, which a pull request can show: the verdict, the table of contenders,
// cost and failures, and the worst caveat; everything else is folded. report.html has the charts and
// every step.
func Markdown(w io.Writer, a *analysis.Run, opts Options) error {
	if opts.Search != nil {
		return opts.Search.markdown(w)
	}
	l := newLayout(a)
	run := a.Run
	r := conclusion.Of(a, opts.Floor)
	var b bytes.Buffer
	markdownConclusion(&b, title(run, opts.Title), r)
	warned := warnings(a, l)
	for _, x := range warned {
		if x.Important {
			fmt.Fprintf(&b, "\n⚠ **%s**%s\n", escape(x.Text), place(x.Place()))
		}
	}
	facts := summary.New(a, opts.rules())
	b.WriteString("\n<details><summary>" + escape(r.About) + " · details · how to repeat</summary>\n")
	fmt.Fprintf(&b, "\n%s, %s; started %s; run %s. %s.\n", units.Plural(len(l.contenders), "contender"),
		units.Plural(len(l.columns), "trial"), instant(run.Started), escape(cleanText(run.OutcomeText())), escape(r.Confidence))
	markdownSummary(&b, summaryParts(facts))
	section(&b, "All results", func() { markdownTable(&b, newResults(run, l, facts, opts.Floor)) })
	if t := thresholds(run, l); len(t.Rows) > 0 {
		b.WriteString("\n## Thresholds\n\n")
		markdownTable(&b, t)
	}
	markdownFailures(&b, failures(l))
	for _, p := range procedures(l) {
		if !p.Late { // late ones have a column of sentences per contender, too wide for Markdown
			b.WriteString("\n## " + escape(p.Title) + "\n\n")
			markdownTable(&b, p.Table)
		}
	}
	section(&b, "Manual changes", func() { markdownManualChanges(&b, run, l) })
	section(&b, "Checks", func() { markdownChecks(&b, checks(l)) })
	section(&b, "Warnings", func() { markdownWarnings(&b, warned) })
	section(&b, "Environment", func() { markdownEnvironment(&b, environment(run, l)) })
	section(&b, "Repeat", func() { markdownReproduce(&b, newReproduction(run)) })
	b.WriteString("\n</details>\n")
	if _, err := safe.NewWriter(w, nil).Write(b.Bytes()); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// markdownConclusion writes what a pull request shows without a click.
func markdownConclusion(b *bytes.Buffer, title string, r conclusion.Conclusion) {
	mark := map[conclusion.Tone]string{conclusion.Good: "✓ ", conclusion.Bad: "✗ "}[r.Tone]
	fmt.Fprintf(b, "### %s%s: %s\n\n%s\n", mark, escape(title), escape(r.Verdict), r.Table.Markdown())
	line := "Cost: " + escape(r.Cost) + "."
	if len(r.Problems) == 0 {
		line += " Failures: " + escape(r.Failures) + "."
	}
	b.WriteString(line + "\n")
	for i, one := range r.Problems {
		if i == maxShown {
			fmt.Fprintf(b, "\n%s in the report.\n", units.Plural(len(r.Problems)-i, "more failure"))
			break
		}
		mark, verb := "✗", "is excluded: it "
		if one.Warning {
			mark, verb = "⚠", ""
		}
		fmt.Fprintf(b, "\n%s %s %s%s", mark, escape(one.Contender), verb, escape(one.What))
		if one.Cause != "" {
			b.WriteString("; likely cause: " + escape(one.Cause))
		}
		b.WriteString(". Remedy: " + escape(one.Remedy) + ".\n")
	}
	if len(r.Caveats) > 0 {
		b.WriteString("\n⚠ " + escape(r.Caveats[0].Text) + "\n")
	}
}

// section writes a part of the details under its title; an empty part is left out.
func section(b *bytes.Buffer, title string, write func()) {
	before := b.Len()
	b.WriteString("\n## " + escape(title) + "\n\n")
	start := b.Len()
	write()
	if b.Len() == start {
		b.Truncate(before)
	}
}

func markdownEnvironment(b *bytes.Buffer, groups []factGroup) {
	for i, g := range groups {
		if len(g.Facts) == 0 {
			continue
		}
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "%s:\n\n", g.Name)
		for _, f := range g.Facts {
			fmt.Fprintf(b, "- %s: %s\n", escape(f.Name), escape(f.Value))
		}
	}
}

// markdownTable writes a table and its notes.
func markdownTable(b *bytes.Buffer, t table.Table) {
	b.WriteString(cmp.Or(t.Markdown(), "No results.\n"))
	for _, n := range t.Footnotes {
		b.WriteString("\n" + escape(n) + "\n")
	}
}

func markdownFailures(b *bytes.Buffer, all []failure) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n## Failures\n")
	for _, t := range all {
		fmt.Fprintf(b, "\n### %s: %s\n\n", escape(t.Trial), escape(t.State))
		for _, w := range t.What {
			fmt.Fprintf(b, "- %s\n", escape(w))
		}
		if len(t.LastLog) > 0 {
			mark := fence(t.LastLog)
			fmt.Fprintf(b, "\nIts log:\n\n%stext\n%s\n%s\n", mark, strings.Join(t.LastLog, "\n"), mark)
		}
	}
}

func markdownManualChanges(b *bytes.Buffer, run bench.Run, l layout) {
	all, left := manualChanges(run, l)
	if len(all) == 0 {
		return
	}
	b.WriteString("Actions taken by hand during the run:\n\n")
	for _, i := range all {
		fmt.Fprintf(b, "- %s: %s%s\n", i.When, escape(i.What), place(i.Place()))
	}
	if left > 0 {
		fmt.Fprintf(b, "- and %s more\n", units.Count(int64(left)))
	}
}

// fence returns a code fence that none of the lines can close.
func fence(lines []string) string {
	longest := 0
	for ticks := range strings.FieldsFuncSeq(strings.Join(lines, "\n"), func(r rune) bool { return r != '`' }) {
		longest = max(longest, len(ticks))
	}
	return strings.Repeat("`", max(3, longest+1))
}

func markdownChecks(b *bytes.Buffer, t checkTable) {
	if !t.Any() {
		b.WriteString("No checks.\n")
		return
	}
	b.WriteString(t.Totals.Markdown())
	if len(t.Failed) > 0 {
		b.WriteString("\nFailed:\n\n")
	}
	for i, f := range t.Failed {
		if i == maxFailedChecks {
			fmt.Fprintf(b, "- and %s more, in report.html\n", units.Count(int64(len(t.Failed)-i)))
			break
		}
		fmt.Fprintf(b, "- %s: %s (%s)", escape(f.Group), escape(f.Name), escape(strings.Join(f.Trials, ", ")))
		for _, more := range []string{f.Request, f.Detail} {
			if more != "" {
				b.WriteString(": " + escape(more))
			}
		}
		b.WriteString("\n")
	}
}

func markdownWarnings(b *bytes.Buffer, all []warning) {
	for _, w := range all {
		if !w.Important { // important ones are at the top
			fmt.Fprintf(b, "- %s%s\n", escape(w.Text), place(w.Place()))
		}
	}
}

func place(where string) string { return when(where != "", " ("+escape(where)+")") }

// escape makes text plain in Markdown; see table.Escape.
func escape(s string) string { return table.Escape(s) }

type summaryPart struct {
	Title     string
	Class     string // class of the list, in words.css
	Folded    bool   // the page hides the sentences until a click
	Sentences []string
}

// hasBanner reports whether a rule of package summary repeats one of the important warnings.
func hasBanner(rule string) bool {
	return rule == "incomplete" || rule == "limits not enforced"
}

// summaryParts returns the sentences that the results support, the most important first.
func summaryParts(facts summary.Facts) []summaryPart {
	parts := []struct {
		summaryPart
		kinds []summary.Kind
	}{
		{summaryPart{Title: "Ranking", Class: "ranking"}, []summary.Kind{summary.Ranking, summary.Open}},
		{summaryPart{Title: "Failures", Class: "failures"}, []summary.Kind{summary.Failure}},
		{summaryPart{Title: "Bottlenecks", Class: "bottlenecks", Folded: true}, []summary.Kind{summary.Bound}},
		{summaryPart{Title: "Caveats", Class: "caveats", Folded: true}, []summary.Kind{summary.Caveat}},
	}
	for _, s := range facts.Sentences() {
		if hasBanner(s.Rule) {
			continue
		}
		for i := range parts {
			if slices.Contains(parts[i].kinds, s.Kind) {
				parts[i].Sentences = append(parts[i].Sentences, cleanText(s.Text))
			}
		}
	}
	var all []summaryPart
	for _, p := range parts {
		if len(p.Sentences) > 0 {
			all = append(all, p.summaryPart)
		}
	}
	return all
}

func markdownSummary(b *bytes.Buffer, all []summaryPart) {
	for _, s := range all {
		b.WriteString("\n**" + s.Title + "**\n\n")
		for _, text := range s.Sentences {
			b.WriteString("- " + escape(text) + "\n")
		}
	}
}
