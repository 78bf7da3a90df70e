package report

import (
	"cmp"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/table"
)

// checkTable has a row for each check and a cell for each trial.
type checkTable struct {
	Groups  []checkGroup
	Failed  []checkFailure
	Totals  table.Table // a row for each trial
	Differs int         // rows with framed cells
	Count   int         // all rows
}

type checkGroup struct {
	Name string
	Rows []checkRow
}

type checkRow struct {
	Name    string
	Differs bool
	Cells   []checkCell // one per column
}

// checkCell is the outcome of one check in one trial. It is framed if it differs from the most
// frequent outcome in its row; without a most frequent one, all cells are framed.
type checkCell struct {
	Status bench.CheckStatus // "" if the trial did not run the check
	Text   string
	Framed bool
}

// checkFailure is one check that failed in the same way in one or more trials.
type checkFailure struct {
	Group, Name, Request, Detail string
	Trials                       []string
}

type checkKey struct{ suite, group, name string }

func checks(l layout) checkTable {
	t := checkTable{Totals: table.Table{Columns: columns("Trial", "Passed", "Failed", "Skipped", "Values")}}
	var order []checkKey
	failures := map[[4]string]int{} // index in t.Failed
	cells := map[checkKey][]checkCell{}
	for j, c := range l.columns {
		total := map[bench.CheckStatus]int64{}
		for _, r := range c.trial.Checks {
			k := checkKey{r.Suite, r.Group, r.Name}
			if cells[k] == nil {
				cells[k] = make([]checkCell, len(l.columns))
				order = append(order, k)
			}
			cells[k][j] = checkCell{Status: r.Status, Text: outcome(r)}
			total[r.Status]++
			if r.Status == bench.CheckFailed {
				t.addFailure(r, c.Name(), failures)
			}
		}
		row := t.Totals.Add(c.Name(), units.Count(total[bench.CheckPassed]), units.Count(total[bench.CheckFailed]),
			units.Count(total[bench.CheckSkipped]), units.Count(total[bench.CheckInfo]))
		if total[bench.CheckFailed] > 0 {
			row.Cells[2].Tone = table.Bad
		}
	}
	groups := map[string]int{} // position in t.Groups, from 1
	for _, k := range order {
		if groups[k.group] == 0 {
			t.Groups = append(t.Groups, checkGroup{Name: cleanName(k.group)})
			groups[k.group] = len(t.Groups)
		}
		g := groups[k.group] - 1
		row := checkRow{Name: cleanText(k.name), Cells: cells[k]}
		row.frame()
		if row.Differs {
			t.Differs++
		}
		t.Count++
		t.Groups[g].Rows = append(t.Groups[g].Rows, row)
	}
	return t
}

func (t *checkTable) addFailure(r bench.CheckResult, trial string, known map[[4]string]int) {
	f := checkFailure{Group: cleanName(r.Group), Name: cleanText(r.Name), Request: cleanText(r.Request),
		Detail: cleanText(r.Detail), Trials: []string{trial}}
	key := [4]string{f.Group, f.Name, f.Request, f.Detail}
	if i, ok := known[key]; ok {
		t.Failed[i].Trials = append(t.Failed[i].Trials, trial)
	} else {
		known[key] = len(t.Failed)
		t.Failed = append(t.Failed, f)
	}
}

// frame frames the cells that differ from most of the row; trials without the check do not count.
func (r *checkRow) frame() {
	frequency := map[checkCell]int{}
	for _, c := range r.Cells {
		if c.Status != "" {
			frequency[c]++
		}
	}
	if len(frequency) < 2 {
		return
	}
	r.Differs = true
	var most checkCell
	ties := 0
	for c, n := range frequency {
		switch {
		case n > frequency[most]:
			most, ties = c, 1
		case n == frequency[most]:
			ties++
		}
	}
	for i, c := range r.Cells {
		r.Cells[i].Framed = c.Status != "" && (ties > 1 || c != most)
	}
}

// outcome returns the text of a cell: a sign that needs no color, and the value.
func outcome(r bench.CheckResult) string {
	sign, known := map[bench.CheckStatus]string{bench.CheckInfo: "", bench.CheckPassed: "✓",
		bench.CheckFailed: "✗"}[r.Status]
	if !known {
		sign = cleanName(string(r.Status))
	}
	value := cleanName(r.Value)
	return cmp.Or(sign+when(sign != "" && value != "", " ")+value, missing)
}

// Any reports whether any trial ran a check.
func (t checkTable) Any() bool { return t.Count > 0 }

// Class returns the class of a cell in style.css.
func (c checkCell) Class() string {
	class := "info"
	switch c.Status {
	case "":
		class = "none"
	case bench.CheckPassed, bench.CheckFailed, bench.CheckSkipped:
		class = string(c.Status)
	}
	return class + when(c.Framed, " off")
}

// Shown returns the text of a cell.
func (c checkCell) Shown() string {
	if c.Status == "" {
		return missing
	}
	return c.Text
}
