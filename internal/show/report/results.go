package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/table"
)

// columnsOf returns a column of names, and one for each contender.
func (l layout) columnsOf(names string) []table.Column {
	all := []table.Column{{Title: names, Left: true}}
	for _, c := range l.contenders {
		all = append(all, table.Column{Title: c.Label})
	}
	return all
}

// stepTable returns a table with a row for each measured step, and in it a cell of each contender.
func (l layout) stepTable(cell func(c contender, row int, s stats.Step) table.Cell) table.Table {
	t := table.Table{Columns: l.columnsOf("Step")}
	for i, r := range l.rows {
		if r.WarmUp {
			continue
		}
		row := t.Add(r.Title)
		for _, c := range l.contenders {
			row.Cells = append(row.Cells, cell(c, i, stepAt(c, l.indices[i])))
		}
	}
	return t
}

// stepAt returns the step of a contender with the given index; the zero value if it did not run.
func stepAt(c contender, index int) (none stats.Step) {
	for _, s := range c.of.Steps {
		if s.Index == index {
			return s
		}
	}
	return none
}

// shownIf returns the text if it is known, else a dash.
func shownIf(known bool, text string) string {
	if !known {
		return missing
	}
	return text
}

// newResults returns every measure by group, with a column for each contender; measures without any
// value are left out, leaders are bold.
func newResults(l layout, leaders map[measure.ID][]string, floor *compare.Floor) table.Table {
	t := table.Table{Columns: l.columnsOf("Measure"), Footnotes: []string{
		fmt.Sprintf("Of a step: at peak of each contender, the measured step with the highest throughput. Small print: 95%% CI of the "+
			"median (from %d rounds on), or else the range of the rounds.", stats.MinInterval)}}
	of := func(name string, cell func(contender) table.Cell) {
		row := conclusion.Row(name)
		for _, c := range l.contenders {
			row.Cells = append(row.Cells, cell(c))
		}
		t.Rows = append(t.Rows, row)
	}
	of("complete rounds", func(c contender) table.Cell {
		return table.Cell{Text: units.Count(int64(c.of.Complete)) + " of " + units.Count(int64(c.of.Trials))}
	})
	of("peak step", func(c contender) table.Cell {
		peak, ok := c.of.PeakStep()
		return table.Cell{Text: shownIf(ok, cleanName(peak.Step.Words())), Small: known(peak.DriftWords())}
	})
	if slices.ContainsFunc(l.contenders, func(c contender) bool { _, ok := c.of.Threads(); return ok }) {
		of("threads after the warm-up", func(c contender) table.Cell {
			n, ok := c.of.Threads()
			return table.Cell{Text: shownIf(ok, units.Count(int64(n)))}
		})
	}
	bold, estimate, sampled := false, false, false
	groups := measure.Groups()
	for _, name := range l.needs() {
		groups = append(groups, measure.GroupOfNeed(name))
	}
	for _, g := range groups {
		ids := slices.DeleteFunc(slices.Clone(g.IDs), func(id measure.ID) bool {
			return !slices.ContainsFunc(l.contenders, func(c contender) bool { return measure.Get(id).Contender(c.of.Contender).Known })
		})
		if len(ids) > 0 {
			t.Rows = append(t.Rows, conclusion.Row(table.Cell{Text: g.Name, Tone: table.Faint}))
		}
		for _, id := range ids {
			m := measure.Get(id)
			of(m.Name+when(m.Unit == measure.Dollars, " per 1B requests"), func(c contender) table.Cell {
				r := m.Contender(c.of.Contender)
				if x := c.of.Excluded; m.Unit == measure.Dollars && x != nil && x.Unexpected != nil {
					return table.Cell{Text: missing} // what unexpected responses cost says nothing
				}
				cell := table.Cell{Text: strings.Replace(m.Text(r), m.Unit.Cell(r.Value), m.Unit.Text(r.Value), 1), Small: spread(m, r)}
				if id == measure.ErrorRate {
					cell.Small = errorKinds(c.of.Errors)
				}
				if slices.Contains(leaders[id], c.of.Label) {
					cell.Tone, bold = table.Strong, true
				}
				estimate, sampled = estimate || r.Known && r.Estimate, sampled || r.Known && r.AtLeast
				return cell
			})
		}
	}
	ignored := ""
	if floor != nil {
		ignored = "Differences below the noise floor are ignored: " + floor.Words() + "."
	}
	t.Footnotes = append(t.Footnotes, known(
		when(len(groups) > len(measure.Groups()), "Costs of needs are of the CPU time they used in the steps, not of their limits; "+
			"those of contenders do not include them."),
		when(slices.ContainsFunc(l.rows, func(r row) bool { return r.step.Open() }),
			"Open loop: latency counts from the scheduled time."),
		when(bold, "Bold: the leader of the measure, or those that are not significantly worse than it (Holm, 5%)."), ignored,
		when(estimate, "~: an estimate from the bodies that were compared with the expected ones: "+l.compared()+"."),
		when(sampled, "≥: largest sample, no counter available; the true peak may be higher."))...)
	return t
}

