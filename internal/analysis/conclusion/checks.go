package conclusion

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// Checks are the outcomes of all checks, for all outputs.
type Checks struct {
	Totals table.Table // a row for each contender
	Failed []FailedCheck
	Groups []CheckGroup
}

// CheckGroup is the outcomes of the checks of a group: a row for each check, a column for each
// contender.
type CheckGroup struct {
	Name   string
	About  string // "12 checks, 1 differs between contenders"
	Failed bool
	Table  table.Table
}

// FailedCheck is one check that failed in the same way in one or more trials.
type FailedCheck struct {
	Group, Name, Request, Detail string
	Trials                       []string
}

type checkKey struct{ suite, group, name string }

// ChecksOf returns the outcomes of the checks of contenders, of which it takes the label, the counts and the results.
func ChecksOf(contenders []analysis.Contender) (all Checks) {
	all.Totals = TableOf(contenders, "Passed|Failed|Skipped|Values", "", func(c analysis.Contender) []analysis.Contender { return []analysis.Contender{c} },
		func(c analysis.Contender) (cells []any) {
			for _, status := range []bench.CheckStatus{bench.CheckPassed, bench.CheckFailed, bench.CheckSkipped, bench.CheckInfo} {
				cell := table.Cell{Text: units.Count(int64(c.Checks[status]))}
				if c.Checks[status] > 0 && status == bench.CheckFailed {
					cell.Tone = table.Bad
				}
				cells = append(cells, cell)
			}
			return cells
		})
	var order []checkKey
	columns := Columns("Check")
	for _, c := range contenders {
		columns = append(columns, table.Column{Title: label(c)})
	}
	outcomes := map[checkKey][][]bench.CheckResult{} // by contender
	failures := map[[4]string]int{}                  // index in all.Failed
	for i, c := range contenders {
		for _, t := range c.Results {
			for _, r := range t.Checks {
				k := checkKey{r.Suite, r.Group, r.Name}
				if outcomes[k] == nil {
					outcomes[k], order = make([][]bench.CheckResult, len(contenders)), append(order, k)
				}
				outcomes[k][i] = append(outcomes[k][i], r)
				if r.Status == bench.CheckFailed {
					all.addFailure(r, long(t.Trial.String()), failures)
				}
			}
		}
	}
	if len(order) == 0 {
		return Checks{}
	}
	at, differ := map[string]int{}, map[string]int{}
	for _, k := range order {
		if _, ok := at[k.group]; !ok {
			at[k.group] = len(all.Groups)
			all.Groups = append(all.Groups, CheckGroup{Name: long(k.group), Table: table.Table{Columns: columns}})
		}
		g, row, seen := &all.Groups[at[k.group]], Row(safe.Line(k.name, maxText)), map[string]bool{}
		for _, results := range outcomes[k] {
			cell := outcome(results)
			seen[cell.Text] = seen[cell.Text] || len(results) > 0
			g.Failed = g.Failed || cell.Tone == table.Bad
			row.Cells = append(row.Cells, cell)
		}
		if delete(seen, units.Missing); len(seen) > 1 {
			differ[k.group]++
		}
		g.Table.Rows = append(g.Table.Rows, row)
		if g.About = units.Plural(len(g.Table.Rows), "check"); differ[k.group] > 0 {
			g.About += fmt.Sprintf(", %d with different outcomes", differ[k.group])
		}
	}
	return all
}

func (all *Checks) addFailure(r bench.CheckResult, trial string, known map[[4]string]int) {
	f := FailedCheck{Group: long(r.Group), Name: safe.Line(r.Name, maxText), Request: safe.Line(r.Request, maxText), Detail: safe.Line(r.Detail, maxText)}
	key := [4]string{f.Group, f.Name, f.Request, f.Detail}
	i, ok := known[key]
	if !ok {
		i = len(all.Failed)
		known[key], all.Failed = i, append(all.Failed, f)
	}
	all.Failed[i].Trials = append(all.Failed[i].Trials, trial)
}

// outcome returns the outcomes of a check over the rounds of a contender: "✓", "✓ 5×, ✗ 1×".
func outcome(results []bench.CheckResult) table.Cell {
	cell := table.Cell{Text: units.Missing}
	count := map[string]int{}
	var order []string
	for _, r := range results {
		sign, known := map[bench.CheckStatus]string{bench.CheckInfo: "", bench.CheckPassed: "✓", bench.CheckFailed: "✗"}[r.Status]
		if !known {
			sign = long(string(r.Status))
		}
		text := cmp.Or(strings.TrimSpace(sign+" "+long(r.Value)), units.Missing)
		if count[text]++; count[text] == 1 {
			order = append(order, text)
		}
		switch {
		case r.Status == bench.CheckFailed:
			cell.Tone = table.Bad
		case r.Status == bench.CheckPassed && cell.Tone == table.Plain:
			cell.Tone = table.Good
		}
	}
	for i, text := range order {
		if len(order) > 1 {
			order[i] = fmt.Sprintf("%s %d×", text, count[text])
		}
	}
	if len(order) > 0 {
		cell.Text = strings.Join(order, ", ")
	}
	return cell
}
