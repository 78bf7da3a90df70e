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
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// maxFailedChecks is how many failed checks summary.md lists; report.html has all.
const maxFailedChecks = 50

// maxSummary is how many bytes summary.md has at most: comments of pull requests hold 65,536 letters,
// and others add to it.
const maxSummary = 60_000

// Markdown writes summary.md, which a pull request can show: the verdict, the table, cost and
// failures, and the worst caveat; everything else is folded. report.html has the charts and every
// step. What does not fit is left out, and said.
func Markdown(w io.Writer, a *analysis.Run, opts Options) error {
	l := newLayout(a)
	d := newDocument(a, l, opts)
	var head bytes.Buffer
	markdownConclusion(&head, d.Title, d.Conclusion)
	parts := []*part{newPart("", func(b *bytes.Buffer) { b.Write(head.Bytes()) })}
	folded := "\n<details><summary>" + escape(d.Conclusion.About) + " · details · how to repeat</summary>\n" +
		fmt.Sprintf("\nStarted %s%s. %s.\n", d.When, when(d.State != "", "; run "+escape(d.State)), escape(d.Conclusion.Confidence))
	add := func(title string, write func(*bytes.Buffer)) { parts = append(parts, newPart(title, write)) }
	add("Failures", func(b *bytes.Buffer) {
		for _, one := range d.MoreProblems {
			b.WriteString("- " + escape(sentence(one)) + "\n")
		}
		markdownFailures(b, d.Failures)
	})
	for _, s := range d.Sections {
		add(s.Title, func(b *bytes.Buffer) {
			b.WriteString(s.Table.Markdown())
			for _, note := range s.Table.Footnotes {
				b.WriteString("\n" + escape(note) + "\n")
			}
		})
	}
	add("Checks", func(b *bytes.Buffer) { markdownChecks(b, d.Checks) })
	add("Warnings", func(b *bytes.Buffer) {
		for _, w := range d.Warnings {
			fmt.Fprintf(b, "- %s%s\n", escape(w.Text), place(w.Place()))
		}
	})
	add("Environment", func(b *bytes.Buffer) { markdownEnvironment(b, d.Environment) })
	add("Repeat", func(b *bytes.Buffer) { markdownReproduce(b, d.Reproduce) })

	left := fit(parts, maxSummary-len(safe.Text(folded)))
	text := parts[0].text + safe.Text(folded)
	for _, p := range parts[1:] {
		text += p.text
	}
	if _, err := io.WriteString(w, text+"\n</details>\n"+left); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// part is a part of summary.md.
type part struct{ title, text string }

// newPart returns what write writes, below its title. The first part has no title, and an empty one
// is left out.
func newPart(title string, write func(*bytes.Buffer)) *part {
	var b bytes.Buffer
	write(&b)
	p := &part{title: title, text: safe.Text(b.String())}
	if title != "" && p.text != "" {
		p.text = "\n## " + safe.Text(escape(title)) + "\n\n" + p.text
	}
	return p
}

// forEnd is how many bytes the end of the file needs at most, with what was left out.
const forEnd = 4000

// fit shortens parts to a number of bytes, and returns what it left out. Parts keep their order, and
// get up to half of the room that is left by importance: logs and tables of thousands of lines leave
// some for warnings and for how to repeat the run.
func fit(parts []*part, most int) (left string) {
	size := 0
	for _, p := range parts {
		size += len(p.text)
	}
	if size+len("\n</details>\n") <= most {
		return ""
	}
	room := most - forEnd
	rank := map[string]int{"": -4, "Failures": -3, "Warnings": -2, "Repeat": -1, "Environment": 1} // the others: 0
	ranked := slices.Clone(parts)
	slices.SortStableFunc(ranked, func(a, b *part) int { return cmp.Compare(rank[a.title], rank[b.title]) })
	var texts []string
	for _, p := range ranked {
		share := room
		if p.title != "" {
			share /= 2
		}
		if len(p.text) > share {
			all := strings.Count(p.text, "\n")
			p.text = firstLines(p.text, share)
			texts = append(texts, fmt.Sprintf("%s (%s of %s)", cmp.Or(escape(p.title), "the beginning"), units.Count(int64(all-strings.Count(p.text, "\n"))),
				units.Plural(all, "line")))
		}
		room -= len(p.text)
	}
	left = safe.Text(strings.Join(texts, ", "))
	if len(left) > forEnd/2 {
		left = strings.ToValidUTF8(left[:forEnd/2], "") + " …"
	}
	return "\nLeft out here, most important first, as this file has " + units.Count(maxSummary) + " bytes at most: " + left +
		". report.html has all of it.\n"
}

// firstLines returns the first whole lines of text, with the end of a code fence that they open.
func firstLines(text string, most int) string {
	kept, end := 0, ""
	for line := range strings.Lines(text) {
		fenced := end
		if ticks := len(line) - len(strings.TrimLeft(line, "`")); ticks >= 3 {
			switch mark := line[:ticks] + "\n"; {
			case end == "":
				fenced = mark
			case line == end:
				fenced = ""
			}
		}
		if kept+len(line)+len(fenced) > most {
			break
		}
		kept, end = kept+len(line), fenced
	}
	return text[:kept] + end
}

// markdownConclusion writes what a pull request shows without a click.
func markdownConclusion(b *bytes.Buffer, title string, r conclusion.Conclusion) {
	mark := map[conclusion.Tone]string{conclusion.Good: "✓ ", conclusion.Bad: "✗ "}[r.Tone]
	fmt.Fprintf(b, "### %s%s: %s\n\n", mark, escape(title), escape(r.Verdict))
	for _, line := range r.Why {
		b.WriteString(escape(line) + "\n\n")
	}
	b.WriteString(r.Table.Markdown() + "\n")
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
