package compare

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
)

// Text writes the result as text: a table per contender, then caveats. Labels and all other text
// from files are made safe for a terminal.
func (r Result) Text(w io.Writer) error {
	var b bytes.Buffer
	if len(r.Differences) > 0 {
		b.WriteString("The runs differ:\n")
		differences(&b, r.Differences)
		b.WriteByte('\n')
	}
	for _, c := range r.Contenders {
		c.text(&b)
	}
	for i, labels := range [][]string{r.OnlyOld, r.OnlyNew} {
		if len(labels) > 0 {
			fmt.Fprintf(&b, "Only in %s: %s\n", sides[i], safe.Line(list(labels), 500))
		}
	}
	for _, w := range r.Warnings {
		fmt.Fprintln(&b, safe.Line(w.String(), 300))
	}
	switch {
	case r.Floor != nil:
		b.WriteString("Noise floor: " + r.Floor.Words() + ". Less is inconclusive.\n")
	case r.RuleFloor > 0:
		fmt.Fprintf(&b, "Changes below %.3g%% are inconclusive.\n", 100*r.RuleFloor)
	default:
		b.WriteString("No noise floor is known for this machine and load. " +
			"Measure it: 'locbench calibrate' with the same options.\n")
	}
	if r.Margin > 0 {
		fmt.Fprintf(&b, "Same: within %.3g%% here (--same); the final table and the report of a run use %g%%.\n",
			100*r.Margin, 100*stats.DefaultMargin)
	}
	if r.TwoRuns {
		b.WriteString("These are two separate runs: changes of the machine in between are part of the result.\n" +
			"For close calls put both in one run, then: locbench compare DIR CONTENDER CONTENDER.\n")
	}
	how := "Mann-Whitney, Hodges-Lehmann"
	paired := func(row Row) bool { return row.Paired }
	if slices.ContainsFunc(r.Contenders, func(c Contender) bool { return slices.ContainsFunc(c.Rows, paired) }) {
		b.WriteString("Interleaved run: rounds are compared in pairs, which cancels machine noise.\n")
		how = "signed ranks, Hodges-Lehmann"
	}
	b.WriteString("Medians of the rounds; change: new vs old with 95% CI (" + how +
		"),\n" +
		"the ratio that fits all pairs best, not the quotient of the medians; p Holm-corrected.\n")
	_, err := w.Write(b.Bytes())
	return err
}

// Words returns the noise floor of each measure and its source: "throughput 2.1%, p99 8.0%
// (go-nethttp vs itself, 6 rounds per side, 2026-11-21 08:00)".
func (f Floor) Words() string {
	var parts []string
	for _, m := range f.Measures {
		if m.Floor > 0 {
			parts = append(parts, fmt.Sprintf("%s %.1f%%", safe.Line(string(m.Measure), 40), 100*m.Floor))
		}
	}
	return fmt.Sprintf("%s (%s vs itself, %s per side, %s)", strings.Join(parts, ", "),
		safe.Line(f.Contender, 100), rounds(Trials{Seen: f.Rounds}), f.Made.Format("2006-01-02 15:04"))
}

func (c Contender) text(b *bytes.Buffer) {
	name := c.New
	if c.Old != c.New {
		name = c.Old + " → " + c.New
	}
	if c.Subject != "" {
		fmt.Fprintf(b, "%s\n", safe.Line(c.Subject, 500))
	}
	fmt.Fprintf(b, "%s   %s → %s\n", safe.Line(name, 200), rounds(c.OldTrials), rounds(c.NewTrials))
	table := [][]string{{"measure", "old", "new", "verdict"}}
	for _, row := range c.Rows {
		name := measure.Get(row.Measure).Comparison.Title
		if row.At != "" {
			name += ", " + safe.Line(row.At, 60)
		}
		table = append(table, []string{name, row.value(row.Old), row.value(row.New), safe.Line(row.Sentence, 200)})
	}
	align(b, table)
	for _, row := range c.Rows {
		for _, w := range row.Warnings {
			fmt.Fprintf(b, "  %s: %s\n", row.Measure, safe.Line(w.String(), 300))
		}
	}
	if c.Settle != "" {
		fmt.Fprintf(b, "  %s\n", safe.Line(c.Settle, 300))
	}
	for _, note := range c.Notes {
		fmt.Fprintf(b, "  %s\n", safe.Line(note.String(), 300))
	}
	differences(b, c.Differences)
	b.WriteByte('\n')
}

func differences(b *bytes.Buffer, ds []Difference) {
	for _, d := range ds {
		say := func(s string) string { return safe.Line(cmp.Or(s, "none"), 120) }
		fmt.Fprintf(b, "  %s: %s → %s", d.What, say(d.Old), say(d.New))
		if d.Weight == Incomparable {
			b.WriteString(": not comparable")
			if d.What == "limits" || d.What == limitsInUse {
				b.WriteString(". Put both in one run (`contenders: [NAME, {NAME: {cpus: 0.5, as: half}}]` in its profile), " +
					"or use 'locbench capacity --limits', or --force")
			}
		}
		b.WriteByte('\n')
	}
}

func rounds(l Trials) string { return units.Plural(l.Seen, "round") }

// value returns the median with its unit.
func (r Row) value(s Side) string {
	if s.Median == nil {
		return units.Missing
	}
	return measure.Get(r.Measure).Unit.Text(*s.Median)
}

// widths returns the widths of the columns.
func widths(rows [][]string) []int {
	all := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			all[i] = max(all[i], utf8.RuneCountInString(cell))
		}
	}
	return all
}

// align writes rows in columns: the first and the last aligned left, the others right.
func align(b *bytes.Buffer, rows [][]string) {
	widths := widths(rows)
	for _, row := range rows {
		last := len(row) - 1
		fmt.Fprintf(b, "  %-*s", widths[0], row[0])
		for i, cell := range row[1:last] {
			fmt.Fprintf(b, "   %*s", widths[i+1], cell)
		}
		b.WriteString("   " + row[last] + "\n")
	}
}

// Text writes the noise floor as text.
func (f Floor) Text(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s vs itself, %d rounds per side, alternating\n", safe.Line(f.Contender, 200), f.Rounds)
	table := [][]string{{"measure", "2nd vs 1st", "floor"}}
	for _, m := range f.Measures {
		row := []string{string(m.Measure), "not measured", ""}
		if m.Ratio != nil {
			row[1], row[2] = m.Ratio.Words(), fmt.Sprintf("%.1f%%", 100*m.Floor)
		}
		if m.Verdict == stats.Better || m.Verdict == stats.Worse {
			row[2] += ", false positive"
		}
		table = append(table, row)
	}
	align(&b, table)
	fmt.Fprintf(&b, "With %d rounds of this load, this machine cannot show smaller changes. "+
		"'locbench compare' applies this\n"+
		"floor to results next to it (same machine and load); elsewhere use: locbench compare --floor %.1f%%\n", f.Rounds,
		math.Ceil(1000*f.Largest())/10)
	if f.FalsePositives > 0 {
		fmt.Fprintf(&b, "%d of %d measures differ although nothing changed: this machine is too noisy. "+
			"Stop other work and calibrate again.\n", f.FalsePositives, len(f.Measures))
	}
	_, err := w.Write(b.Bytes())
	return err
}
