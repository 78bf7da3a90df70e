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

	"locbench/internal/bench/units"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
	"locbench/internal/text/safe"
)

// Text writes the result for people: one table for each contender, then what else they have to
// know. The labels and all else that comes from files is made safe for a terminal.
func (r Result) Text(w io.Writer) error {
	var b bytes.Buffer
	if len(r.Differences) > 0 {
		b.WriteString("The two runs differ:\n")
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
		b.WriteString("Floor of this machine: " + r.Floor.Words() + ". What is less is not claimed.\n")
	case r.RuleFloor > 0:
		fmt.Fprintf(&b, "Changes below %.3g %% are not claimed.\n", 100*r.RuleFloor)
	default:
		b.WriteString("No noise floor of this machine and load is known: 'locbench calibrate' with the same options finds " +
			"the smallest change that it can show.\n")
	}
	if r.TwoRuns {
		b.WriteString("Two runs, at two times: if the machine has changed in between, that is in the figures, and no test " +
			"can tell. Where it matters, run both as\ncontenders of one run, in which they take turns, and compare those: " +
			"locbench compare DIR CONTENDER CONTENDER.\n")
	}
	how := "Mann-Whitney, Hodges-Lehmann"
	paired := func(row Row) bool { return row.Paired }
	if slices.ContainsFunc(r.Contenders, func(c Contender) bool { return slices.ContainsFunc(c.Rows, paired) }) {
		b.WriteString("The two took turns: round is set against round, which leaves out what the machine did to both.\n")
		how = "signed ranks, Hodges-Lehmann"
	}
	b.WriteString("Medians of the rounds; change: new to old with its 95 % interval (" + how +
		"); p after Holm over the measures.\n")
	_, err := w.Write(b.Bytes())
	return err
}

// Words are the floor of each measure, and where it comes from: "throughput 2.1 %, p99 8.0 %
// (go-nethttp against itself, 6 rounds on each side, 2026-11-21 08:00)".
func (f Floor) Words() string {
	var parts []string
	for _, m := range f.Measures {
		if m.Floor > 0 {
			parts = append(parts, fmt.Sprintf("%s %.1f %%", safe.Line(string(m.Measure), 40), 100*m.Floor))
		}
	}
	return fmt.Sprintf("%s (%s against itself, %s on each side, %s)", strings.Join(parts, ", "),
		safe.Line(f.Contender, 100), rounds(Legs{Seen: f.Rounds}), f.Made.Format("2006-01-02 15:04"))
}

func (c Contender) text(b *bytes.Buffer) {
	name := c.New
	if c.Old != c.New {
		name = c.Old + " → " + c.New
	}
	fmt.Fprintf(b, "%s   %s → %s\n", safe.Line(name, 200), rounds(c.OldLegs), rounds(c.NewLegs))
	table := [][]string{{"measure", "old", "new", "verdict"}}
	for _, row := range c.Rows {
		name := measure.Get(row.Measure).Claim.Title
		if row.At != "" {
			name += ", " + safe.Line(row.At, 60)
		}
		table = append(table, []string{name, row.value(row.Old), row.value(row.New), safe.Line(row.Sentence, 200)})
	}
	align(b, table)
	for _, row := range c.Rows {
		for _, doubt := range row.Doubts {
			fmt.Fprintf(b, "  %s: %s\n", row.Measure, safe.Line(doubt.String(), 300))
		}
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
		}
		b.WriteByte('\n')
	}
}

func rounds(l Legs) string { return units.Plural(l.Seen, "round") }

// value is the median in its unit.
func (r Row) value(s Side) string {
	if s.Median == nil {
		return units.Missing
	}
	return measure.Get(r.Measure).Unit.Text(*s.Median)
}

// widths are those of the columns.
func widths(rows [][]string) []int {
	all := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			all[i] = max(all[i], utf8.RuneCountInString(cell))
		}
	}
	return all
}

// align writes rows in columns: the first and the last to the left, those between to the right.
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

// Text writes the floor for people.
func (f Floor) Text(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s against itself, %d rounds on each side by turns\n", safe.Line(f.Contender, 200), f.Rounds)
	table := [][]string{{"measure", "second to first", "floor"}}
	for _, m := range f.Measures {
		row := []string{string(m.Measure), "not measured", ""}
		if m.Ratio != nil {
			row[1], row[2] = m.Ratio.Words(), fmt.Sprintf("%.1f %%", 100*m.Floor)
		}
		if m.Verdict == stats.Better || m.Verdict == stats.Worse {
			row[2] += ", and a difference would have been claimed"
		}
		table = append(table, row)
	}
	align(&b, table)
	fmt.Fprintf(&b, "Smaller changes cannot be told from none on this machine with %d rounds of this load. 'locbench "+
		"compare' finds this floor next to the results\n"+
		"that it compares, if they are of the same machine and load; elsewhere: locbench compare --floor %.1f%%\n", f.Rounds,
		math.Ceil(1000*f.Largest())/10)
	if f.Claimed > 0 {
		fmt.Fprintf(&b, "%d of %d measures would have been called different although nothing differs: this machine is not "+
			"quiet enough to compare on.\n", f.Claimed, len(f.Measures))
	}
	_, err := w.Write(b.Bytes())
	return err
}
