package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// maxFailedChecks is how many failed checks summary.md lists; report.html has all.
const maxFailedChecks = 50

// Markdown writes summary.md, which a pull request can show: the verdict, the table, cost and
// failures, and the worst caveat; everything else is folded. report.html has the charts and every
// step.
func Markdown(w io.Writer, a *analysis.Run, opts Options) error {
	l := newLayout(a)
	d := newDocument(a, l, opts)
	var b bytes.Buffer
	markdownConclusion(&b, d.Title, d.Conclusion)
	b.WriteString("\n<details><summary>" + escape(d.Conclusion.About) + " · details · how to repeat</summary>\n")
	fmt.Fprintf(&b, "\nStarted %s%s. %s.\n", d.When, when(d.State != "", "; run "+escape(d.State)), escape(d.Conclusion.Confidence))
	part := func(title string, write func()) { // an empty one is left out
		before := b.Len()
		b.WriteString("\n## " + title + "\n\n")
		start := b.Len()
		if write(); b.Len() == start {
			b.Truncate(before)
		}
	}
	part("Failures", func() {
		for _, one := range d.MoreProblems {
			b.WriteString("- " + escape(sentence(one)) + "\n")
		}
		markdownFailures(&b, d.Failures)
	})
	for _, s := range d.Sections {
		b.WriteString("\n## " + escape(s.Title) + "\n\n" + s.Table.Markdown())
		for _, note := range s.Table.Footnotes {
			b.WriteString("\n" + escape(note) + "\n")
		}
	}
	part("Checks", func() { markdownChecks(&b, d.Checks) })
	part("Warnings", func() {
		for _, w := range d.Warnings {
			fmt.Fprintf(&b, "- %s%s\n", escape(w.Text), place(w.Place()))
		}
	})
	part("Environment", func() { markdownEnvironment(&b, d.Environment) })
	part("Repeat", func() { markdownReproduce(&b, d.Reproduce) })
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
			fmt.Fprintf(b, "\n%s below.\n", units.Plural(len(r.Problems)-i, "more failure"))
			break
		}
		b.WriteString("\n" + escape(sentence(one)) + "\n")
	}
	if len(r.Caveats) > 0 {
		b.WriteString("\n⚠ " + escape(r.Caveats[0].Text) + "\n")
	}
	for _, note := range r.Table.Footnotes {
		b.WriteString("\n" + escape(note) + "\n")
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

func markdownFailures(b *bytes.Buffer, all []failure) {
	for i, t := range all {
		fmt.Fprintf(b, "%s### %s: %s\n\n", when(i > 0, "\n"), escape(t.Trial), escape(t.State))
		for _, w := range t.What {
			fmt.Fprintf(b, "- %s\n", escape(w))
		}
		if len(t.LastLog) > 0 {
			mark := fence(t.LastLog)
			fmt.Fprintf(b, "\nIts log:\n\n%stext\n%s\n%s\n", mark, strings.Join(t.LastLog, "\n"), mark)
		}
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

func markdownChecks(b *bytes.Buffer, t checkResults) {
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

func place(where string) string { return when(where != "", " ("+escape(where)+")") }

// escape makes text plain in Markdown; see table.Escape.
func escape(s string) string { return table.Escape(s) }
