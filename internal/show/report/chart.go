package report

import (
	"math"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// option returns the chart for ECharts, without styles, and what each of its series is.
func (ch chart) option() (map[string]any, []seriesData) {
	switch ch.kind {
	case kindBars:
		return ch.bars()
	case kindStack:
		return ch.stacks()
	}
	return ch.lines()
}

func (ch chart) lines() (map[string]any, []seriesData) {
	c := charts.NewLine()
	c.Accept(richTooltip{})
	x := axis("category", ch.axis)
	trigger, right := "axis", "16"
	switch {
	case ch.kind == kindCurve:
		x.Type, trigger, right = "value", "item", "28" // room for half of the last number
	case ch.at != nil:
		x.Type = "log"
		// Leave room for half a step at both ends.
		first, last := ch.at[0], ch.at[len(ch.at)-1]
		x.Min, x.Max = number(first/math.Sqrt(ch.at[1]/first)), number(last*math.Sqrt(last/ch.at[len(ch.at)-2]))
	default:
		labels := make([]string, len(ch.Rows))
		for i, r := range ch.Rows {
			labels[i] = r.Label
		}
		c.SetXAxis(labels)
	}
	y := opts.YAxis{Type: "value"}
	if ch.Log {
		y.Type = "log"
	}
	c.SetGlobalOptions(globals(trigger, x, y, inside(right, "16", "24"))...)
	var who []seriesData
	add := func(d seriesData, data []opts.LineData) {
		c.AddSeries(d.Name, data, charts.WithLineChartOpts(opts.LineChart{ConnectNulls: opts.Bool(ch.joined), // else gaps stay
			ShowSymbol: opts.Bool(true)}))
		who = append(who, d)
	}
	for _, m := range ch.middles {
		if data, ok := ch.band(m); ok {
			add(seriesData{Contender: m.contender.Index, Role: "band", Name: m.contender.Label + " 95% CI"}, data)
		}
	}
	for _, s := range ch.series {
		d := seriesData{Contender: s.column.Contender, Round: s.column.Round, Role: "round", Name: s.column.Name()}
		if ch.kind == kindCurve {
			d.Role = "trial"
		} else if ch.alone(s.column.Contender) {
			continue // the thick line is the same
		}
		add(d, ch.lineData(s.points))
	}
	for _, m := range ch.middles {
		d := seriesData{Contender: m.contender.Index, Role: "middle", Name: m.contender.Label}
		if ch.marked {
			for _, b := range m.bounds {
				d.Marks = append(d.Marks, letter(b.Bound))
				words := ""
				if b.Bound != "" {
					words = cleanText(b.String())
				}
				d.Bounds = append(d.Bounds, words)
			}
		}
		points := m.points
		if trials := ch.trials(m.contender.Index); len(trials) == 1 {
			points = trials[0].points // with steps that stopped early, which no median includes
		}
		add(d, ch.lineData(points))
	}
	who = append(who, ch.addLimits(c)...)
	c.Validate()
	return c.JSON(), who
}

func (ch chart) trials(contender int) (all []series) {
	for _, s := range ch.series {
		if s.column.Contender == contender {
			all = append(all, s)
		}
	}
	return all
}

// alone reports whether a contender has only one trial.
func (ch chart) alone(contender int) bool { return len(ch.trials(contender)) == 1 }

// lineData returns the points of a line, "-" for a missing value; those of the warm-up are hollow.
func (ch chart) lineData(points []*point) []opts.LineData {
	data := make([]opts.LineData, len(points))
	for i, p := range points {
		switch {
		case p == nil || !finite(p.y) || !finite(p.x) || ch.Log && p.y <= 0:
			data[i].Value = "-" // a missing value in ECharts
			continue
		case ch.kind == kindCurve:
			data[i].Value = numbers{p.x, p.y}
		case ch.at != nil:
			data[i].Value = numbers{ch.at[i], p.y}
		default:
			data[i].Value = number(p.y)
		}
		if p.warmUp {
			data[i].Symbol = "emptyCircle"
		}
	}
	return data
}

// band returns the ends of the intervals; ok is false if there are none.
func (ch chart) band(m middle) (data []opts.LineData, ok bool) {
	for i, in := range m.bands {
		if in == nil || m.points[i] == nil || ch.Log && in.Low <= 0 {
			data = append(data, opts.LineData{Value: "-"})
			continue
		}
		at := float64(i)
		if ch.at != nil {
			at = ch.at[i]
		}
		data, ok = append(data, opts.LineData{Value: numbers{at, in.Low, in.High}}), true
	}
	return data, ok
}

// bars returns a chart with a bar for each contender and a dot for each of its rounds.
func (ch chart) bars() (map[string]any, []seriesData) {
	c := charts.NewBar()
	c.Accept(richTooltip{})
	names := make([]string, len(ch.middles))
	data := make([]opts.BarData, len(ch.middles))
	for i, m := range ch.middles {
		names[i] = m.contender.Label
		data[i].Value = "-"
		if p := m.points[0]; p != nil {
			data[i].Value = number(p.y)
		}
	}
	var dots []opts.ScatterData
	for _, s := range ch.series {
		if p := s.points[0]; p != nil && !ch.alone(s.column.Contender) {
			dots = append(dots, opts.ScatterData{Value: numbers{p.y, float64(s.column.Contender), float64(s.column.Round)}})
		}
	}
	y := opts.YAxis{Type: "category", Data: names, Inverse: opts.Bool(true)}
	c.SetGlobalOptions(globals("item", axis("value", ""), y, inside("96", "8", "8"))...)
	c.AddSeries(ch.Title, data, charts.WithLabelOpts(opts.Label{Show: opts.Bool(true), Position: "right"}))
	points := charts.NewScatter()
	points.AddSeries("rounds", dots)
	c.Overlap(points)
	c.Validate()
	return c.JSON(), []seriesData{{Role: "bar", Name: ch.Title}, {Role: "dot", Name: "rounds"}}
}

// richTooltip makes ECharts draw tooltips as text. By default they are HTML, names included.
type richTooltip struct {
	charts.BaseConfigurationVisitor
}

func (richTooltip) VisitTooltipOpt(t opts.Tooltip) any {
	return struct {
		opts.Tooltip
		RenderMode string `json:"renderMode"`
		Confine    bool   `json:"confine"`
	}{t, "richText", true}
}

func axis(kind, name string) opts.XAxis {
	return opts.XAxis{Type: kind, Name: name, NameLocation: "middle", NameGap: 28}
}

// inside returns the margins of a chart whose labels are inside its area.
func inside(right, top, bottom string) opts.Grid {
	return opts.Grid{Left: "8", Right: right, Top: top, Bottom: bottom, ContainLabel: opts.Bool(true)}
}

// globals returns the options of a chart without a legend: the page has one for all charts.
func globals(trigger string, x opts.XAxis, y opts.YAxis, grids ...opts.Grid) []charts.GlobalOpts {
	return []charts.GlobalOpts{
		charts.WithAnimation(false), charts.WithXAxisOpts(x), charts.WithYAxisOpts(y), charts.WithGridOpts(grids...),
		charts.WithTooltipOpts(opts.Tooltip{Trigger: trigger}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
	}
}

// panes returns the titles of the time charts, which are stacked on one time axis.
func panes() []string {
	return []string{"successes/s", "latency, ms", "errors/s", "CPUs in use", "throttled, %", "memory, MiB"}
}

// chosenChart is a chart whose series and table the script makes: readers choose what it shows.
type chosenChart struct {
	ID, Title, Note string
	option          map[string]any
}

func chosenCharts(l layout, data pageData) (all []chosenChart) {
	if len(data.Latencies) > 0 {
		all = append(all,
			chosenChart{"percentiles", "Latency by percentile, ms", "Successes of all rounds, from merged histograms. " +
				"The axis is stretched towards 100%: one response in ten is slower than the 90th percentile, " +
				"one in a hundred than the 99th.", percentiles()},
			chosenChart{"heat", "Latency by step, share of responses", "Successes of all rounds, steps in the order they " +
				"ran; " + plain(perDecade) + " rows from 1 ms to 10 ms. Stronger color: larger share of the step's " +
				"responses (square-root scale, to show tails).", heatMap(l)})
	}
	if len(data.Lines) > 0 {
		note := "Client and contender second by second. Latency: p50 thick, p99 thin. " +
			"CPU and throttling: between two readings."
		if data.Merged > 1 {
			note += " Long run: each point covers up to " + plain(float64(data.Merged)) +
				" seconds (mean rate, highest percentile)."
		}
		all = append(all, chosenChart{"time", "Second by second", note, timeChart()})
	}
	return all
}

func percentiles() map[string]any {
	c := charts.NewLine()
	c.Accept(richTooltip{})
	x := axis("log", "percentile")
	x.Min = 1
	c.SetGlobalOptions(globals("axis", x, opts.YAxis{Type: "log"}, inside("32", "16", "24"))...)
	c.Validate()
	return c.JSON()
}

func heatMap(l layout) map[string]any {
	c := charts.NewHeatMap()
	c.Accept(richTooltip{})
	labels := make([]string, len(l.rows))
	for i, r := range l.rows {
		labels[i] = r.Label
	}
	c.SetXAxis(labels)
	x := axis("category", l.axis()+", in time order")
	c.SetGlobalOptions(append(globals("item", x, opts.YAxis{Type: "category"}, inside("16", "16", "24")),
		charts.WithVisualMapOpts(opts.VisualMap{Show: opts.Bool(false), Min: 0, Max: 1}))...)
	c.Validate()
	return c.JSON()
}

func timeChart() map[string]any {
	c := charts.NewLine()
	c.Accept(richTooltip{})
	var x []opts.XAxis
	var y []opts.YAxis
	for i, name := range panes() {
		x = append(x, opts.XAxis{Type: "value", GridIndex: i})
		y = append(y, opts.YAxis{Type: "value", Name: name, GridIndex: i, NameLocation: "end"})
	}
	y[1].Type = "log"
	x[len(x)-1].Name, x[len(x)-1].NameLocation, x[len(x)-1].NameGap = "seconds", "middle", 28
	c.ExtendXAxis(x[1:]...)
	c.ExtendYAxis(y[1:]...)
	c.SetGlobalOptions(globals("axis", x[0], y[0], make([]opts.Grid, len(x))...)...)
	c.Validate()
	return c.JSON()
}
