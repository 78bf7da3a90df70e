package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/table"
)

// newCharts returns the charts below the first screen: each measure over the steps, percentiles, and the
// seconds of each trial.
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
	for _, name := range l.run.MeasuredNeeds() {
		for _, m := range measure.OfNeed(name) {
			if m.Chart != nil {
				all = append(all, stepChart(l, m))
			}
		}
	}
	all = append(all, percentiles(l))
	all = append(all, secondCharts(l)...)
	return slices.DeleteFunc(all, func(ch chart) bool { return !ch.drawable() })
}

// alongSteps gives a chart the axis of the steps, and returns where they are on it.
func (l layout) alongSteps(ch chart) (chart, []float64) {
	at, grow := l.places()
	if ch.xName, ch.Ticks = l.axis(), l.ticks(at); grow {
		ch.x = "log"
	}
	return ch, at
}

// stepChart returns a measure over the measured steps: over all rounds, and a faint line for each
// round of several.
func stepChart(l layout, m measure.Measure) chart {
	title := m.Chart.Title + when(m.Chart.Unit != "", ", "+m.Chart.Unit)
	ch, at := l.alongSteps(chart{ID: m.Chart.ID, Title: title, Note: m.Chart.Note, Unit: m.Chart.Unit,
		Y: when(m.Chart.Log, "log")})
	known := func(v float64, ok bool) bool { return ok && finite(v) && (v != 0 || m.Chart.Zero) }
	whole := make([]line, len(l.contenders))
	ch.Values = conclusion.StepTable(l.run, func(n, index int, s stats.Step) table.Cell {
		cell, p := table.Cell{Text: missing}, point{x: at[l.row(index)], y: math.NaN()}
		if r := m.Over(s); known(r.Value, r.Known) {
			cell.Text, p.y = m.Text(r), m.Axis(r.Value)
			if in := r.Interval; in != nil {
				cell.Small, p.ci = []string{conclusion.Ends(*in, m.Unit)}, &stats.Interval{Low: m.Axis(in.Low), High: m.Axis(in.High)}
			}
		}
		whole[n].points = append(whole[n].points, p)
		return cell
	})
	for i, c := range l.contenders {
		ch.add(line{Contender: i, Name: c.Label, points: whole[i].points})
		for _, col := range l.columns {
			if col.Contender != i || len(c.of.Results) == 1 {
				continue
			}
			round := line{Contender: i, Round: col.Round, Name: col.Name(), Faint: true}
			for row, s := range col.steps {
				if s == nil || l.rows[row].WarmUp {
					continue
				}
				if v, ok := m.Of(*s); known(v, ok) {
					round.points = append(round.points, point{x: at[row], y: m.Axis(v)})
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
	ch := chart{ID: "cpu-by-thread", Title: "CPU time per request by kind of thread, µs", Unit: "µs",
		Bars: true, x: "category", xName: l.axis(),
		Note: "One bar per contender. From below, ever lighter: served, compiled, collected, runtime (one of these two), ended threads (not known). " +
			"Work on threads that serve counts as served."}
	places, n := make([]float64, len(l.rows)), 0. // side by side
	for i, r := range l.rows {
		if places[i] = n; !r.WarmUp {
			n++
		}
	}
	ch.Ticks = l.ticks(places)
	much, parts := false, make([][len(threadKinds)][]point, len(l.contenders))
	ch.Values = conclusion.StepTable(l.run, func(n, index int, s stats.Step) table.Cell {
		cell := table.Cell{Text: missing}
		of, ok := threadShares(s)
		if whole := m.Over(s); ok && whole.Known { // as everywhere; the shares are those of all rounds
			cell.Text = m.Unit.Cell(whole.Value)
			much = much || of[1] >= measure.OfNote || of[2] >= measure.OfNote
			for k, share := range of {
				if v := share * whole.Value; share > 0 {
					parts[n][k] = append(parts[n][k], point{x: places[l.row(index)], y: m.Axis(v)})
					cell.Small = append(cell.Small, threadKinds[k]+" "+m.Unit.Cell(v))
				}
			}
		}
		return cell
	})
	for i, c := range l.contenders {
		for k, points := range parts[i] {
			ch.add(line{Contender: i, Part: k, Faint: true, Name: c.Label + ", " + threadKinds[k], points: points})
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
			h, err := c.of.AtIndex(index).Histogram()
			if err != nil || h == nil {
				continue // an unreadable histogram leaves a gap
			}
			curve := line{Contender: c.Index, Step: row, Name: c.Label}
			for k := 0; k <= 60 && math.Pow(10, float64(k)/10) <= float64(h.Count()); k++ { // as far as there are enough responses
				x := math.Pow(10, float64(k)/10)
				curve.points = append(curve.points, point{x: x, y: larger(unknown, float64(h.Quantile(1-1/x))/float64(time.Millisecond))})
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
			best, row = s.Throughput.Median, slices.Index(l.indices, s.Index)
		}
	}
	return row
}

// ofTrials adds a line for each trial, of which readers choose the round.
func (ch chart) ofTrials(l layout, points func(i int, c column) []point) chart {
	ch.Choose = "round"
	for i, c := range l.columns {
		ch.add(line{Contender: c.Contender, Round: c.Round, Name: c.Label, points: points(i, c)})
	}
	return ch
}

// limits returns the enforced limits of a resource as lines across a chart, with the contenders that
// have them if they differ.
func (l layout) limits(name string, of func(bench.Limits) (at float64, text string)) (all []mark) {
	who := map[mark][]string{}
	var order []mark
	for _, c := range l.columns {
		var m mark
		if info := c.trial.Instance; info != nil && info.LimitsEnforced {
			at, text := of(info.Limits)
			m = mark{Text: text, At: number(at)}
		}
		if !slices.Contains(order, m) {
			order = append(order, m)
		}
		if !slices.Contains(who[m], c.Label) {
			who[m] = append(who[m], c.Label)
		}
	}
	for _, m := range order {
		if text := m.Text; text != "" {
			m.Text = name + " " + text + when(len(who) > 1, " ("+strings.Join(who[m], ", ")+")")
			all = append(all, m)
		}
	}
	return all
}
