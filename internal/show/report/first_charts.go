package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/text/table"
)

// firstChart is a chart of the first screen: lines with their names at the ends.
type firstChart struct {
	ID      string         `json:"id"`
	Title   string         `json:"-"`
	Caption string         `json:"-"`
	Option  map[string]any `json:"option"`           // made by go-echarts
	Lines   []firstLine    `json:"lines"`            // in the order of option.series
	Unit    string         `json:"unit"`             // of the values: "/s", "ms"
	Points  bool           `json:"points,omitempty"` // points without lines
	Steps   bool           `json:"steps,omitempty"`  // lines in steps, with a point only where it is alone
	Goals   []goal         `json:"goals,omitempty"`
}

// firstLine is what a series of a firstChart is.
type firstLine struct {
	Contender int    `json:"c"` // decides color, shape and dash
	Name      string `json:"name"`
	Context   bool   `json:"context,omitempty"` // one of many: gray, without a name
}

// goal is a threshold of the profile, a line across the chart.
type goal struct {
	Text string  `json:"text"` // "p99<50ms"
	At   float64 `json:"at"`   // in the unit of the chart
}

// goals returns the thresholds of a metric, in the unit of its chart.
func goals(p bench.Profile, metric profile.Metric, unit float64) (all []goal) {
	for _, t := range p.Thresholds {
		conditions, _ := profile.ParseConditions(t.Condition) // a wrong one has no line
		for _, c := range conditions {
			if c.Metric == metric {
				all = append(all, goal{c.String(), c.Limit / unit})
			}
		}
	}
	return all
}

// firstChartOf is the data of a firstChart.
type firstChartOf struct {
	id, title, caption, unit string
	x, y                     string // types of the axes: "value", "log"
	xName                    string
	points, steps            bool
	lines                    []dataLine
	goals                    []goal
}

type dataLine struct {
	of   contender
	dead bool // its contender died: † after the name
	at   [][2]float64
}

// firstCharts returns the one or two charts that explain the conclusion.
func firstCharts(p bench.Profile, l layout, r conclusion.Conclusion) (all []firstChart) {
	for _, c := range firstData(l, r.Kind) {
		switch c.id {
		case "p99":
			c.goals = goals(p, "p99", 1e6)
		case "throughput":
			c.goals = goals(p, profile.Throughput, 1)
		}
		place := func(line dataLine) int { // in the table
			return slices.IndexFunc(r.Table.Rows, func(row table.Row) bool { return row.Mark == line.of.Index+1 })
		}
		slices.SortStableFunc(c.lines, func(a, b dataLine) int { return cmp.Compare(place(a), place(b)) })
		c.lines = slices.DeleteFunc(c.lines, func(line dataLine) bool { return len(line.at) == 0 })
		if len(c.lines) > 0 && slices.ContainsFunc(c.lines, func(line dataLine) bool { return len(line.at) > 1 }) {
			all = append(all, c.chart())
		}
	}
	return all
}

func firstData(l layout, kind conclusion.Kind) []firstChartOf {
	switch kind {
	case conclusion.Versions:
		return []firstChartOf{
			byRound(l, measure.Get(measure.CPURequest), "CPU per request", "µs"),
			byRound(l, measure.Get(measure.Throughput), "Throughput at peak", "/s"),
		}
	case conclusion.Requests:
		return []firstChartOf{overSteps(l, "value")}
	case conclusion.Arrivals:
		return []firstChartOf{unanswered(l), bySecond(l, "p99", func(w bench.Window) time.Duration { return w.P99 })}
	case conclusion.FirstRequests:
		return []firstChartOf{byRequest(l), bySecond(l, "p50", func(w bench.Window) time.Duration { return w.P50 })}
	}
	return []firstChartOf{overSteps(l, "log"), overThroughput(l)}
}

// chart returns the chart for the script: gray lines are those between the first and the last of
// more than four.
func (c firstChartOf) chart() firstChart {
	const colored = 4
	line := charts.NewLine()
	line.Accept(richTooltip{})
	x := axis(c.x, c.xName)
	line.SetGlobalOptions(globals("item", x, opts.YAxis{Type: c.y}, inside("96", "12", "24"))...)
	out := firstChart{ID: c.id, Title: c.title, Caption: c.caption, Unit: c.unit, Points: c.points, Steps: c.steps, Goals: c.goals}
	for i, one := range c.lines {
		data := make([]opts.LineData, len(one.at))
		for k, p := range one.at {
			data[k].Value = numbers{p[0], p[1]}
		}
		name := one.of.Label
		if one.dead {
			name += " †"
		}
		line.AddSeries(name, data)
		n := len(c.lines)
		between := n > colored && i > 0 && i < n-1 && i != n/3 && i != 2*n/3
		out.Lines = append(out.Lines, firstLine{one.of.Index, name, between})
	}
	line.Validate()
	out.Option = line.JSON()
	return out
}

// dead reports whether a contender died in a round.
func (c contender) dead() bool {
	return slices.ContainsFunc(c.of.Results, func(t bench.TrialResult) bool { return t.WhyFailed() != nil })
}

// measuredSteps returns the steps of a contender that are drawn: without warm-ups and without
// unexpected responses.
func (c contender) measuredSteps() []stats.Step {
	return slices.DeleteFunc(slices.Clone(c.of.Steps), func(s stats.Step) bool {
		return s.Step.WarmUp || s.Failed[bench.ErrWrong] > 0 && s.Excluded || !s.Throughput.Known() || s.Throughput.Median <= 0
	})
}

