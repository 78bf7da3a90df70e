package plain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/table"
)

// How much of each kind the end of a run lists; the report has all.
const (
	maxCaveats = 3
	maxRows    = 20 // of a section
)

// ending writes the end of a run, wrapped at a width.
type ending struct {
	strings.Builder
	width int
}

func (b *ending) line(format string, args ...any) {
	b.WriteString(fit.Paragraph(fmt.Sprintf(format, args...), b.width, "  ") + "\n")
}

// list writes the first lines, and how many more the report has.
func (b *ending) list(lines []string, most int, noun string) {
	for _, text := range lines[:min(len(lines), most)] {
		b.line("%s", text)
	}
	if more := len(lines) - most; more > 0 {
		b.line("%s in the report", units.Plural(more, "more "+noun))
	}
}

// End writes the end of a run or of a search: the steps of some contenders, the verdict and how sure it is,
// the table of contenders, what failed, the worst caveats, and what to do next. If width is above 0, lines
// are wrapped and columns that do not fit are left out; report.html has everything.
func End(w io.Writer, r conclusion.Conclusion, width int, steps ...analysis.Contender) error {
	b := &ending{width: width}
	b.steps(steps)
	b.conclusion(r)
	_, err := io.WriteString(w, b.String())
	return err
}

// Page returns the lines of the end of a run, or of a run so far, for a page that scrolls: the verdict
// first, the steps of some contenders last. The first lines are the verdict.
func Page(r conclusion.Conclusion, width int, steps ...analysis.Contender) (lines []string, verdict int) {
	b := &ending{width: width}
	verdict = b.conclusion(r)
	if len(steps) > 0 && !strings.HasSuffix(b.String(), "\n\n") {
		b.WriteByte('\n')
	}
	b.steps(steps)
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n"), verdict
}

// conclusion writes all but the steps, and returns the lines of the verdict.
func (b *ending) conclusion(r conclusion.Conclusion) (verdict int) {
	b.line("%s", r.Verdict)
	verdict = strings.Count(b.String(), "\n")
	b.list(r.Why, len(r.Why), "")
	b.line("%s.", strings.TrimSuffix(r.Confidence, "."))
	b.evidence(r)
	var caveats []string
	for _, s := range r.Caveats {
		caveats = append(caveats, "! "+s.Text)
	}
	b.list(caveats, maxCaveats, "note")
	for _, s := range r.Sections {
		b.section(s.Title, s.Table)
	}
	if next := r.NextStep(); next != "" {
		b.line("%s", next)
	}
	return verdict
}

// section writes a table under its title, in lower-case letters as the others.
func (b *ending) section(title string, t table.Table) {
	t.Columns = slices.Clone(t.Columns)
	for i, c := range t.Columns {
		t.Columns[i].Title = strings.ToLower(c.Title)
	}
	more := len(t.Rows) - maxRows
	t.Rows = t.Rows[:min(len(t.Rows), maxRows)]
	b.WriteString("\n" + strings.ToLower(title) + "\n")
	b.table(t)
	if more > 0 {
		b.line("  %s in the report", units.Plural(more, "more line"))
	}
	b.WriteByte('\n')
}

func (b *ending) table(t table.Table) {
	for _, text := range t.Lines(b.width-2, nil) {
		b.WriteString("  " + text + "\n")
	}
}

// evidence writes what failed, the table and the cost.
func (b *ending) evidence(r conclusion.Conclusion) {
	for _, p := range r.Problems {
		b.problem(p)
	}
	if len(r.Table.Rows) > 0 && r.Kind != conclusion.Single { // the steps of one contender are above
		b.WriteString("\n" + r.Table.Text(b.width))
	}
	b.list(r.Table.Footnotes, len(r.Table.Footnotes), "")
	if len(r.Requests.Rows) > 0 {
		b.WriteString("\n" + r.Requests.Text(b.width))
		b.list(r.Requests.Footnotes, 1, "")
	}
	b.WriteByte('\n')
	b.line("cost: %s", r.Cost)
	if len(r.Problems) == 0 || !r.Failed {
		b.line("failures: %s", r.Failures)
	}
}

// problem writes what is wrong with a contender, the likely cause and what to do.
func (b *ending) problem(p conclusion.Problem) {
	mark, verb := "✗", " is excluded: it "
	if p.Warning {
		mark, verb = "!", ": "
	}
	b.line("%s %s%s%s", mark, p.Contender, verb, p.What)
	if p.Cause != "" {
		b.line("  likely cause: %s", p.Cause)
	}
	b.line("  %s", p.Remedy)
}

// steps writes the steps of contenders over their rounds.
func (b *ending) steps(all []analysis.Contender) {
	for _, c := range all {
		if len(c.Steps) == 0 {
			continue
		}
		s := conclusion.StepsOf(c)
		b.line("%s", s.Title)
		b.table(s.Table)
		for _, note := range s.Table.Footnotes {
			b.line("  %s", note)
		}
		b.WriteByte('\n')
	}
}
