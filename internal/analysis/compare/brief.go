package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/safe"
)

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
