package report

import (
	"bytes"
	"fmt"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// maxThresholdRows is how many rows the page shows; missed thresholds come first.
const maxThresholdRows = 500

// thresholdRow is a step that missed a threshold, or all steps that met it.
type thresholdRow struct {
	Threshold   string // "p99<50ms"
	Missed      bool
	Outcome     string // "missed", "met in 12 steps"
	Trial, Step string
	Value       string // what was measured, in words
}

// thresholdTable is the section about thresholds; without rows the page has none.
type thresholdTable struct {
	Note string
	Rows []thresholdRow
	More int // rows that are not shown
}

// thresholds returns the section. If no threshold was checked, it lists those of the profile.
func thresholds(run bench.Run, l layout) thresholdTable {
	met, known := map[string]int{}, map[string]bool{}
	var order []string
	var t thresholdTable
	checked, missed := 0, 0
	for _, c := range l.columns {
		for i, s := range c.steps {
			if s == nil {
				continue
			}
			for _, r := range s.Thresholds {
				name := cleanName(r.Condition)
				if !known[name] {
					known[name], order = true, append(order, name)
				}
				checked++
				if r.Passed {
					met[name]++
					continue
				}
				missed++
				t.Rows = append(t.Rows, missedRow(c, l.rows[i].Label, name, r))
			}
		}
	}
	for _, name := range order {
		if met[name] > 0 {
			t.add(name, "met in "+units.Plural(met[name], "step"))
		}
	}
	if checked == 0 {
		for _, p := range run.Profile.Thresholds {
			t.add(cleanName(p.Condition), "not checked")
		}
	}
	t.More = max(0, len(t.Rows)-maxThresholdRows)
	t.Rows = t.Rows[:len(t.Rows)-t.More]
	t.Note = fmt.Sprintf("%d of %d missed. Warm-ups and interrupted steps are not checked.", missed, checked)
	t.Note += when(t.More > 0, fmt.Sprintf(" %d more rows not shown.", t.More))
	return t
}

// add adds a row about a threshold in several steps, or in none.
func (t *thresholdTable) add(threshold, outcome string) {
	t.Rows = append(t.Rows, thresholdRow{Threshold: threshold, Outcome: outcome, Trial: missing, Step: missing,
		Value: missing})
}

func missedRow(c column, step, name string, r bench.ThresholdResult) thresholdRow {
	row := thresholdRow{name, true, "missed", c.Name(), step, cleanText(r.Text)}
	switch r.Stopped {
	case bench.ScopeTrial, bench.ScopeRun:
		row.Outcome += ", stopped the " + string(r.Stopped)
	}
	return row
}

func markdownThresholds(b *bytes.Buffer, t thresholdTable) {
	if len(t.Rows) == 0 {
		return
	}
	var rows [][]string
	for _, r := range t.Rows {
		rows = append(rows, []string{escape(r.Threshold), escape(r.Outcome), escape(r.Trial), escape(r.Step),
			escape(r.Value)})
	}
	b.WriteString("\n## Thresholds\n\n")
	markdownRows(b, "---", []string{"Threshold", "Outcome", "Trial", "Step", "Value"}, rows)
	b.WriteString("\n" + t.Note + "\n")
}
