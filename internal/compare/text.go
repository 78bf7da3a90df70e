package compare

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"locbench/internal/safe"
	"locbench/internal/stats"
)

// Text writes the result for people: one table for each contender, then what else they have to know. The labels and all else that comes
// from files is made safe for a terminal.
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
	for _, only := range []struct {
		name   string
		labels []string
	}{{"old", r.OnlyOld}, {"new", r.OnlyNew}} {
		if len(only.labels) > 0 {
			fmt.Fprintf(&b, "Only in %s: %s\n", only.name, safe.Line(list(only.labels), 500))
		}
	}
	for _, w := range r.Warnings {
		fmt.Fprintln(&b, safe.Line(w, 300))
	}
	b.WriteString("Medians of the rounds; change: new to old with its 95 % interval (Mann-Whitney, Hodges-Lehmann); p after Holm over the measures.\n")
	_, err := w.Write(b.Bytes())
	return err
}

func (c Contender) text(b *bytes.Buffer) {
	name := c.New
	if c.Old != c.New {
		name = c.Old + " → " + c.New
	}
	fmt.Fprintf(b, "%s   %s → %s\n", safe.Line(name, 200), rounds(c.OldLegs), rounds(c.NewLegs))
	table := [][]string{{"measure", "old", "new", "verdict"}}
	for _, row := range c.Rows {
		table = append(table, []string{row.name(), row.value(row.Old), row.value(row.New), safe.Line(row.Sentence, 200)})
	}
	align(b, table)
	for _, row := range c.Rows {
		for _, doubt := range row.Doubts {
			fmt.Fprintf(b, "  %s: %s\n", row.Measure, safe.Line(doubt, 300))
		}
	}
	for _, note := range c.Notes {
		fmt.Fprintf(b, "  %s\n", safe.Line(note, 300))
	}
	differences(b, c.Differences)
	b.WriteByte('\n')
}

func differences(b *bytes.Buffer, ds []Difference) {
	for _, d := range ds {
		consequence := ""
		if d.Weight == Breaks {
			consequence = ": not comparable"
		}
		say := func(s string) string {
			if s == "" {
				return "none"
			}
			return safe.Line(s, 120)
		}
		fmt.Fprintf(b, "  %s: %s → %s%s\n", d.What, say(d.Old), say(d.New), consequence)
	}
}

func rounds(l Legs) string {
	if l.Seen == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", l.Seen)
}

// name is what the table calls the measure.
func (r Row) name() string {
	title := r.Measure.Title()
	if r.At != "" {
		title += ", " + safe.Line(r.At, 60)
	}
	return title
}

// value is the median in its unit.
func (r Row) value(s Side) string {
	if s.Median == nil {
		return "–"
	}
	return r.Measure.Text(*s.Median)
}

// align writes rows in columns: the first and the last to the left, those between to the right.
func align(b *bytes.Buffer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		b.WriteByte(' ')
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch i {
			case 0:
				b.WriteString(" " + cell + pad)
			case len(row) - 1:
				b.WriteString("   " + cell)
			default:
				b.WriteString("   " + pad + cell)
			}
		}
		b.WriteByte('\n')
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
			row[1], row[2] = m.Ratio.words(), fmt.Sprintf("%.1f %%", 100*m.Floor)
		}
		if m.Verdict == stats.Better || m.Verdict == stats.Worse {
			row[2] += ", and a difference would have been claimed"
		}
		table = append(table, row)
	}
	align(&b, table)
	fmt.Fprintf(&b, "Changes below %.1f %% cannot be told from none on this machine with %d rounds: locbench compare --floor %.1f%%\n",
		100*f.Largest(), f.Rounds, math.Ceil(1000*f.Largest())/10)
	if f.Claimed > 0 {
		fmt.Fprintf(&b, "%d of %d measures would have been called different although nothing differs: this machine is not quiet enough to compare on.\n", f.Claimed, len(f.Measures))
	}
	_, err := w.Write(b.Bytes())
	return err
}
