package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/table"
)

// columns returns columns of values after one of names.
func columns(names string, values ...string) []table.Column {
	all := []table.Column{{Title: names, Left: true}}
	for _, title := range values {
		all = append(all, table.Column{Title: title})
	}
	return all
}

// columnsOf returns a column of names, and one for each contender.
func (l layout) columnsOf(names string) []table.Column {
	all := columns(names)
	for _, c := range l.contenders {
		all = append(all, table.Column{Title: c.Label})
	}
	return all
}

// shownIf returns a cell with text if it is known, else one with a dash.
func shownIf(known bool, text string) table.Cell {
	if !known {
		text = missing
	}
	return table.Cell{Text: text}
}

// row returns a row of the contender.
func (c contender) row(cells ...table.Cell) table.Row {
	return table.Row{Mark: c.Index + 1, Cells: append([]table.Cell{{Text: c.Label}}, cells...)}
}

// newResults returns every measure by group, with a column for each contender; measures without any
// value are left out, leaders are bold.
func newResults(l layout, leaders map[measure.ID][]string, floor *compare.Floor) table.Table {
	t := table.Table{Columns: l.columnsOf("Measure"), Footnotes: []string{
		fmt.Sprintf("Of a step: at peak of each contender, the measured step with the highest throughput. Small print: 95%% CI of the "+
			"median (from %d rounds on), or else the range of the rounds.", stats.MinInterval)}}
	of := func(name string, cell func(contender) table.Cell) {
		row := table.Row{Cells: []table.Cell{{Text: name}}}
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
		cell := shownIf(ok, cleanName(peak.Step.Words()))
		cell.Small = withText(peak.DriftWords())
		return cell
	})
	if slices.ContainsFunc(l.contenders, func(c contender) bool { _, ok := c.of.Threads(); return ok }) {
		of("threads after the warm-up", func(c contender) table.Cell {
			n, ok := c.of.Threads()
			return shownIf(ok, units.Count(int64(n)))
		})
	}
	bold, estimate, sampled := false, false, false
	groups := measure.Groups()
	for _, name := range l.needs() {
		groups = append(groups, measure.GroupOfNeed(name))
	}
	for _, g := range groups {
		t.Rows = append(t.Rows, table.Row{Cells: []table.Cell{{Text: g.Name, Tone: table.Faint}}})
		rows := len(t.Rows)
		for _, id := range g.IDs {
			m := measure.Get(id)
			if !slices.ContainsFunc(l.contenders, func(c contender) bool { return m.Contender(c.of.Contender).Known }) {
				continue
			}
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
		if len(t.Rows) == rows {
			t.Rows = t.Rows[:rows-1]
		}
	}
	if len(groups) > len(measure.Groups()) {
		t.Footnotes = append(t.Footnotes, "Costs of needs are of the CPU time they used in the steps, not of their limits; "+
			"those of contenders do not include them.")
	}
	if slices.ContainsFunc(l.rows, func(r row) bool { return r.step.Open() }) {
		t.Footnotes = append(t.Footnotes, "Open loop: latency counts from the scheduled time.")
	}
	if bold {
		t.Footnotes = append(t.Footnotes, "Bold: the leader of the measure, or those that are not significantly worse than it (Holm, 5%).")
	}
	if floor != nil {
		t.Footnotes = append(t.Footnotes, "Differences below the noise floor are ignored: "+floor.Words()+".")
	}
	if estimate {
		t.Footnotes = append(t.Footnotes, "~: an estimate from the bodies that were compared with the expected ones: "+l.compared()+".")
	}
	if sampled {
		t.Footnotes = append(t.Footnotes, "≥: largest sample, no counter available; the true peak may be higher.")
	}
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
	t := table.Table{Columns: l.columnsOf("Step"), Footnotes: []string{
		"From counters at the start and end of each step and the trial's other steps; small print: the evidence at peak, of the last round " +
			"with this bottleneck. “connections”: more of them give more throughput. “disk”: the contender waits for a disk. “contender”: idle CPUs, yet no more throughput. " +
			"“unclear”: no rule applies."}}
	any := false
	for i, r := range l.rows {
		if r.WarmUp {
			continue
		}
		row := table.Row{Cells: []table.Cell{{Text: r.Title}}}
		for _, c := range l.contenders {
			index := l.indices[i]
			s, cell := c.of.Bounds[index], table.Cell{Text: missing}
			step, ok := stepAt(c.of.Contender, index)
			wrong := ok && step.Excluded && step.Failed[bench.ErrWrong] > 0 // what limited these says nothing
			if s.Bound != "" && !wrong {
				any = true
				cell.Text = string(s.Bound) + when(s.Agree < s.Rounds, " ("+strconv.Itoa(s.Agree)+" of "+strconv.Itoa(s.Rounds)+" rounds)")
				if peak, ok := c.of.PeakStep(); ok && peak.Index == index && len(l.contenders) <= denseFrom {
					cell.Small = []string{s.Words()}
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	if !any {
		t.Rows = nil
	}
	return t
}

// stepAt returns the step with the given index.
func stepAt(s stats.Contender, index int) (stats.Step, bool) {
	i := slices.IndexFunc(s.Steps, func(x stats.Step) bool { return x.Index == index })
	if i < 0 {
		return stats.Step{}, false
	}
	return s.Steps[i], true
}
