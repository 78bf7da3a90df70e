package conclusion

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/table"
)

// columnsOf returns a column of names, and one for each contender.
func columnsOf(names string, all []analysis.Contender) []table.Column {
	columns := Columns(names)
	for _, c := range all {
		columns = append(columns, table.Column{Title: long(c.Label)})
	}
	return columns
}

// StepTable returns a table with a row for each measured step of a run, and in it a cell of each contender,
// by its place and the index of the step; the zero step if it did not run.
func StepTable(a *analysis.Run, cell func(contender, index int, s stats.Step) table.Cell) table.Table {
	all, steps := a.Ordered(), a.Steps()
	t := table.Table{Columns: columnsOf("Step", all)}
	for _, i := range slices.Sorted(maps.Keys(steps)) {
		if steps[i].WarmUp {
			continue
		}
		row := t.Add(long(steps[i].Words()))
		for n, c := range all {
			row.Cells = append(row.Cells, cell(n, i, c.AtIndex(i)))
		}
	}
	return t
}

// Dense is the number of contenders above which tables have small rows and little small print.
const Dense = 6

// bottlenecks returns what limited each step of each contender, with the evidence at the peaks of few.
func (d *draft) bottlenecks() table.Table {
	found := false
	t := StepTable(d.Run, func(n, index int, step stats.Step) table.Cell {
		c, cell := d.all[n], table.Cell{Text: units.Missing}
		s := c.Bounds[index]
		if s.Bound == "" || step.Unexpected() {
			return cell
		}
		found = true
		cell.Text = boundIn(s, " rounds")
		if peak, ok := c.PeakStep(); ok && peak.Index == index && len(d.all) <= Dense {
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

// results returns every measure by group, with a column for each contender; measures without any
// value are left out, leaders are bold.
func (d *draft) results(leaders map[measure.ID][]string) table.Table {
	if len(d.all) == 0 {
		return table.Table{}
	}
	t := table.Table{Columns: columnsOf("Measure", d.all)}
	note := func(known bool, text string) {
		if known {
			t.Footnotes = append(t.Footnotes, text)
		}
	}
	of := func(name string, cell func(analysis.Contender) table.Cell) {
		row := Row(name)
		for _, c := range d.all {
			row.Cells = append(row.Cells, cell(c))
		}
		t.Rows = append(t.Rows, row)
	}
	of("complete rounds", func(c analysis.Contender) table.Cell {
		return text(units.Count(int64(c.Complete)) + " of " + units.Count(int64(c.Trials)))
	})
	of("peak step", func(c analysis.Contender) table.Cell {
		peak, ok := c.PeakStep()
		cell := text(shownIf(ok, long(peak.Step.Words())))
		if drift := peak.DriftWords(); drift != "" {
			cell.Small = []string{drift}
		}
		return cell
	})
	if slices.ContainsFunc(d.all, func(c analysis.Contender) bool { _, ok := c.Threads(); return ok }) {
		of("threads after the warm-up", func(c analysis.Contender) table.Cell {
			n, ok := c.Threads()
			return text(shownIf(ok, units.Count(int64(n))))
		})
	}
	bold, estimate, sampled := false, false, false
	groups, needs := measure.Groups(), d.MeasuredNeeds()
	for _, name := range needs {
		groups = append(groups, measure.GroupOfNeed(name))
	}
	for _, g := range groups {
		ids := slices.DeleteFunc(slices.Clone(g.IDs), func(id measure.ID) bool {
			return !slices.ContainsFunc(d.all, func(c analysis.Contender) bool { return measure.Get(id).Contender(c.Contender).Known })
		})
		if len(ids) > 0 {
			t.Rows = append(t.Rows, Row(table.Cell{Text: g.Name, Tone: table.Faint}))
		}
		for _, id := range ids {
			m, name := measure.Get(id), measure.Get(id).Name
			if m.Unit == measure.Dollars {
				name += " per 1B requests"
			}
			of(name, func(c analysis.Contender) table.Cell {
				r := m.Contender(c.Contender)
				if x := c.Excluded; m.Unit == measure.Dollars && x != nil && x.Unexpected != nil {
					return text(units.Missing) // what unexpected responses cost says nothing
				}
				cell := table.Cell{Text: strings.Replace(m.Text(r), m.Unit.Cell(r.Value), m.Unit.Text(r.Value), 1), Small: spread(m, r)}
				if id == measure.ErrorRate {
					cell.Small = errorKinds(c.Errors)
				}
				if slices.Contains(leaders[id], c.Label) {
					cell.Tone, bold = table.Strong, true
				}
				estimate, sampled = estimate || r.Known && r.Estimate, sampled || r.Known && r.AtLeast
				return cell
			})
		}
	}
	open := func(s bench.Step) bool { return s.Open() }
	note(true, fmt.Sprintf("Of a step: at peak of each contender, the measured step with the highest throughput. Small print: 95%% CI of the "+
		"median (from %d rounds on), or else the range of the rounds.", stats.MinInterval))
	note(len(needs) > 0, "Costs of needs are of the CPU time they used in the steps, not of their limits; "+
		"those of contenders do not include them.")
	note(slices.ContainsFunc(slices.Collect(maps.Values(d.Steps())), open), "Open loop: latency counts from the scheduled time.")
	note(bold, "Bold: the leader of the measure, or those that are not significantly worse than it (Holm, 5%).")
	if d.floor != nil {
		note(true, "Differences below the noise floor are ignored: "+d.floor.Words()+".")
	}
	note(estimate, "~: an estimate from the bodies that were compared with the expected ones: "+d.compared()+".")
	note(sampled, "≥: largest sample, no counter available; the true peak may be higher.")
	return t
}

// compared returns how many bodies of each contender were compared.
func (d *draft) compared() string {
	var all []string
	for _, c := range d.all {
		n, _ := c.Compared()
		text := long(c.Label) + " " + units.Count(n)
		if c.Unread() > 0 {
			text += " (" + units.Count(c.Unread()) + " not looked at)"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// spread returns the small print of a value: its interval, or the range of several rounds.
func spread(m measure.Measure, r measure.Result) []string {
	switch {
	case !r.Known || len(r.Rounds) < 2 || slices.Min(r.Rounds) == slices.Max(r.Rounds):
		return nil
	case r.Interval != nil:
		return []string{Ends(*r.Interval, m.Unit)}
	}
	return []string{Ends(stats.Interval{Low: slices.Min(r.Rounds), High: slices.Max(r.Rounds)}, m.Unit)}
}

// Ends returns both ends of an interval. No line ends between a number and its unit.
func Ends(in stats.Interval, unit measure.Unit) string {
	return strings.ReplaceAll(unit.Cell(in.Low), " ", "\u00a0") + " to " + strings.ReplaceAll(unit.Cell(in.High), " ", "\u00a0")
}

// shownIf returns the text if it is known, else a dash.
func shownIf(known bool, text string) string {
	if !known {
		return units.Missing
	}
	return text
}
