package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/table"
)

// chart is lines over one axis, with the names of contenders at their ends, or bars of several parts, one
// of each contender at each step.
type chart struct {
	ID     string         `json:"id"`
	Title  string         `json:"title"`
	Unit   string         `json:"unit"`             // of the values: "/s", "ms", "$"
	First  bool           `json:"first,omitempty"`  // on the first screen
	Points bool           `json:"points,omitempty"` // points without lines
	Bars   bool           `json:"bars,omitempty"`   // each line is a part of the bars of its contender, from below
	Choose string         `json:"choose,omitempty"` // readers choose a "round" or a "step"; "": all lines are shown
	Option map[string]any `json:"option"`           // made by go-echarts
	Lines  []line         `json:"lines"`            // in the order of option.series
	Ticks  []mark         `json:"ticks,omitempty"`  // the labels of the horizontal axis; none: numbers
	Marks  []mark         `json:"marks,omitempty"`  // lines across the chart: thresholds, limits, starts of steps

	Note   string      `json:"-"` // how to read the chart
	Y      string      `json:"-"` // type of the vertical axis: "log"; "": values
	Values table.Table `json:"-"` // the same values, of charts over the steps
	x      string      // type of the horizontal axis: "log", "category"; "": values
	xName  string
}

// line is what a series of a chart is.
type line struct {
	Contender int    `json:"c"` // decides color, shape and dash
	Round     int    `json:"r,omitempty"`
	Step      int    `json:"step,omitempty"` // its row in the layout
	Part      int    `json:"part,omitempty"` // of the bars: decides how light it is
	Name      string `json:"name"`
	Faint     bool   `json:"faint,omitempty"` // a round next to the median, or one of many contenders: without a name

	points []point
}

// point is a place of a line; NaN values are a gap.
type point struct {
	x, y float64
	ci   *stats.Interval // of y, in its unit
}

// mark is a labeled place on an axis.
type mark struct {
	Text    string `json:"text"`
	At      number `json:"at"`
	Upright bool   `json:"upright,omitempty"` // on the horizontal axis
}

// add adds a line that has at least one value.
func (ch *chart) add(l line) {
	if slices.ContainsFunc(l.points, func(p point) bool { return finite(p.y) }) {
		ch.Lines = append(ch.Lines, l)
	}
}

// drawable reports whether a line connects two values, or there are bars.
func (ch chart) drawable() bool {
	return slices.ContainsFunc(ch.Lines, func(l line) bool { return len(l.points) > 1 || ch.Bars })
}

// fade leaves only some of many lines their colors and names: the first, the last, and those
// between them at equal distances.
func (ch *chart) fade() {
	const colored = 4
	for i, n := 0, len(ch.Lines); i < n; i++ {
		ch.Lines[i].Faint = n > colored && i > 0 && i < n-1 && i != n/3 && i != 2*n/3
	}
}

// drawn returns the chart with its option for ECharts, without styles.
func (ch chart) drawn() chart {
	c := charts.NewLine()
	trigger := "item"
	if ch.Ticks != nil && !ch.Bars {
		trigger = "axis"
	}
	c.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithXAxisOpts(opts.XAxis{Type: cmp.Or(ch.x, "value"), Name: ch.xName, NameLocation: "middle", NameGap: 28}),
		charts.WithYAxisOpts(opts.YAxis{Type: cmp.Or(ch.Y, "value")}),
		charts.WithGridOpts(opts.Grid{Left: "8", Right: "96", Top: "12", Bottom: "24", ContainLabel: opts.Bool(true)}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
	)
	for _, l := range ch.Lines {
		data := make([][]number, len(l.points))
		for i, p := range l.points {
			value := []number{number(p.x), number(p.y)}
			if ch.Y == "log" && p.y <= 0 {
				value[1] = number(math.NaN())
			}
			if p.ci != nil {
				value = append(value, number(p.ci.Low), number(p.ci.High))
			}
			data[i] = value
		}
		c.AddSeries(l.Name, nil, func(s *charts.SingleSeries) {
			s.Data = data // an opts.LineData for each point would make the page a quarter larger
			if ch.Bars {
				s.Type, s.Stack = types.ChartBar, strconv.Itoa(l.Contender)
			}
		})
	}
	c.Validate()
	ch.Option = c.JSON()
	ch.Option["tooltip"] = struct { // drawn as text: by default they are HTML, names included
		Trigger    string `json:"trigger"`
		RenderMode string `json:"renderMode"`
		Confine    bool   `json:"confine"`
	}{trigger, "richText", true}
	return ch
}

// pageData is what the script draws from, except colors (style.css).
type pageData struct {
	File       string   `json:"file"` // stem of the names of saved files
	Contenders []string `json:"contenders"`
	Colors     int      `json:"colors"`
	Steps      []string `json:"steps"`
	Peak       int      `json:"peak"` // the step that is chosen first
	Charts     []chart  `json:"charts"`
}

func newPageData(run bench.Run, l layout, all []chart) pageData {
	data := pageData{File: "locbench-" + profileStem(run.Profile.Name), Contenders: []string{}, Colors: colors, Steps: []string{}, Peak: l.peakRow(), Charts: []chart{}}
	for _, c := range l.contenders {
		data.Contenders = append(data.Contenders, c.Label)
	}
	for _, r := range l.rows {
		data.Steps = append(data.Steps, r.Title)
	}
	for _, ch := range all {
		data.Charts = append(data.Charts, ch.drawn())
	}
	return data
}

// number is a value of a chart. In JSON it has six significant digits, twice as many as a histogram;
// an unknown one is null.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	switch {
	case !finite(v):
		return []byte("null"), nil
	case v == float64(int64(v)) && math.Abs(v) < 1e15:
		return strconv.AppendInt(nil, int64(v), 10), nil
	}
	return strconv.AppendFloat(nil, v, 'g', 6, 64), nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
