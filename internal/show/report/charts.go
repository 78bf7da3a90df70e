package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/table"
)

// newCharts returns the charts below the first screen: each measure over the steps, percentiles, the
// seconds of each trial, and successes over CPU time.
func newCharts(l layout) (all []chart) {
	for _, m := range measure.View(measure.ReportCharts) {
		if m.ID == measure.InFlight && oneRequestSteps(l) == nil {
			continue // with one request in all steps, the number of connections says it
		}
		all = append(all, stepChart(l, m.Measure))
		if m.ID == measure.CPURequest {
			all = append(all, byThread(l))
		}
	}
	for _, name := range l.needs() {
		for _, m := range measure.OfNeed(name) {
			if m.Chart != nil {
				all = append(all, stepChart(l, m))
			}
		}
	}
	all = append(all, percentiles(l))
	all = append(all, secondCharts(l)...)
	all = append(all, cumulative(l))
	kept := all[:0]
	for _, ch := range all {
		if ch.drawable() {
			kept = append(kept, ch)
		}
	}
	return kept
}

// stepChart returns a measure over the measured steps: over all rounds, and a faint line for each
// round of several.
func stepChart(l layout, m measure.Measure) chart {
	title := m.Chart.Title + when(m.Chart.Unit != "", ", "+m.Chart.Unit)
	ch := chart{ID: m.Chart.ID, Title: title, Note: m.Chart.Note, Unit: m.Chart.Unit, x: "value", Y: "value", xName: l.axis()}
	if m.Chart.Log {
		ch.Y = "log"
	}
	at, grow := l.places()
	if ch.Ticks = l.ticks(at); grow {
		ch.x = "log"
	}
	ch.Values = table.Table{Columns: l.columnsOf("Step")}
	for _, r := range l.rows {
		if !r.WarmUp {
			ch.Values.Add(r.Title)
		}
	}
	known := func(v float64, ok bool) bool { return ok && finite(v) && (v != 0 || m.Chart.Zero) }
	for _, c := range l.contenders {
		whole, row := line{Contender: c.Index, Name: c.Label}, 0
		for i, r := range l.rows {
			if r.WarmUp {
				continue
			}
			cell, p := table.Cell{Text: missing}, point{x: at[i], y: math.NaN()}
			s, _ := stepAt(c.of.Contender, l.indices[i])
			if r := m.Over(s); known(r.Value, r.Known) {
				cell.Text, p.y = m.Text(r), m.Axis(r.Value)
				if in := r.Interval; in != nil {
					cell.Small, p.ci = []string{ends(*in, m.Unit.Cell)}, &stats.Interval{Low: m.Axis(in.Low), High: m.Axis(in.High)}
				}
			}
			whole.points = append(whole.points, p)
			ch.Values.Rows[row].Cells = append(ch.Values.Rows[row].Cells, cell)
			row++
		}
		ch.add(whole)
		for _, col := range l.columns {
			if col.Contender != c.Index || len(c.of.Results) == 1 {
				continue
			}
			round := line{Contender: c.Index, Round: col.Round, Name: col.Name(), Faint: true}
			for i, s := range col.steps {
				if s == nil || l.rows[i].WarmUp {
					continue
				}
				if v, ok := m.Of(*s); known(v, ok) {
					round.points = append(round.points, point{x: at[i], y: m.Axis(v)})
				}
			}
			ch.add(round)
		}
	}
	return ch
}

// threadKinds are the parts of the CPU time, from below.
var threadKinds = [...]string{"served", "compiled", "collected", "runtime", "ended threads"}

// byThread returns the CPU time per request by kind of thread, of the contenders where it is known; without
// bars unless the compilers or collectors of any of them used 2% of it in a measured step.
func byThread(l layout) chart {
	m := measure.Get(measure.CPURequest)
	ch := chart{ID: "cpu-by-thread", Title: "CPU time per request by kind of thread, µs", Unit: "µs", Bars: true, x: "category", Y: "value", xName: l.axis(),
		Note: "One bar per contender. From below, ever lighter: served, compiled, collected, runtime (one of these two), ended threads (not known). " +
			"Work on threads that serve counts as served."}
	places := make([]float64, len(l.rows)) // side by side
	ch.Values = table.Table{Columns: l.columnsOf("Step")}
	for i, r := range l.rows {
		if !r.WarmUp {
			places[i] = float64(len(ch.Ticks))
			ch.Ticks = append(ch.Ticks, mark{Text: r.Label, At: number(places[i])})
			ch.Values.Add(r.Title)
		}
	}
	much := false
	for _, c := range l.contenders {
		var parts [len(threadKinds)]line
		for i, r := range l.rows {
			if r.WarmUp {
				continue
			}
			cell := table.Cell{Text: missing}
			s, _ := stepAt(c.of.Contender, l.indices[i])
			if of, ok := threadShares(s); ok && m.Over(s).Known {
				whole := m.Over(s).Value // as everywhere; the shares are those of all rounds
				cell.Text = m.Unit.Cell(whole)
				much = much || of[1] >= measure.OfNote || of[2] >= measure.OfNote
				for k, share := range of {
					if share > 0 {
						parts[k].points = append(parts[k].points, point{x: places[i], y: m.Axis(share * whole)})
						cell.Small = append(cell.Small, threadKinds[k]+" "+m.Unit.Cell(share*whole))
					}
				}
			}
			row := &ch.Values.Rows[int(places[i])]
			row.Cells = append(row.Cells, cell)
		}
		for k, part := range parts {
			part.Contender, part.Part, part.Faint, part.Name = c.Index, k, true, c.Label+", "+threadKinds[k]
			ch.add(part)
		}
	}
	if !much {
		ch.Bars, ch.Lines = false, nil
	}
	return ch
}