// overSteps returns the throughput over connections, rates, or requests.
func overSteps(l layout, x string) firstChartOf {
	c := firstChartOf{id: "throughput", title: "Throughput", caption: "requests/s over " + l.axis(), unit: "/s", x: x, y: "value",
		xName: l.axis()}
	if x == "value" { // requests are side by side
		c.x, c.y = "category", "log"
		c.caption += ", log scale"
	}
	for _, who := range l.contenders {
		line := dataLine{of: who, dead: who.dead()}
		for _, s := range who.measuredSteps() {
			at := float64(s.Step.Connections)
			switch {
			case c.x == "category":
				row, _ := slices.BinarySearch(l.indices, s.Index)
				at = float64(row - l.warmUp())
			case s.Step.Rate > 0:
				at = s.Step.Rate
			}
			if at > 0 || c.x == "category" {
				line.at = append(line.at, [2]float64{at, s.Throughput.Median})
			}
		}
		c.lines = append(c.lines, line)
	}
	if c.x == "category" {
		c.x = "value"
	}
	return c
}

// overThroughput returns p99 over the throughput, up to the peak of each contender.
func overThroughput(l layout) firstChartOf {
	c := firstChartOf{id: "p99", title: "p99", caption: "over requests/s, up to the peak, log scale", unit: "ms", x: "value", y: "log",
		xName: "requests/s"}
	p99 := measure.Get(measure.P99)
	for _, who := range l.contenders {
		line := dataLine{of: who, dead: who.dead()}
		peak, ok := who.of.PeakStep()
		for _, s := range who.measuredSteps() {
			if r := p99.Over(s); ok && r.Known && r.Value > 0 && s.Index <= peak.Index && !s.Step.Open() {
				line.at = append(line.at, [2]float64{s.Throughput.Median, r.Value / 1e6})
			}
		}
		slices.SortFunc(line.at, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
		c.lines = append(c.lines, line)
	}
	return c
}

// byRound returns the values of the rounds of two versions at their peaks.
func byRound(l layout, m measure.Measure, title, unit string) firstChartOf {
	c := firstChartOf{id: string(m.ID), title: title, caption: "by round", unit: unit, x: "value", y: "value", xName: "round", points: true}
	scale := 1.
	if unit == "µs" {
		scale = 1e3
	}
	for _, who := range l.contenders {
		line := dataLine{of: who}
		peak, ok := who.of.PeakStep()
		for _, t := range who.of.Results {
			for _, step := range t.Steps {
				if v, known := m.Of(step); ok && known && step.Index == peak.Index {
					line.at = append(line.at, [2]float64{float64(t.Trial.Round), v / scale})
				}
			}
		}
		c.lines = append(c.lines, line)
	}
	return c
}

// unanswered returns the requests that were scheduled and not yet answered, second by second, of
// the last round.
func unanswered(l layout) firstChartOf {
	c := firstChartOf{id: "unanswered", title: "Unanswered requests", caption: "scheduled, not yet answered, by second", x: "value",
		y: "value", xName: "seconds"}
	for _, who := range l.contenders {
		line := dataLine{of: who, dead: who.dead()}
		var open int64
		for _, w := range windows(who) {
			if w.Scheduled == 0 && len(line.at) == 0 && open == 0 {
				continue
			}
			for _, n := range w.Failed {
				open -= n
			}
			open += w.Scheduled - w.Succeeded - w.Rejected - w.Dropped
			line.at = append(line.at, [2]float64{(w.Start + w.Length).Seconds(), float64(max(0, open))})
		}
		c.lines = append(c.lines, line)
	}
	return c
}

// bySecond returns a quantile of each second of the last measured step, of the last round.
func bySecond(l layout, name string, of func(bench.Window) time.Duration) firstChartOf {
	c := firstChartOf{id: name, title: name + " by second", caption: "log scale", unit: "ms", x: "value", y: "log", xName: "seconds"}
	for _, who := range l.contenders {
		line := dataLine{of: who, dead: who.dead()}
		for _, w := range windows(who) {
			if v := of(w); v > 0 {
				line.at = append(line.at, [2]float64{(w.Start + w.Length).Seconds(), float64(v) / float64(time.Millisecond)})
			}
		}
		c.lines = append(c.lines, line)
	}
	return c
}

// byRequest returns the times of the first requests, in their order, of the last round.
func byRequest(l layout) firstChartOf {
	c := firstChartOf{id: "requests", title: "Request by request", caption: "latency of the first ones, log scale", unit: "ms",
		x: "value", y: "log", xName: "requests"}
	for _, who := range l.contenders {
		line := dataLine{of: who}
		for _, t := range slices.Backward(who.of.Results) {
			if f := t.FirstRequests; f != nil && len(line.at) == 0 {
				for i, r := range slices.Concat([]bench.RequestPhases{f.First}, f.Kept, f.New) {
					if r.Err == "" && r.Total > 0 {
						line.at = append(line.at, [2]float64{float64(i + 1), float64(r.Total) / float64(time.Millisecond)})
					}
				}
			}
		}
		c.lines = append(c.lines, line)
	}
	return c
}

// windows returns the seconds of the last measured step of a contender in its last round.
func windows(who contender) []bench.Window {
	for _, t := range slices.Backward(who.of.Results) {
		for _, s := range slices.Backward(t.Steps) {
			if !s.Step.WarmUp {
				return slices.DeleteFunc(slices.Clone(s.Load.Windows), func(w bench.Window) bool { return w.Drain })
			}
		}
	}
	return nil
}
