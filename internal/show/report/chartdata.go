package report

import (
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
)

// pageData is what the script draws from, except colors (style.css) and texts (the tables).
type pageData struct {
	File       string            `json:"file"` // stem of the names of saved files
	Contenders []string          `json:"contenders"`
	Trials     []int             `json:"trials"` // the contender of each column
	Colors     int               `json:"colors"`
	Rounds     int               `json:"rounds"`
	Steps      []stepData        `json:"steps"`
	Bounds     map[string]string `json:"bounds"` // bottlenecks by letter
	Peak       int               `json:"peak"`   // the row of the step that is chosen first
	Charts     []chartData       `json:"charts"`
	First      []firstChart      `json:"first"`
	Lines      []timeline        `json:"lines"`
	Merged     int               `json:"merged"` // most seconds in one point of a time line
	Shares     numbers           `json:"shares"`
	Latencies  []distribution    `json:"latencies"`
	PerDecade  int               `json:"perDecade"`
}

type stepData struct {
	Label string `json:"label"`
	Title string `json:"title"`
	Warm  bool   `json:"warm,omitempty"`
}

type chartData struct {
	ID     string         `json:"id"`
	Title  string         `json:"title"`
	Kind   chartKind      `json:"kind"`
	Option map[string]any `json:"option"`            // made by go-echarts
	Series []seriesData   `json:"series"`            // in the order of option.series
	Ticks  numbers        `json:"ticks,omitempty"`   // places of the steps on a logarithmic axis
	Merges bool           `json:"several,omitempty"` // a contender has several rounds: thin and thick lines
	WarmUp int            `json:"warmUp,omitempty"`
	Rows   []int          `json:"rows,omitempty"` // the step of each point, if a step has several
}

type seriesData struct {
	Contender int      `json:"c"`                // -1: of no contender
	Round     int      `json:"r,omitempty"`      // 0: all rounds
	Role      string   `json:"role"`             // "round", "middle", "band", "trial", "bar", "dot", "limit"
	Name      string   `json:"name"`             // name of the trial or the contender
	Marks     []string `json:"marks,omitempty"`  // letter of the bottleneck in each row
	Bounds    []string `json:"bounds,omitempty"` // bottleneck of the step in each row, in words
}

func newPageData(run bench.Run, l layout, all []chart) pageData {
	data := pageData{File: fileStem(run), Contenders: []string{}, Colors: colors, Steps: []stepData{},
		Bounds: map[string]string{}, Peak: l.peakRow(), Charts: []chartData{},
		Shares: shares(), Latencies: distributions(l), PerDecade: perDecade}
	data.Lines, data.Merged = timelines(l)
	for _, m := range marks {
		data.Bounds[m.Letter] = string(m.bound)
	}
	for _, c := range l.contenders {
		data.Contenders = append(data.Contenders, c.Label)
		data.Rounds = max(data.Rounds, c.Rounds())
	}
	data.Trials = []int{}
	for _, c := range l.columns {
		data.Trials = append(data.Trials, c.Contender)
	}
	for _, r := range l.rows {
		data.Steps = append(data.Steps, stepData{r.Label, r.Title, r.WarmUp})
	}
	for _, ch := range all {
		if ch.Empty {
			continue
		}
		d := chartData{ID: ch.ID, Title: ch.Title, Kind: ch.kind, Ticks: ch.at, Merges: ch.Middles != nil, WarmUp: ch.warmUp,
			Rows: ch.steps}
		d.Option, d.Series = ch.option()
		data.Charts = append(data.Charts, d)
	}
	for _, ch := range chosenCharts(l, data) {
		data.Charts = append(data.Charts, chartData{ID: ch.ID, Title: ch.Title, Kind: chartKind(ch.ID), Option: ch.option,
			Series: []seriesData{}})
	}
	return data
}

// fileStem returns the name of the profile without the characters that some file systems reject.
func fileStem(run bench.Run) string {
	stem := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return -1
	}, run.Profile.Name)
	return strings.Trim("locbench-"+stem[:min(len(stem), 40)], "-")
}

// numbers are values of a chart. In JSON they have six significant digits, twice as many as a
// histogram, and unknown ones are null.
type numbers []float64

// MarshalJSON implements json.Marshaler.
func (n numbers) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 8*len(n)+2)
	b = append(b, '[')
	for i, v := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, v)
	}
	return append(b, ']'), nil
}

type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) { return appendNumber(nil, float64(n)), nil }

func appendNumber(b []byte, v float64) []byte {
	if !finite(v) {
		return append(b, "null"...)
	}
	if v == float64(int64(v)) && v < 1e15 && v > -1e15 {
		return strconv.AppendInt(b, int64(v), 10)
	}
	return strconv.AppendFloat(b, v, 'g', 6, 64)
}
