package report

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/analysis/summary"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/table"
)

// valued returns a cell with a value to sort by.
func valued(v float64, main string, small ...string) table.Cell {
	c := table.Cell{Text: main, Small: small}
	if finite(v) {
		c.Sort = &v
	}
	return c
}

// shownIf returns a cell with text if it is known, else one with a dash.
func shownIf(known bool, text string) table.Cell {
	if !known {
		text = missing
	}
	return table.Cell{Text: text}
}

// columns returns columns of values after one of names.
func columns(names string, values ...string) []table.Column {
	all := []table.Column{{Title: names, Left: true}}
	for _, title := range values {
		all = append(all, table.Column{Title: title})
	}
	return all
}

// row returns a row of the contender.
func (c contender) row(cells ...table.Cell) table.Row {
	return table.Row{Mark: c.Index + 1, Cells: append([]table.Cell{{Text: c.Label}}, cells...)}
}

// newResults returns the table of results, with tiers: the rounds do not support ranks.
func newResults(run bench.Run, l layout, facts summary.Facts, floor *compare.Floor) table.Table {
	shown := l.shown(measure.ReportContenders)
	t := table.Table{
		Sort:    true,
		Columns: columns("Contender", slices.Concat([]string{"Tier"}, titles(shown), []string{"Checks", "Rounds"})...),
		Footnotes: []string{
			"Medians of the rounds; below them the 95% CI of the median (from " + strconv.Itoa(stats.MinInterval) +
				" rounds on; 96.9% with exactly that many), or else the range and the number of rounds.",
			"Peak: the measured step with the highest throughput. Latency: all rounds, at the step nearest to half " +
				"peak (25 to 75% of it); below it, at peak. Memory: highest of all rounds. CPU per request and cost: " +
				"from start to stop, with start-up, checks and warm-up; the median round by cost, and below it its " +
				"parts (other: checks and time between steps).",
		},
	}
	sampled, bodies := false, ""
	tiers, why := tiersOf(facts)
	for _, c := range l.contenders {
		s := c.of.Contender
		row := c.row(tierCell(tiers[s.Label]))
		row.Cells[0].Small = withText(c.About)
		for _, m := range shown {
			if m.ID == measure.Throughput {
				row.Cells = append(row.Cells, peakCell(s, c.of.Bounds))
			} else {
				row.Cells = append(row.Cells, measureCell(m.Measure, s))
			}
		}
		row.Cells = append(row.Cells, checksCell(s), trialsCell(s))
		t.Rows = append(t.Rows, row)
		sampled = sampled || s.MemoryPeak > 0 && s.MemoryPeakIsSample
		if n, _ := s.Compared(); n > 0 || s.Unread() > 0 {
			bodies += when(bodies != "", ", ") + c.Label + " " + units.Count(n)
			bodies += when(s.Unread() > 0, " ("+units.Count(s.Unread())+" not looked at)")
		}
	}
	if bodies != "" {
		t.Footnotes = append(t.Footnotes, "Bodies compared with the expected ones: "+bodies+". “~”: an error rate that "+
			"is an estimate from these, with the share of each step and kind of request weighted by its requests.")
	}
	if len(l.contenders) > 1 {
		if floor != nil {
			why += " Differences below the noise floor are ignored: " + floor.Words() + "."
		}
		t.Footnotes = append(t.Footnotes, why)
	}
	if sampled {
		t.Footnotes = append(t.Footnotes, "“≥”: largest sample, no counter available; the true peak may be higher.")
	}
	if run.Profile.PriceVCPUHr <= 0 && len(l.contenders) > 0 {
		t.Footnotes = append(t.Footnotes, "No price in the profile; default per vCPU-hour: $"+plain(stats.DefaultPrice)+".")
	}
	return t
}

// tiersOf returns the tiers by throughput, from 1, for each label, and a note on what they mean.
func tiersOf(facts summary.Facts) (tiers map[string]int, why string) {
	tiers = map[string]int{}
	how := "Mann-Whitney"
	for _, s := range facts.Standings {
		if s.Measure != measure.Throughput {
			continue
		}
		if s.Paired {
			how = "interleaved: paired signed-rank test"
		}
		for _, p := range s.Places {
			if p.Tier > 0 && facts.Comparable(s) && s.HasTiers() {
				tiers[p.Contender] = p.Tier
			}
		}
	}
	if len(tiers) == 0 {
		return tiers, "No tiers: the data supports no ranking (reasons at the top)."
	}
	return tiers, "Tier by throughput: a contender is significantly behind the leader of each tier above (" +
		how + ", Holm, 5%). No order within a tier. " + missing + ": excluded (reasons at the top)."
}

func tierCell(tier int) table.Cell {
	if tier == 0 {
		return table.Cell{Text: missing}
	}
	return valued(float64(tier), strconv.Itoa(tier))
}

// interval returns the small print below a median of the results: its 95% CI, or the range and how
// many of the necessary rounds there are.
func interval(v stats.Value, words func(float64) string) []string {
	switch {
	case v.Interval != nil:
		return []string{ends(*v.Interval, words)}
	case len(v.Values) == 0:
		return nil
	}
	return append(spread(v, words), strconv.Itoa(len(v.Values))+" of "+units.Plural(stats.MinInterval, "round"))
}

// spread returns the small print below a median: its interval, or the range of several rounds.
func spread(v stats.Value, words func(float64) string) []string {
	switch {
	case v.Interval != nil:
		return []string{ends(*v.Interval, words) + " (" + units.Share(v.Interval.Confidence) + ")"}
	case len(v.Values) > 1:
		return []string{words(slices.Min(v.Values)) + " to " + words(slices.Max(v.Values))}
	}
	return nil
}

