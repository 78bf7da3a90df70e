package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/summary"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
)

// maxFailedChecks is how many failed checks summary.md lists; report.html has all.
const maxFailedChecks = 50

// Markdown writes summary.md, for pull requests: the summary in words, two small tables of results,
// thresholds, failures and the tables of procedures; then, folded, manual changes, checks,
// warnings, the environment and how to reproduce the run. report.html has the charts and every
// step.
func Markdown(w io.Writer, a *analysis.Run, opts Options) error {
	l := newLayout(a)
	run := a.Run
	facts := summary.New(a, opts.rules())
	var b bytes.Buffer
	warned := warnings(a, l)
	fmt.Fprintf(&b, "# %s\n\n", escape(title(run, opts.Title)))
	fmt.Fprintf(&b, "%s, %s; started %s; run %s.\n", units.Plural(len(l.contenders), "contender"),
		units.Plural(len(l.columns), "trial"), instant(run.Started), escape(cleanText(run.OutcomeText())))
	for _, x := range warned {
		if x.Important {
			fmt.Fprintf(&b, "\n**%s**%s\n", escape(x.Text), place(x.Place()))
		}
	}
	markdownSummary(&b, summaryParts(facts))
	markdownResults(&b, l, facts, newResults(run, l, facts, opts.Floor).Footnotes)
	markdownThresholds(&b, thresholds(run, l))
	markdownFailures(&b, failures(l))
	for _, p := range procedures(l) {
		if !p.Late { // late ones have a column of sentences per contender, too wide for Markdown
			b.WriteString("\n## " + escape(p.Title) + "\n\n")
			markdownTable(&b, p.Table)
		}
	}
	folded(&b, "Manual changes", func() { markdownManualChanges(&b, run, l) })
	folded(&b, "Checks", func() { markdownChecks(&b, checks(l)) })
	folded(&b, "Warnings", func() { markdownWarnings(&b, warned) })
	folded(&b, "Environment", func() { markdownEnvironment(&b, environment(run, l)) })
	folded(&b, "Reproduce", func() { markdownReproduce(&b, newReproduction(run)) })
	b.WriteString("\nCharts and definitions: report.html. Exact values: the JSON files next to it.\n")
	if _, err := safe.NewWriter(w, nil).Write(b.Bytes()); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// folded writes a part of the summary under its title, folded; an empty part is left out.
func folded(b *bytes.Buffer, title string, write func()) {
	before := b.Len()
	b.WriteString("\n<details><summary>" + escape(title) + "</summary>\n\n")
	start := b.Len()
	write()
	if b.Len() == start {
		b.Truncate(before)
		return
	}
	b.WriteString("\n</details>\n")
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

// markdownRows writes a table of escaped cells; rule aligns the columns after the first.
func markdownRows(b *bytes.Buffer, rule string, head []string, rows [][]string) {
	b.WriteString("| " + strings.Join(head, " | ") + " |\n|---|" + strings.Repeat(rule+"|", len(head)-1) + "\n")
	for _, r := range rows {
		b.WriteString("| " + strings.Join(r, " | ") + " |\n")
	}
}

func markdownTable(b *bytes.Buffer, t table) {
	if len(t.Rows) == 0 {
		b.WriteString("No results.\n")
		return
	}
	head := []string{cmp.Or(t.Corner, "Contender")}
	for _, c := range t.Columns {
		head = append(head, escape(c))
	}
	var rows [][]string
	for _, r := range t.Rows {
		row := []string{escape(r.Label)}
		for _, c := range r.Cells {
			row = append(row, escape(c.Main)+place(strings.Join(c.Small, ", ")))
		}
		rows = append(rows, row)
	}
	markdownRows(b, "---:", head, rows)
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
		fmt.Fprintf(b, "- and %s more\n", count(int64(left)))
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
	var rows [][]string
	for _, c := range t.Totals {
		rows = append(rows, []string{escape(c.Trial), strconv.Itoa(c.Passed), strconv.Itoa(c.Failed),
			strconv.Itoa(c.Skipped)})
	}
	markdownRows(b, "---:", []string{"Trial", "Passed", "Failed", "Skipped"}, rows)
	if len(t.Failed) > 0 {
		b.WriteString("\nFailed:\n\n")
	}
	for i, f := range t.Failed {
		if i == maxFailedChecks {
			fmt.Fprintf(b, "- and %s more, in report.html\n", count(int64(len(t.Failed)-i)))
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

// markdownResults writes the results as two tables that fit into a pull request: under load, and
// from start to stop. notes are the footnotes of the page's table.
func markdownResults(b *bytes.Buffer, l layout, facts summary.Facts, notes []string) {
	b.WriteString("\n## Results\n\n")
	if len(l.contenders) == 0 {
		b.WriteString("No results.\n")
		return
	}
	loaded, whole := l.shown(measure.MarkdownLoad), l.shown(measure.MarkdownStartToStop)
	load := table{Columns: slices.Concat([]string{"Tier", "Peak", "95% CI", "At"}, titles(loaded))}
	lifetime := table{Columns: slices.Concat(titles(whole), []string{"start-up", "warm-up", "steady", "Checks",
		"Rounds"})}
	tiers, _ := tiersOf(facts)
	for _, c := range l.contenders {
		s, label := c.of.Contender, strings.TrimSpace(c.Label+" "+c.of.Under())
		first := []cell{tierCell(tiers[s.Label]), peakCell(s, nil), intervalCell(s), atCell(s)}
		cost := cmp.Or(s.Cost, &stats.Cost{})
		last := []cell{shownIf(s.Cost != nil, dollars(cost.StartUp)), shownIf(s.Cost != nil, dollars(cost.WarmUp)),
			shownIf(s.Cost != nil, dollars(cost.Steady)), checksCell(s), trialsCell(s)}
		load.Rows = append(load.Rows, tableRow{Label: label, Cells: bare(slices.Concat(first, measureCells(loaded, s)))})
		last = bare(slices.Concat(measureCells(whole, s), last))
		lifetime.Rows = append(lifetime.Rows, tableRow{Label: label, Cells: last})
	}
	markdownTable(b, load)
	b.WriteString("\n")
	markdownTable(b, lifetime)
	folded(b, "About the columns", func() {
		for i, n := range notes {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(escape(n) + "\n")
		}
	})
}

func bare(cells []cell) []cell {
	for i := range cells {
		cells[i].Small = nil
	}
	return cells
}

func measureCells(columns []measure.Shown, s stats.Contender) (cells []cell) {
	for _, m := range columns {
		cells = append(cells, measureCell(m.Measure, s))
	}
	return cells
}

// intervalCell returns the 95% CI of a peak, or how many of the necessary rounds there are.
func intervalCell(s stats.Contender) cell {
	peak, _ := s.PeakStep()
	if in := peak.Throughput.Interval; in != nil {
		return cell{Main: ends(*in, significant)}
	}
	return shownIf(peak.Throughput.Known(),
		strconv.Itoa(len(peak.Throughput.Values))+" of "+units.Plural(stats.MinInterval, "round"))
}

func atCell(s stats.Contender) cell {
	peak, ok := s.PeakStep()
	return shownIf(ok, strings.Join(known(newRow(peak.Step, 0).Title, peak.DriftWords()), ", "))
}

// escape makes text plain in a table cell, a list item or a paragraph of Markdown: it forms no
// emphasis, link, code, formula or HTML, it begins no block, its addresses do not become links, and
// its at signs mention no users.
func escape(s string) string {
	s = strings.NewReplacer(
		`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `|`, `\|`, `~`, `\~`, `$`, `\$`,
		`<`, `&lt;`, `>`, `&gt;`, `&`, `&amp;`, nbsp, ` `,
		`://`, `&#58;//`, "@", "@"+string(safe.ZeroWidth), "\n", " ", "\r", " ",
	).Replace(strings.TrimSpace(s))
	s = webAddress.ReplaceAllString(s, "${1}&#46;")
	return numberStart.ReplaceAllString(blockStart.ReplaceAllString(s, `\$0`), `$1\$2`)
}

var (
	webAddress  = regexp.MustCompile(`(?i)\b(www)\.`)
	blockStart  = regexp.MustCompile(`^[-+#=]`) // starts a list, a heading or a rule
	numberStart = regexp.MustCompile(`^([0-9]+)([.)](?:\s|$))`)
)

type summaryPart struct {
	Title     string
	Class     string // class of the list, in words.css
	Folded    bool   // the page hides the sentences until a click
	Sentences []string
}

// hasBanner reports whether a rule of package summary repeats one of the important warnings.
func hasBanner(rule string) bool {
	return rule == "incomplete" || rule == "excluded" || rule == "limits not enforced"
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
