package conclusion

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/table"
)

// table returns the evidence: one row for each contender; of Versions and Single for each measure
// or step.
func (d *draft) table() table.Table {
	switch d.kind {
	case Versions:
		if len(d.ranked()) == 2 {
			return d.changes()
		}
	case Single:
		return d.stepTable(d.all[0])
	case Requests:
		return d.matrix()
	case Arrivals:
		return d.arrivalTable()
	case FirstRequests:
		return d.phases()
	}
	return d.standings()
}

// place is a contender in the order of a table.
type place struct {
	analysis.Contender
	tier  string
	peak  float64
	index int // in the order of the profile, for its color
}

// places returns the contenders: by tier, then by peak throughput; excluded ones last.
func (d *draft) places() (all []place) {
	tiers := map[string]int{}
	s := d.standing(measure.Throughput)
	if d.comparable(s) {
		for _, p := range s.Places {
			tiers[p.Contender] = p.Tier
		}
	}
	for i, c := range d.all {
		p := place{Contender: c, tier: units.Missing, index: i + 1}
		if peak, ok := c.PeakStep(); ok {
			p.peak = peak.Throughput.Median
		}
		switch tier := tiers[c.Label]; {
		case c.WhyExcluded() != "":
			p.tier = "✗"
		case tier > 0:
			p.tier = strconv.Itoa(tier)
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b place) int {
		rank := func(p place) int { return cmp.Or(tiers[p.Label], 1<<20) }
		return cmp.Or(stats.ExcludedLast(a.Contender.Contender, b.Contender.Contender), cmp.Compare(rank(a), rank(b)),
			cmp.Compare(b.peak, a.peak))
	})
	return all
}

// row returns a row of a contender, faint if it is excluded.
func (p place) row(cells ...table.Cell) table.Row {
	if p.WhyExcluded() != "" {
		for i := range cells {
			if cells[i].Tone != table.Bad {
				cells[i].Tone = table.Faint
			}
		}
	}
	return table.Row{Mark: p.index, Cells: cells}
}

func text(s string) table.Cell { return table.Cell{Text: s} }

// valued returns a cell with a value to sort by.
func valued(v float64, s string) table.Cell { return table.Cell{Text: s, Sort: &v} }

func known(ok bool, v float64, s string) table.Cell {
	if !ok {
		return text(units.Missing)
	}
	return valued(v, s)
}

// over returns a measure of a step; of returns one of a contender.
func over(id measure.ID, s stats.Step) table.Cell {
	m := measure.Get(id)
	r := m.Over(s)
	return known(r.Known, r.Value, m.Text(r))
}

func (p place) of(id measure.ID) table.Cell {
	m := measure.Get(id)
	r := m.Contender(p.Contender.Contender)
	return known(r.Known, r.Value, m.Text(r))
}

// name returns the cell with the name of a contender, its language and its framework.
func (p place) name() table.Cell {
	c := table.Cell{Text: label(p.Contender)}
	if about := p.Service.Language; about != "" {
		if f := p.Service.Framework; f != "" {
			about += ", " + f
		}
		c.Small = []string{cut(about)}
	}
	return c
}

// standings is the table of several contenders: throughput, latency at equal load, memory, cost.
func (d *draft) standings() table.Table {
	rate, anyRate, between, tiers := analysis.EqualLoad(d.all), false, false, false
	t := table.Table{Sort: true, Heading: 1, Columns: []table.Column{
		{Title: "tier", Left: true}, {Title: "contender", Left: true}, {Title: "limits", Left: true}, {Title: "req/s at peak"},
		{Title: "at", Drop: 4},
		{Title: "p99 at " + units.Number(rate) + "/s"}, {Title: d.memoryTitle(), Drop: 1}, {Title: "$/1B req"}, {Title: "start-up", Drop: 2},
		{Title: "checks", Drop: 3},
	}}
	places, most := d.places(), 0.
	for _, p := range places {
		most = max(most, p.peak)
	}
	for _, p := range places {
		at, ok := p.P99At(rate)
		anyRate, tiers = anyRate || ok && !at.AtMost, tiers || p.tier != units.Missing
		between = between || ok && !at.Measured
		own := d.Run.Run.Profile.OwnLimits(p.Results[0].Trial.Selection())
		t.Rows = append(t.Rows, p.row(valued(0, p.tier), p.name(), text(own.Words()), d.peakCell(p, most), atCell(p),
			known(ok, float64(at.Value), latencyAt(at)), memoryCell(p), costCell(p), p.of(measure.StartUp), ChecksCell(p.Checks)))
	}
	switch {
	case anyRate && between:
		t.Footnotes = append(t.Footnotes, fmt.Sprintf("p99 at %s/s: at the same rate for all, ~: interpolated between closed-loop steps "+
			"up to the peak, ≤: all steps have higher rates, and this is the lowest p99 of them.", units.Number(rate)))
	case !anyRate:
		t = t.Without(t.Columns[5].Title)
	}
	if !tiers {
		t = t.Without("tier")
	}
	if d.Run.Run.Profile.EqualLimits() {
		t = t.Without("limits")
	}
	return t
}

