package report

import (
	"fmt"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/table"
)

// maxThresholdRows is how many rows the page shows; missed thresholds come first.
const maxThresholdRows = 500

// thresholds returns the table of thresholds: a row for each step that missed one, and one for all
// steps that met it. If none was checked, it lists those of the profile; without rows there are
// none.
func thresholds(run bench.Run, l layout) table.Table {
	met := map[string]int{}
	var order []string
	t := table.Table{Columns: columns("Threshold|Outcome<|Trial<|Step<|Value<")}
	checked, missed := 0, 0
	for _, c := range l.columns {
		for i, s := range c.steps {
			if s == nil {
				continue
			}
			for _, r := range s.Thresholds {
				name := cleanName(r.Condition)
				if _, known := met[name]; !known {
					met[name], order = 0, append(order, name)
				}
				if checked++; r.Passed {
					met[name]++
					continue
				}
				missed++
				stopped := r.Stopped == bench.ScopeTrial || r.Stopped == bench.ScopeRun
				outcome := table.Cell{Text: "missed" + when(stopped, ", stopped the "+string(r.Stopped)), Tone: table.Bad}
				t.Rows = append(t.Rows, rowOf(name, outcome, c.Name(), l.rows[i].Label, cleanText(r.Text)))
			}
		}
	}
	for _, name := range order {
		if met[name] > 0 {
			t.Add(name, "met in "+units.Plural(met[name], "step"), missing, missing, missing)
		}
	}
	if checked == 0 {
		for _, p := range run.Profile.Thresholds {
			t.Add(cleanName(p.Condition), "not checked", missing, missing, missing)
		}
	}
	more := max(0, len(t.Rows)-maxThresholdRows)
	t.Rows = t.Rows[:len(t.Rows)-more]
	t.Footnotes = []string{fmt.Sprintf("%d of %d missed. Warm-ups and interrupted steps are not checked.", missed, checked) +
		when(more > 0, fmt.Sprintf(" %d more rows not shown.", more))}
	return t
}
