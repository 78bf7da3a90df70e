package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/table"
)

// goals returns the thresholds of a metric, in the unit of its chart.
func goals(p bench.Profile, metric profile.Metric, unit float64) (all []mark) {
	for _, t := range p.Thresholds {
		conditions, _ := profile.ParseConditions(t.Condition) // a wrong one has no line
		for _, c := range conditions {
			if c.Metric == metric {
				all = append(all, mark{Text: c.String(), At: number(c.Limit / unit)})
			}
		}
	}
	return all
}

// firstCharts returns the one or two charts that explain the conclusion, with lines in the order of
// its table.
func firstCharts(p bench.Profile, l layout, r conclusion.Conclusion) (all []chart) {
	for _, ch := range firstData(l, r.Kind) {
		switch ch.ID {
		case "first-p99":
			ch.Marks = goals(p, "p99", 1e6)
		case "first-throughput":
			ch.Marks = goals(p, profile.Throughput, 1)
		}
		place := func(one line) int { // in the table
			return slices.IndexFunc(r.Table.Rows, func(row table.Row) bool { return row.Mark == one.Contender+1 })
		}
		slices.SortStableFunc(ch.Lines, func(a, b line) int { return cmp.Compare(place(a), place(b)) })
		ch.fade()
		if ch.First = true; ch.drawable() {
			all = append(all, ch)
		}
	}
	return all
}

// ofContenders adds a line for each contender; † marks one that died.
func (ch chart) ofContenders(l layout, points func(contender) []point) chart {
	for _, c := range l.contenders {
		died := slices.ContainsFunc(c.of.Results, func(t bench.TrialResult) bool { return t.WhyFailed() != nil })
		ch.add(line{Contender: c.Index, Name: c.Label + when(died, " †"), points: points(c)})
	}
	return ch
}

func firstData(l layout, kind conclusion.Kind) []chart {
	switch kind {
	case conclusion.Versions:
		return []chart{
			byRound(l, measure.CPURequest, "CPU per request", "µs"),
			byRound(l, measure.Throughput, "Throughput at peak", "/s"),
		}
	case conclusion.Requests:
		return []chart{overSteps(l)}
	case conclusion.Arrivals:
		return []chart{unanswered(l), bySecond(l, "p99", func(w bench.Window) time.Duration { return w.P99 })}
	case conclusion.FirstRequests:
		return []chart{byRequest(l), bySecond(l, "p50", func(w bench.Window) time.Duration { return w.P50 })}
	}
	return []chart{overSteps(l), overThroughput(l)}
}

// measuredSteps returns the steps of a contender that are drawn: without warm-ups and without
// unexpected responses.
func (c contender) measuredSteps() []stats.Step {
	return slices.DeleteFunc(slices.Clone(c.of.Steps), func(s stats.Step) bool {
		return s.Step.WarmUp || s.Unexpected() || !s.Throughput.Known() || s.Throughput.Median <= 0
	})
}

// overSteps returns the throughput over connections, rates, or requests.
func overSteps(l layout) chart {
	ch, at := l.alongSteps(chart{ID: "first-throughput", Title: "Throughput", Note: "requests/s over " + l.axis(), Unit: "/s"})
	if oneRequestSteps(l) != nil {
		ch.Y = "log"
		ch.Note += ", log scale"
	}
	return ch.ofContenders(l, func(c contender) (all []point) {
		for _, s := range c.measuredSteps() {
			all = append(all, point{x: at[l.row(s.Index)], y: s.Throughput.Median})
		}
		return all
	})
}

// overThroughput returns p99 over the throughput, up to the peak of each contender.
func overThroughput(l layout) chart {
	ch := chart{ID: "first-p99", Title: "p99", Note: "over requests/s, up to the peak, log scale", Unit: "ms", Y: "log",
		xName: "requests/s"}
	p99 := measure.Get(measure.P99)
	return ch.ofContenders(l, func(c contender) (all []point) {
		peak, ok := c.of.PeakStep()
		for _, s := range c.measuredSteps() {
			if r := p99.Over(s); ok && r.Known && r.Value > 0 && s.Index <= peak.Index && !s.Step.Open() {
				all = append(all, point{x: s.Throughput.Median, y: r.Value / 1e6})
			}
		}
		slices.SortFunc(all, func(a, b point) int { return cmp.Compare(a.x, b.x) })
		return all
	})
}

// byRound returns the values of the rounds of two versions at their peaks.
func byRound(l layout, id measure.ID, title, unit string) chart {
	ch := chart{ID: "first-" + string(id), Title: title, Note: "by round", Unit: unit, Points: true, xName: "round"}
	m := measure.Get(id)
	return ch.ofContenders(l, func(c contender) (all []point) {
		peak, ok := c.of.PeakStep()
		for _, t := range c.of.Results {
			for _, step := range t.Steps {
				if v, known := m.Of(step); ok && known && step.Index == peak.Index {
					all = append(all, point{x: float64(t.Trial.Round), y: m.Axis(v)})
				}
			}
		}
		return all
	})
}

// unanswered returns the requests that were scheduled and not yet answered, second by second, of
// the last round.
func unanswered(l layout) chart {
	ch := chart{ID: "first-unanswered", Title: "Unanswered requests", Note: "scheduled, not yet answered, by second",
		xName: "seconds"}
	return ch.ofContenders(l, func(c contender) (all []point) {
		var open int64
		for _, w := range windows(c) {
			if w.Scheduled == 0 && len(all) == 0 && open == 0 {
				continue
			}
			open += w.Scheduled - w.Succeeded - w.Rejected - w.Dropped - w.Failed.Total()
			all = append(all, point{x: (w.Start + w.Length).Seconds(), y: float64(max(0, open))})
		}
		return all
	})
}

// bySecond returns a quantile of each second of the last measured step, of the last round.
func bySecond(l layout, name string, of func(bench.Window) time.Duration) chart {
	ch := chart{ID: "first-" + name, Title: name + " by second", Note: "log scale", Unit: "ms", Y: "log", xName: "seconds"}
	return ch.ofContenders(l, func(c contender) (all []point) {
		for _, w := range windows(c) {
			if v := of(w); v > 0 {
				all = append(all, point{x: (w.Start + w.Length).Seconds(), y: float64(v) / float64(time.Millisecond)})
			}
		}
		return all
	})
}

// byRequest returns the times of the first requests, in their order, of the last round.
func byRequest(l layout) chart {
	ch := chart{ID: "first-requests", Title: "Request by request", Note: "latency of the first ones, log scale", Unit: "ms",
		Y: "log", xName: "requests"}
	return ch.ofContenders(l, func(c contender) (all []point) {
		for _, t := range slices.Backward(c.of.Results) {
			if f := t.FirstRequests; f != nil && len(all) == 0 {
				for i, r := range slices.Concat([]bench.RequestPhases{f.First}, f.Kept, f.New) {
					if r.Err == "" && r.Total > 0 {
						all = append(all, point{x: float64(i + 1), y: float64(r.Total) / float64(time.Millisecond)})
					}
				}
			}
		}
		return all
	})
}

// windows returns the seconds of the last measured step of a contender in its last round.
func windows(who contender) []bench.Window {
	for _, t := range slices.Backward(who.of.Results) {
		for _, s := range slices.Backward(t.Steps) {
			if !s.Step.WarmUp {
				return s.Load.Windows
			}
		}
	}
	return nil
}