// peakCell returns the throughput at peak with the width of its CI: "21,086 ±2.1%".
func (d *draft) peakCell(p place, most float64) table.Cell {
	v := p.PeakThroughput()
	if !v.Known() {
		return text(units.Missing)
	}
	c := valued(v.Median, units.Number(v.Median))
	switch {
	case v.Median <= 0: // an interval has no share of it
		c.Tone = table.Bad
	case p.Complete < p.Trials && p.Trials > 1:
		c.Text += fmt.Sprintf(", %d of %d rounds", p.Complete, p.Trials)
	case v.Interval != nil:
		off := max(v.Interval.High-v.Median, v.Median-v.Interval.Low) / v.Median
		c.Text += fmt.Sprintf(" ±%.1f%%", 100*off)
	}
	if most > 0 {
		share := v.Median / most
		c.Share = &share
	}
	if p.tier == "1" {
		c.Tone = table.Strong
	}
	return c
}

func atCell(p place) table.Cell {
	peak, ok := p.PeakStep()
	return known(ok, float64(peak.Step.Connections), cut(peak.Step.At()))
}

func latencyAt(at analysis.LatencyAt) string {
	switch {
	case at.AtMost:
		return "≤ " + units.Duration(at.Value)
	case at.Measured:
		return units.Duration(at.Value)
	}
	return "~" + units.Duration(at.Value)
}

// memoryCell returns the peak memory, of the limit if there is one: "209 of 512 MiB".
func memoryCell(p place) table.Cell {
	c := p.of(measure.MemoryPeak)
	if c.Sort == nil {
		return c
	}
	if limit := p.Planned().Memory; limit > 0 {
		share := *c.Sort / float64(limit)
		c.Share = &share
	}
	if x := p.Excluded; x != nil && x.Cause != nil && x.Cause.Kind == bench.CauseKilled {
		c.Tone = table.Bad
	}
	return c
}

// memoryTitle names the limit of memory, if it is the same for all.
func (d *draft) memoryTitle() string {
	if sets := d.Run.Run.Profile.LimitSets(); len(sets) == 1 && sets[0].Memory > 0 {
		return "memory of " + units.Bytes(sets[0].Memory)
	}
	return "memory"
}

func costCell(p place) table.Cell {
	if p.Cost == nil || p.Excluded != nil && p.Excluded.Unexpected != nil { // an error costs less than a response
		return text(units.Missing)
	}
	return valued(p.Cost.Total, units.Dollars(p.Cost.Total))
}

// ChecksCell counts the checks of a contender: "124 ✓", or the failed ones alone.
func ChecksCell(checks map[bench.CheckStatus]int) table.Cell {
	passed, failed := checks[bench.CheckPassed], checks[bench.CheckFailed]
	switch {
	case failed > 0:
		c := valued(-float64(failed), units.Count(int64(failed))+" ✗")
		c.Tone = table.Bad
		return c
	case passed == 0:
		return text(units.Missing)
	}
	c := valued(0, units.Count(int64(passed))+" ✓")
	c.Tone = table.Good
	return c
}

// changes is the table of two versions: a row for each measure.
func (d *draft) changes() table.Table {
	c := d.pair()
	t := table.Table{Columns: []table.Column{{Title: "measure", Left: true}, {Title: cut(c.Old), Drop: 1}, {Title: cut(c.New), Drop: 1},
		{Title: "change, 95% CI"}, {Title: "verdict", Left: true, Wrap: true}}}
	for _, r := range c.Rows {
		m := measure.Get(r.Measure)
		if r.Old.Median == nil && r.New.Median == nil {
			continue
		}
		change, tone := units.Missing, table.Plain
		if r.Ratio != nil || r.P != nil {
			change = r.Change()
		}
		said := r.Verdict.String()
		switch {
		case m.Comparison.Apart:
			said = ""
		case r.NotComparable != "" || r.P == nil:
			said = r.Sentence
		case r.Verdict == stats.Better:
			tone, said = table.Good, "✓ better"
		case r.Verdict == stats.Worse:
			tone, said = table.Bad, "✗ worse"
		case r.Verdict == stats.Inconclusive && r.More > 0 && r.More < stats.MaxRounds:
			said += fmt.Sprintf(": about %s", units.Plural(r.More, "more round"))
		}
		t.Rows = append(t.Rows, table.Row{Cells: []table.Cell{text(r.Title()), text(r.Old.Text(m.Unit)), text(r.New.Text(m.Unit)),
			text(change), {Text: said, Tone: tone}}})
	}
	return t
}