// needs returns the needs that are measured in any step.
func (l layout) needs() []string {
	var steps []stats.Step
	for _, c := range l.contenders {
		steps = append(steps, c.of.Steps...)
	}
	return measure.Needs(steps)
}

// compared returns how many bodies of each contender were compared.
func (l layout) compared() (text string) {
	for _, c := range l.contenders {
		n, _ := c.of.Compared()
		text += when(text != "", ", ") + c.Label + " " + units.Count(n) +
			when(c.of.Unread() > 0, " ("+units.Count(c.of.Unread())+" not looked at)")
	}
	return text
}

// spread returns the small print of a value: its interval, or the range of several rounds.
func spread(m measure.Measure, r measure.Result) []string {
	switch {
	case !r.Known || len(r.Rounds) < 2 || slices.Min(r.Rounds) == slices.Max(r.Rounds):
		return nil
	case r.Interval != nil:
		return []string{ends(*r.Interval, m.Unit.Cell)}
	}
	return []string{ends(stats.Interval{Low: slices.Min(r.Rounds), High: slices.Max(r.Rounds)}, m.Unit.Cell)}
}

// ends returns both ends of an interval. No line ends between a number and its unit.
func ends(in stats.Interval, words func(float64) string) string {
	return strings.ReplaceAll(words(in.Low), " ", "\u00a0") + " to " + strings.ReplaceAll(words(in.High), " ", "\u00a0")
}

// bottlenecks returns what limited each step of each contender, with the evidence at the peaks of few.
func bottlenecks(l layout) table.Table {
	found := false
	t := l.stepTable(func(c contender, row int, step stats.Step) table.Cell {
		s, cell := c.of.Bounds[l.indices[row]], table.Cell{Text: missing}
		if s.Bound == "" || step.Excluded && step.Failed[bench.ErrWrong] > 0 { // what limited these says nothing
			return cell
		}
		found = true
		cell.Text = string(s.Bound) + when(s.Agree < s.Rounds, fmt.Sprintf(" (%d of %d rounds)", s.Agree, s.Rounds))
		if peak, ok := c.of.PeakStep(); ok && peak.Index == l.indices[row] && len(l.contenders) <= denseFrom {
			cell.Small = []string{s.Words()}
		}
		return cell
	})
	if !found {
		return table.Table{}
	}
	t.Footnotes = []string{"From counters at the start and end of each step and the trial's other steps; small print: " +
		"the evidence at peak, of the last round with this bottleneck. “connections”: more of them give more throughput. " +
		"“disk”: the contender waits for a disk. “contender”: idle CPUs, yet no more throughput. “unclear”: no rule applies."}
	return t
}
