package compare

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// Text writes the result as text: a table per contender, then caveats, in lines of at most width
// cells where possible; 0: no limit. Labels and all other text from files are made safe for a
// terminal.
func (r Result) Text(w io.Writer, width int) error {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(fit.Paragraph(fmt.Sprintf(format, args...), width, "  ") + "\n")
	}
	if len(r.Differences) > 0 {
		line("The runs differ:")
		differences(line, r.Differences)
		b.WriteByte('\n')
	}
	for _, c := range r.Contenders {
		c.text(&b, line, width)
	}
	for i, labels := range [][]string{r.OnlyOld, r.OnlyNew} {
		if len(labels) > 0 {
			line("Only in %s: %s", sides[i], safe.Line(list(labels), 500))
		}
	}
	for _, w := range r.Warnings {
		line("%s", safe.Line(w.String(), 300))
	}
	switch {
	case r.Floor != nil:
		line("Noise floor: %s. Less is inconclusive.", r.Floor.Words())
	case r.RuleFloor > 0:
		line("Changes below %.3g%% are inconclusive.", 100*r.RuleFloor)
	default:
		line("No noise floor is known for this machine and load. Measure it: 'locbench calibrate' with the same options.")
	}
	if r.Margin > 0 {
		line("Same: within %.3g%% here (--same); the final table and the report of a run use %g%%.",
			100*r.Margin, 100*stats.DefaultMargin)
	}
	if r.TwoRuns {
		line("These are two separate runs: changes of the machine in between are part of the result.")
		line("For close calls put both in one run, then: locbench compare DIR CONTENDER CONTENDER.")
	}
	how := "Mann-Whitney, Hodges-Lehmann"
	paired := func(row Row) bool { return row.Paired }
	if slices.ContainsFunc(r.Contenders, func(c Contender) bool { return slices.ContainsFunc(c.Rows, paired) }) {
		line("Interleaved run: rounds are compared in pairs, which cancels machine noise.")
		how = "signed ranks, Hodges-Lehmann"
	}
	line("Medians of the rounds; change: new vs old with 95%% CI (%s), "+
		"the ratio that fits all pairs best, not the quotient of the medians; p Holm-corrected.", how)
	_, err := io.WriteString(w, b.String())
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

func (c Contender) text(b *strings.Builder, line func(string, ...any), width int) {
	name := c.New
	if c.Old != c.New {
		name = c.Old + " → " + c.New
	}
	if c.Subject != "" {
		line("%s", safe.Line(c.Subject, 500))
	}
	line("%s   %s → %s", safe.Line(name, 200), rounds(c.OldTrials), rounds(c.NewTrials))
	t := table.Table{Columns: []table.Column{{Title: "measure", Left: true}, {Title: "old"}, {Title: "new"},
		{Title: "verdict", Left: true, Wrap: true}}}
	for _, row := range c.Rows {
		name := measure.Get(row.Measure).Comparison.Title
		if row.At != "" {
			name += ", " + safe.Line(row.At, 60)
		}
		t.Add(name, row.value(row.Old), row.value(row.New), safe.Line(row.Sentence, 200))
	}
	for _, line := range t.Lines(width-2, nil) {
		b.WriteString("  " + line + "\n")
	}
	for _, row := range c.Rows {
		for _, w := range row.Warnings {
			line("  %s: %s", row.Measure, safe.Line(w.String(), 300))
		}
	}
	if c.Settle != "" {
		line("  %s", safe.Line(c.Settle, 300))
	}
	for _, note := range c.Notes {
		line("  %s", safe.Line(note.String(), 300))
	}
	differences(line, c.Differences)
	b.WriteByte('\n')
}

func differences(line func(string, ...any), ds []Difference) {
	for _, d := range ds {
		say := func(s string) string { return safe.Line(cmp.Or(s, "none"), 120) }
		text := fmt.Sprintf("  %s: %s → %s", d.What, say(d.Old), say(d.New))
		if d.Weight == Incomparable {
			text += ": not comparable"
			if d.What == "limits" || d.What == limitsInUse {
				text += ". Put both in one run (`contenders: [NAME, {NAME: {cpus: 0.5, as: half}}]` in its profile), " +
					"or use 'locbench capacity --limits', or --force"
			}
		}
		line("%s", text)
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

// Text writes the noise floor as text.
func (f Floor) Text(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s vs itself, %d rounds per side, alternating\n", safe.Line(f.Contender, 200), f.Rounds)
	t := table.Table{Columns: []table.Column{{Title: "measure", Left: true}, {Title: "2nd vs 1st"}, {Title: "floor", Left: true}}}
	for _, m := range f.Measures {
		row := []string{string(m.Measure), "not measured", ""}
		if m.Ratio != nil {
			row[1], row[2] = m.Ratio.Words(), fmt.Sprintf("%.1f%%", 100*m.Floor)
		}
		if m.Verdict == stats.Better || m.Verdict == stats.Worse {
			row[2] += ", false positive"
		}
		t.Add(row...)
	}
	b.WriteString(t.Text(0))
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
