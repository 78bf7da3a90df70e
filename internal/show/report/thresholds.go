package report

import (
	"bytes"
	"fmt"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
)

// maxThresholdRows is how many rows the page shows; those that were missed come first.
const maxThresholdRows = 500

// thresholdRow is what became of a threshold in a step that missed it, or in all that kept it.
type thresholdRow struct {
	Threshold   string // "p99<50ms"
	Missed      bool
	Outcome     string // "missed", "kept in 12 steps"
	Trial, Step string
	Figure      string // what was measured, in words
}

// thresholdTable is the section about thresholds; without rows there is none.
type thresholdTable struct {
	Note string
	Rows []thresholdRow
	More int // rows that are left out
}

// thresholds makes the section. Those of the profile that no step was judged by are reported too:
// nothing is known about them.
func thresholds(run bench.Run, l layout) thresholdTable {
	kept, known := map[string]int{}, map[string]bool{}
	var order []string
	var t thresholdTable
	judged, missed := 0, 0
	for _, c := range l.columns {
		for i, s := range c.steps {
			if s == nil {
				continue
			}
			for _, j := range s.Thresholds {
				name := cleanName(j.Condition)
				if !known[name] {
					known[name], order = true, append(order, name)
				}
				judged++
				if j.Passed {
					kept[name]++
					continue
				}
				missed++
				t.Rows = append(t.Rows, missedRow(c, l.rows[i].Label, name, j))
			}
		}
	}
	for _, name := range order {
		if kept[name] > 0 {
			t.add(name, "met in "+units.Plural(kept[name], "step"))
		}
	}
	if judged == 0 {
		for _, p := range run.Profile.Thresholds {
			t.add(cleanName(p.Condition), "not checked")
		}
	}
	t.More = max(0, len(t.Rows)-maxThresholdRows)
	t.Rows = t.Rows[:len(t.Rows)-t.More]
	t.Note = fmt.Sprintf("%d of %s missed. Warm-ups and interrupted steps are not checked.", missed,
		units.Plural(judged, "judgement"))
	t.Note += when(t.More > 0, fmt.Sprintf(" %d more rows not shown.", t.More))
	return t
}

// add adds what is not of one step.
func (t *thresholdTable) add(threshold, outcome string) {
	t.Rows = append(t.Rows, thresholdRow{Threshold: threshold, Outcome: outcome, Trial: missing, Step: missing,
		Figure: missing})
}

func missedRow(c column, step, name string, j bench.ThresholdResult) thresholdRow {
	row := thresholdRow{name, true, "missed", c.Name(), step, cleanText(j.Text)}
	switch j.Stopped {
	case bench.ScopeTrial, bench.ScopeRun:
		row.Outcome += ", stopped the " + string(j.Stopped)
	}
	return row
}

func markdownThresholds(b *bytes.Buffer, t thresholdTable) {
	if len(t.Rows) == 0 {
		return
	}
	var rows [][]string
	for _, r := range t.Rows {
		rows = append(rows, []string{escape(r.Threshold), escape(r.Outcome), escape(r.Trial), escape(r.Step), escape(r.Figure)})
	}
	b.WriteString("\n## Thresholds\n\n")
	markdownRows(b, "---", []string{"Threshold", "Outcome", "Trial", "Step", "Value"}, rows)
	b.WriteString("\n" + t.Note + "\n")
}
