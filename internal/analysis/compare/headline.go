package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// Headline returns the verdict with its mark.
func (c Contender) Headline() (text string, tone table.Tone) {
	text, tone = c.Verdict()
	return safe.Line(map[table.Tone]string{table.Good: "✓ ", table.Bad: "✗ "}[tone]+text, 500), tone
}

// Verdict says which side has a flaw, then what changed. All outputs have it as their first sentence.
// It is never Good for a new side with a flaw, and Bad if the old one has none.
func (c Contender) Verdict() (text string, tone table.Tone) {
	text, tone = c.conclude()
	flaws, of := c.flaws()
	switch {
	case of[1] && !of[0] && c.Comparable:
		tone = table.Bad
	case of[1] && tone == table.Good:
		tone = table.Plain
	}
	return joined(" ", flaws, text), tone
}

// conclude says what changed, or why that is not known.
func (c Contender) conclude() (text string, tone table.Tone) {
	var compared []int
	for i, side := range c.sides {
		if side.WhyExcluded() == "" || c.forced && side.Excluded == nil {
			compared = append(compared, i)
		}
	}
	silence, silent := analysis.Silences(c.sides[:], c.side)
	switch {
	case len(compared) == 0:
		return "No contender can be compared: each of the 2 failed or gave unexpected responses.", table.Bad
	case len(compared) == 1 && len(silent) > 0:
		return silence + " All other contenders failed or gave unexpected responses.", table.Bad
	case len(compared) == 1:
		return "Run " + c.side(compared[0]) + ": the only one of 2 without a failure.",
			map[int]table.Tone{0: table.Bad}[compared[0]]
	case len(silent) == 2:
		return silence, table.Bad
	case c.limits != "":
		return joined(" ", silence, c.limits+"."), table.Plain
	}
	if text, tone = c.Changes(); text == "" {
		text = c.unknown()
	}
	if slices.Contains(silent, 1) {
		tone = table.Bad
	}
	return joined(" ", silence, text), tone
}

// unknown says why no change is known.
func (c Contender) unknown() string {
	if why := c.Rows[0].NotComparable; why != "" {
		return c.name() + ": not comparable: " + why + "."
	}
	m := measure.Get(measure.Throughput)
	type value struct {
		of   float64
		text string
	}
	var all []value
	for i, side := range []Side{c.Rows[0].Old, c.Rows[0].New} {
		if side.Value != nil && *side.Value > 0 {
			all = append(all, value{*side.Value, c.side(i) + " " + side.Text(m.Unit)})
		}
	}
	slices.SortStableFunc(all, func(a, b value) int { return cmp.Compare(b.of, a.of) })
	var said []string
	for _, v := range all {
		said = append(said, v.text)
	}
	if len(said) == 0 {
		return "No results: no throughput was measured."
	}
	return "Cannot tell yet: " + analysis.List(said) + "."
}

// side returns the name of a side in sentences.
func (c Contender) side(i int) string {
	if c.Old == c.New {
		return "the " + sides[i] + " " + safe.Line(c.Old, 60)
	}
	return safe.Line(c.sides[i].Label, 60)
}

// flaws says which sides have a flaw; "" if none has.
func (c Contender) flaws() (text string, of [2]bool) {
	var said []string
	for _, f := range analysis.Flaws(c.sides[:], c.side) {
		said = append(said, f.Text)
		for _, i := range f.Of {
			of[i] = true
		}
	}
	return strings.Join(said, " "), of
}

// Brief returns in a few words which contenders have changed in a measure, or that none has: "a
// worse −12.1%, b better +3.2%", "same", "inconclusive, 4 more rounds", "not comparable: other
// limits".
func (r Result) Brief(id measure.ID) string {
	var changed, apart []string
	same, more := 0, stats.MaxRounds
	for _, c := range r.Contenders {
		i := slices.IndexFunc(c.Rows, func(row Row) bool { return row.Measure == id })
		switch differences := byWeight(slices.Concat(r.Differences, c.Differences)); {
		case !c.Comparable && len(differences) > 0:
			apart = append(apart, "not comparable: other "+string(differences[0].What))
		case i < 0:
		case c.Rows[i].Verdict == stats.Same:
			same++
		case c.Rows[i].Verdict != stats.Inconclusive:
			text := c.Rows[i].Verdict.String()
			end := " ("
			if c.Rows[i].Ratio == nil { // "19.0/s → 0/s: nothing succeeded in new"
				end = ": "
			}
			if change, _, _ := strings.Cut(c.Rows[i].changed, end); change != "" {
				text += " " + change
			}
			if len(r.Contenders) > 1 {
				text = safe.Line(c.New, 60) + " " + text
			}
			changed = append(changed, text)
		case c.Rows[i].More > 0:
			more = min(more, c.Rows[i].More)
		}
	}
	switch n := len(r.Contenders); {
	case len(changed) > 2:
		return fmt.Sprintf("%s, %s, +%d", changed[0], changed[1], len(changed)-2)
	case len(changed) > 0:
		return strings.Join(changed, ", ")
	case same > 0 && same == n:
		return "same"
	case same > 0:
		return fmt.Sprintf("%d of %d the same", same, n)
	case len(apart) > 0:
		return apart[0]
	case more < stats.MaxRounds:
		return "inconclusive, " + units.Plural(more, "more round")
	}
	return "inconclusive"
}