// unexpectedAt is the column of unexpected bodies in the table of steps.
const unexpectedAt = 6

// stepTable is the table of one contender: a row for each measured step.
func (d *draft) stepTable(c analysis.Contender) table.Table {
	t := table.Table{Columns: []table.Column{{Title: "step", Left: true}, {Title: "req/s"}, {Title: "p50"}, {Title: "p99"},
		{Title: "CPU/req", Drop: 1}, {Title: "errors"}, {Title: "unexpected"}, {Title: "bottleneck", Left: true, Wrap: true}}}
	for _, s := range c.Steps {
		if s.Step.WarmUp {
			continue
		}
		bound := c.Bounds[s.Index]
		why := ""
		if bound.Bound != "" {
			why = bound.Verdict.String()
		}
		t.Rows = append(t.Rows, table.Row{Cells: []table.Cell{text(cut(s.Step.Title())), over(measure.Throughput, s),
			over(measure.P50, s), over(measure.P99, s), over(measure.CPURequest, s), over(measure.ErrorRate, s), over(measure.Unexpected, s), text(why)}})
	}
	if !slices.ContainsFunc(t.Rows, func(r table.Row) bool { return r.Cells[unexpectedAt].Sort != nil }) {
		t = t.Without("unexpected")
	}
	return t
}

// matrix is the table of a step for each request.
func (d *draft) matrix() table.Table {
	t := table.Table{Sort: true, Columns: []table.Column{{Title: "contender", Left: true}}}
	columns := d.columns()
	for _, i := range columns {
		t.Columns = append(t.Columns, table.Column{Title: cut(d.Run.Run.Profile.Steps[i].Request)})
	}
	t.Columns = append(t.Columns, table.Column{Title: "$/1B req", Drop: 1})
	for _, p := range d.places() {
		cells := []table.Cell{p.name()}
		steps := stepsOf(p.Contender)
		for _, i := range columns {
			s, ok := steps[i]
			c := known(ok && s.Throughput.Known(), s.Throughput.Median, units.Number(s.Throughput.Median))
			if ok && s.Excluded {
				c.Text, c.Tone = "✗", table.Bad
			}
			cells = append(cells, c)
		}
		t.Rows = append(t.Rows, p.row(append(cells, costCell(p))...))
	}
	return t
}

// arrivalTable is the table of a step with arrivals.
func (d *draft) arrivalTable() table.Table {
	t := table.Table{Sort: true, Columns: []table.Column{{Title: "contender", Left: true}, {Title: "p99"}, {Title: "failed"},
		{Title: "slowest", Drop: 3}, {Title: "start-up", Drop: 1}, {Title: "$/1B req"}}}
	index, p99 := d.arrivalStep(), measure.Get(measure.P99)
	places := d.places()
	value := func(p place) float64 {
		if s, ok := stepsOf(p.Contender)[index]; ok {
			return p99.Over(s).Value
		}
		return 0
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(stats.ExcludedLast(a.Contender.Contender, b.Contender.Contender), cmp.Compare(value(a), value(b)))
	})
	for _, p := range places {
		s, ok := stepsOf(p.Contender)[index]
		failed := known(ok, float64(s.FailedTotal()), units.Count(s.FailedTotal()))
		if s.FailedTotal() > 0 {
			failed.Tone = table.Bad
		}
		t.Rows = append(t.Rows, p.row(p.name(), over(measure.P99, s), failed,
			over(measure.Max, s), p.of(measure.StartUp), costCell(p)))
	}
	t.Footnotes = []string{"Latency counts from the scheduled time."}
	return t
}

// phases is the table of the first requests: the very first, and the typical later ones.
func (d *draft) phases() table.Table {
	t := table.Table{Columns: []table.Column{{Title: "contender", Left: true}, {Title: "start-up"}, {Title: "first request"},
		{Title: "new connection"}, {Title: "same connection"}, {Title: "p50 under load"}, {Title: "$/1B req", Drop: 1}}}
	for _, p := range d.places() {
		of := func(one func(bench.FirstRequests) bench.RequestPhases) table.Cell {
			v, _, ok := timed(one)(p.Contender)
			return known(ok, v, measure.Nanoseconds.Text(v))
		}
		t.Rows = append(t.Rows, p.row(p.name(),
			p.of(measure.StartUp),
			of(veryFirst), of(bench.FirstRequests.TypicalNew), of(bench.FirstRequests.Typical), p.of(measure.P50), costCell(p)))
	}
	t.Footnotes = []string{"Medians of 10 requests each; of several rounds the median of these."}
	return t
}
