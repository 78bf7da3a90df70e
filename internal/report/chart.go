package report

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// chartData is what js/charts.js draws one chart from. Colours of text and lines are not in it: they follow the reader's
// light or dark scheme and come from style.css.
type chartData struct {
	ID     string         `json:"id"`
	Kind   figureKind     `json:"kind"`
	Option map[string]any `json:"option"` // as go-echarts made it
	Series []seriesData   `json:"series"` // who is who, in the order of option.series (of the bars, where there are bars)
}

type seriesData struct {
	Label  string `json:"label"` // of the contender
	Name   string `json:"name"`  // of the leg
	Color  int    `json:"color"`
	Dashed bool   `json:"dashed,omitempty"`
}

// chartJSON is the data of all charts. encoding/json escapes <, >, & and U+2028, so that no name can end the script
// element that it is put into.
func chartJSON(all []figure) ([]byte, error) {
	data := []chartData{}
	for _, f := range all {
		if f.Empty {
			continue
		}
		d := chartData{ID: f.ID, Kind: f.kind, Option: f.option()}
		for _, s := range f.series {
			d.Series = append(d.Series, seriesData{s.column.Label, s.column.Name(), s.column.Color(), s.column.Contender >= colors})
		}
		data = append(data, d)
	}
	b, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("encode charts: %w", err)
	}
	return b, nil
}

// option is the chart as Apache ECharts takes it.
func (f figure) option() map[string]any {
	switch f.kind {
	case kindBars:
		return f.bars()
	case kindStack:
		return f.stacks()
	}
	return f.lines()
}

func (f figure) lines() map[string]any {
	c := charts.NewLine()
	c.Accept(richTooltip{})
	x := opts.XAxis{Type: "category", Name: f.axis, NameLocation: "middle", NameGap: 28}
	trigger := "axis"
	if f.kind == kindCurve {
		x.Type, trigger = "value", "item"
	} else {
		labels := make([]string, len(f.Rows))
		for i, r := range f.Rows {
			labels[i] = r.Label
		}
		c.SetXAxis(labels)
	}
	var legend []string
	for _, s := range f.series {
		if len(legend) == 0 || legend[len(legend)-1] != s.column.Label {
			legend = append(legend, s.column.Label)
		}
	}
	y := opts.YAxis{Type: "value"}
	if f.Log {
		y.Type = "log"
	}
	c.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithXAxisOpts(x),
		charts.WithYAxisOpts(y),
		charts.WithTooltipOpts(opts.Tooltip{Trigger: trigger}),
		// All rounds of a contender have one name, hence one entry, which shows or hides them together.
		charts.WithLegendOpts(opts.Legend{Type: "scroll", Top: "0", Left: "0", Right: "0", Data: legend, Icon: "roundRect", ItemWidth: 14, ItemHeight: 8}),
		charts.WithGridOpts(opts.Grid{Left: "8", Right: "16", Top: "40", Bottom: "24", ContainLabel: opts.Bool(true)}),
	)
	for _, s := range f.series {
		data := make([]opts.LineData, len(s.points))
		for i, p := range s.points {
			data[i] = f.lineData(p, s.column.Round)
		}
		c.AddSeries(s.column.Label, data, charts.WithLineChartOpts(opts.LineChart{
			ConnectNulls: opts.Bool(false), // a gap is a gap
			ShowSymbol:   opts.Bool(true),
			SymbolSize:   6,
		}))
	}
	if f.warmUp > 0 && f.kind == kindSteps {
		c.ExtendYAxis(opts.YAxis{Type: "value", Show: opts.Bool(false), Min: 0, Max: 1})
		c.Overlap(f.band())
	}
	c.Validate()
	return c.JSON()
}

// band is the shade behind the warm-up steps: bars without gaps, on a hidden axis of their own. It is the last series, so
// that it changes no place of the others.
func (f figure) band() *charts.Bar {
	data := make([]opts.BarData, f.warmUp)
	for i := range data {
		data[i].Value = 1
	}
	data[(f.warmUp-1)/2].Label = &opts.Label{Show: opts.Bool(true), Position: "insideTop", Formatter: "warm-up"}
	b := charts.NewBar()
	b.AddSeries("", data, charts.WithBarChartOpts(opts.BarChart{BarCategoryGap: "0%", YAxisIndex: 1}))
	return b
}

// lineData is one point. "-" is how ECharts writes a value that is not there; warm-up points are hollow; the shape tells the rounds apart.
func (f figure) lineData(p *point, round int) opts.LineData {
	if p == nil || math.IsNaN(p.x+p.y) || math.IsInf(p.x+p.y, 0) {
		return opts.LineData{Value: "-"} // JSON has no word for the other two
	}
	shapes := [...]string{"circle", "triangle", "rect", "diamond"}
	d := opts.LineData{Value: p.y, Symbol: shapes[((round-1)%len(shapes)+len(shapes))%len(shapes)]}
	if f.kind == kindCurve {
		d.Value = []float64{p.x, p.y}
	}
	if p.warmUp {
		d.Symbol = "empty" + string(d.Symbol[0]-'a'+'A') + d.Symbol[1:]
	}
	return d
}

func (f figure) bars() map[string]any {
	c := charts.NewBar()
	c.Accept(richTooltip{})
	names := make([]string, len(f.series))
	data := make([]opts.BarData, len(f.series))
	for i, s := range f.series {
		names[i] = s.column.Name()
		data[i] = opts.BarData{Value: "-"}
		if p := s.points[0]; p != nil {
			data[i].Value = p.y
		}
	}
	c.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Name: "ms", NameLocation: "middle", NameGap: 28}),
		charts.WithYAxisOpts(opts.YAxis{Type: "category", Data: names, Inverse: opts.Bool(true)}),
		charts.WithTooltipOpts(opts.Tooltip{Trigger: "item"}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithGridOpts(opts.Grid{Left: "8", Right: "64", Top: "8", Bottom: "24", ContainLabel: opts.Bool(true)}),
	)
	c.AddSeries(f.Title, data, charts.WithLabelOpts(opts.Label{Show: opts.Bool(true), Position: "right"}))
	c.Validate()
	return c.JSON()
}

// richTooltip has ECharts draw its tooltips as text. Its default is to write them as HTML, into which names from outside would go.
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
