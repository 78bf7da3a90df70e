package report

import (
	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// The charts whose series the script makes, since the reader chooses what they show.
const (
	kindPercentiles figureKind = "percentiles"
	kindHeat        figureKind = "heat"
	kindTime        figureKind = "time"
)

// panes are the parts of the time lines, one above the other on one time axis.
func panes() []string {
	return []string{"successes/s", "latency, ms", "errors/s", "CPUs in use", "throttled, %", "memory, MiB"}
}

// chosenFigure is one of these charts; its table is made by the script too.
type chosenFigure struct{ ID, Title, Note string }

func chosenFigures(data pageData) (all []chosenFigure) {
	if len(data.Latencies) > 0 {
		all = append(all,
			chosenFigure{"percentiles", "Latency by percentile, ms", "Of the successes of all rounds together: their histograms are merged. The axis is stretched towards 100 % as far as there are answers: one in ten is slower than the 90th percentile, one in a hundred than the 99th."},
			chosenFigure{"heat", "Latency over the steps, share of answers", "Of the successes of all rounds together, in the order in which the steps ran; " + plain(perDecade) + " rows from 1 ms to 10 ms. The stronger the colour, the larger the share of the step's answers; it grows with the square root, so that tails show."})
	}
	if len(data.Lines) > 0 {
		note := "What the client saw in each second, and what was read of the contender meanwhile. Latency: p50 thick, p99 thin. CPU and throttling are of the time between two readings."
		if data.Merged > 1 {
			note += " The run is long: a point tells of up to " + plain(float64(data.Merged)) + " seconds; rates are those of all of them, percentiles the largest."
		}
		all = append(all, chosenFigure{"time", "Second by second", note})
	}
	return all
}

func moreCharts(l layout, data pageData) (all []chartData) {
	for _, f := range chosenFigures(data) {
		c := chartData{ID: f.ID, Title: f.Title, Kind: figureKind(f.ID), Series: []seriesData{}}
		switch c.Kind {
		case kindPercentiles:
			c.Option = percentiles()
		case kindHeat:
			c.Option = heatMap(l)
		case kindTime:
			c.Option = timeChart()
		}
		all = append(all, c)
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
	x := axis("category", l.axis()+", in the order of time")
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