// threadShares returns the shares of threadKinds in the CPU time of a step over the rounds in which they are
// known; ok is false without any.
func threadShares(s stats.Step) (of [len(threadKinds)]float64, ok bool) {
	whole := 0.
	for _, r := range s.Results {
		t, ended, _ := r.ThreadTime() // zero where it is not known
		for k, d := range [...]bench.Duration{t.Served, t.Compiled, t.Collected, t.Runtime, ended} {
			of[k] += float64(d)
			whole += float64(d)
		}
	}
	for k := range of {
		of[k] /= max(1, whole)
	}
	return of, whole > 0
}

// percentiles returns the latencies of each step over 1/(1−q), over all rounds.
func percentiles(l layout) chart {
	ch := chart{ID: "percentiles", Title: "Latency by percentile, ms", Unit: "ms", Choose: "step", x: "log", Y: "log", xName: "percentile",
		Note: "Successes of all rounds, from merged histograms. One response in ten is slower than the 90th percentile, one in a hundred than the 99th."}
	for _, decade := range []float64{1, 10, 100, 1e3, 1e4, 1e5, 1e6} {
		ch.Ticks = append(ch.Ticks, mark{Text: fmt.Sprintf("%.7g%%", 100*(1-1/decade)), At: number(decade)})
	}
	for _, c := range l.contenders {
		for row, index := range l.indices {
			s, ok := stepAt(c.of.Contender, index)
			if !ok {
				continue
			}
			h, err := s.Histogram()
			if err != nil || h == nil {
				continue // an unreadable histogram leaves a gap
			}
			curve := line{Contender: c.Index, Step: row, Name: c.Label}
			for k := 0; k <= 60 && math.Pow(10, float64(k)/10) <= float64(h.Count()); k++ { // as far as there are enough responses
				x := math.Pow(10, float64(k)/10)
				curve.points = append(curve.points, point{x: x, y: positive(float64(h.Quantile(1-1/x)) / float64(time.Millisecond))})
			}
			ch.add(curve)
		}
	}
	return ch
}

// peakRow returns the row of the fastest contender's peak step; without a peak, the last row.
func (l layout) peakRow() int {
	best, row := 0.0, max(0, len(l.rows)-1)
	for _, c := range l.contenders {
		if s, ok := c.of.PeakStep(); ok && s.Throughput.Median > best {
			for i, index := range l.indices {
				if index == s.Index {
					best, row = s.Throughput.Median, i
				}
			}
		}
	}
	return row
}

// ofTrials adds a line for each trial, of which readers choose the round.
func (ch chart) ofTrials(l layout, points func(column) []point) chart {
	ch.Choose, ch.x = "round", "value"
	for _, c := range l.columns {
		ch.add(line{Contender: c.Contender, Round: c.Round, Name: c.Label, points: points(c)})
	}
	return ch
}

// cumulative returns the successes so far over the CPU time so far.
func cumulative(l layout) chart {
	ch := chart{ID: "cumulative", Title: "Cumulative successes over cumulative CPU time", Y: "value", xName: "CPU seconds since start",
		Note: "One point per step end; the first is the start of the load. CPU time includes start-up and checks. Steeper is better."}
	return ch.ofTrials(l, func(c column) (all []point) {
		var successes int64
		at := func(u *bench.Usage) {
			if u != nil {
				all = append(all, point{x: u.CPU.Seconds(), y: float64(successes)})
			}
		}
		for _, s := range c.steps {
			if s == nil {
				continue
			}
			if all == nil {
				at(s.Before)
			}
			successes += s.Load.AllSucceeded()
			at(s.After)
		}
		return all
	})
}

// limits returns the enforced limits of a resource as lines across a chart, with the contenders that
// have them if they differ.
func (l layout) limits(name string, of func(bench.Limits) (at float64, text string)) (all []mark) {
	who := map[string][]string{}
	var order []mark
	for _, c := range l.columns {
		at, text := 0., ""
		if info := c.trial.Instance; info != nil && info.LimitsEnforced {
			at, text = of(info.Limits)
		}
		if who[text] == nil && text != "" {
			order = append(order, mark{Text: text, At: number(at)})
		}
		if names := who[text]; len(names) == 0 || names[len(names)-1] != c.Label {
			who[text] = append(names, c.Label)
		}
	}
	for _, m := range order {
		m.Text = name + " " + m.Text + when(len(who) > 1, " ("+strings.Join(who[m.Text], ", ")+")")
		all = append(all, m)
	}
	return all
}

func (l layout) memoryLimits() []mark {
	return l.limits("limit", func(x bench.Limits) (float64, string) {
		return float64(x.Memory) / (1 << 20), when(x.Memory > 0, units.Bytes(x.Memory))
	})
}

func (l layout) quotas() []mark {
	return l.limits("quota", func(x bench.Limits) (float64, string) { return x.CPUs, when(x.CPUs > 0, units.CPUs(x.CPUs)) })
}