func ends(in stats.Interval, words func(float64) string) string {
	return words(in.Low) + " to " + words(in.High)
}

func durationCell(v stats.Value) table.Cell {
	if !v.Known() {
		return table.Cell{Text: missing}
	}
	inWords := func(x float64) string { return units.Duration(time.Duration(x)) }
	return valued(v.Median, units.Duration(v.Duration()), spread(v, inWords)...)
}

// shown returns the measures of a table of contenders; optional ones only if a contender has them.
func (l layout) shown(p measure.Place) []measure.Shown {
	return slices.DeleteFunc(measure.View(p), func(m measure.Shown) bool {
		has := func(c contender) bool { return m.Contender(c.of.Contender).Known }
		return m.Optional && !slices.ContainsFunc(l.contenders, has)
	})
}

func titles(columns []measure.Shown) (all []string) {
	for _, m := range columns {
		all = append(all, m.Head)
	}
	return all
}

func measureCell(m measure.Measure, s stats.Contender) table.Cell {
	f := m.Contender(s)
	c := table.Cell{Text: missing}
	if f.Known {
		text := m.Unit.Text(f.Value)
		if f.AtLeast {
			text = "≥ " + text
		}
		text = when(f.Estimate, "~") + text
		c = valued(f.Value, text)
	}
	switch m.ID {
	case measure.P50Half, measure.P99Half:
		return halfCell(m, s)
	case measure.StartUp, measure.PeakTime:
		c.Small = interval(stats.Value{Values: f.Rounds, Interval: f.Interval},
			func(v float64) string { return m.Unit.Text(v) })
	case measure.CPURequest:
		return cpuCell(s)
	case measure.Cost:
		return costCell(s)
	case measure.ErrorRate:
		c.Small = errorKinds(s.Errors)
	}
	return c
}

func peakCell(s stats.Contender, bound map[int]verdict.Summary) table.Cell {
	peak, ok := s.PeakStep()
	if !ok {
		return table.Cell{Text: missing}
	}
	small := append([]string{"at " + newRow(peak.Step, 0).Title}, interval(peak.Throughput, units.Number)...)
	by := bound[peak.Index].Bound
	small = append(small, known(peak.DriftWords(), when(by != "" && by != verdict.Unclear, "bound by "+string(by)))...)
	return valued(peak.Throughput.Median, units.Number(peak.Throughput.Median)+"/s", small...)
}

// A step counts as half peak with throughput in this range, in percent of that at peak.
const (
	leastHalf = 25
	mostHalf  = 75
)

// halfCell returns a quantile at half peak, with its value at peak below.
func halfCell(m measure.Measure, s stats.Contender) table.Cell {
	c := table.Cell{Text: missing}
	f := m.Contender(s)
	if i, share, ok := s.HalfPeak(); ok && f.Known {
		of := strconv.Itoa(int(math.Round(100*share))) + "%"
		first := m.ID == measure.P50Half // it names the step for the others
		switch near := math.Round(100 * share); {
		case near >= leastHalf && near <= mostHalf:
			c = valued(f.Value, m.Unit.Text(f.Value))
			if first {
				c.Small = []string{"at " + newRow(s.Steps[i].Step, 0).Title + ", " + of}
			}
		case first:
			c.Small = []string{"no step near half", "nearest " + of + ": " + m.Unit.Text(f.Value)}
		default:
			c.Small = []string{"no step near half"}
		}
	}
	at := measure.P50
	if m.ID == measure.P99Half {
		at = measure.P99
	}
	if peak := measure.Get(at).Contender(s); peak.Known {
		c.Small = append(c.Small, "at peak "+m.Unit.Text(peak.Value))
	}
	return c
}

func cpuCell(s stats.Contender) table.Cell {
	c := table.Cell{Text: missing}
	if s.Cost != nil && s.Cost.Successes > 0 {
		each := s.Cost.CPU / time.Duration(s.Cost.Successes)
		c = valued(float64(each), units.Duration(each))
	}
	if peak := measure.Get(measure.CPURequest).Contender(s); peak.Known {
		c.Small = []string{"at peak " + measure.Nanoseconds.Text(peak.Value)}
	}
	return c
}

func costCell(s stats.Contender) table.Cell {
	if s.Cost == nil {
		return table.Cell{Text: missing}
	}
	var parts []string
	for _, p := range []struct {
		name    string
		dollars float64
	}{{"start-up", s.Cost.StartUp}, {"other", s.Cost.Other}, {"warm-up", s.Cost.WarmUp}, {"steady", s.Cost.Steady}} {
		if p.dollars > 0 {
			parts = append(parts, p.name+" "+units.Dollars(p.dollars))
		}
	}
	return valued(s.Cost.Total, units.Dollars(s.Cost.Total), parts...)
}

func checksCell(s stats.Contender) table.Cell {
	passed, failed := s.Checks[bench.CheckPassed], s.Checks[bench.CheckFailed]
	if passed+failed == 0 {
		return table.Cell{Text: missing}
	}
	if failed > 0 {
		return valued(-float64(failed), units.Count(int64(failed))+" ✗", units.Count(int64(passed))+" passed")
	}
	return valued(0, units.Count(int64(passed))+" ✓")
}

func trialsCell(s stats.Contender) table.Cell {
	return valued(float64(s.Complete), units.Count(int64(s.Complete))+" of "+units.Count(int64(s.Trials)))
}
