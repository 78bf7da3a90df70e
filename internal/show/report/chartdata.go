package report

import (
	"strconv"
	"strings"

	"locbench/internal/bench"
)

// pageData is all that the script draws from. Colours follow the reader's scheme and come from
// style.css, words of tooltips from the tables.
type pageData struct {
	File       string         `json:"file"` // stem of the names of downloads
	Contenders []string       `json:"contenders"`
	Trials     []int          `json:"trials"` // the contender of each column
	Colors     int            `json:"colors"`
	Rounds     int            `json:"rounds"`
	Steps      []stepData     `json:"steps"`
	Peak       int            `json:"peak"` // the step that a choice of steps begins with
	Charts     []chartData    `json:"charts"`
	Lines      []timeline     `json:"lines"`
	Merged     int            `json:"merged"` // so many seconds are in one point of a time line, at most
	Shares     numbers        `json:"shares"`
	Latencies  []distribution `json:"latencies"`
	PerDecade  int            `json:"perDecade"`
}

type stepData struct {
	Label string `json:"label"`
	Title string `json:"title"`
	Warm  bool   `json:"warm,omitempty"`
}

type chartData struct {
	ID     string         `json:"id"`
	Title  string         `json:"title"`
	Kind   figureKind     `json:"kind"`
	Option map[string]any `json:"option"`            // as go-echarts made it
	Series []seriesData   `json:"series"`            // who is who, in the order of option.series
	Ticks  numbers        `json:"ticks,omitempty"`   // places of the steps on a logarithmic axis
	Merges bool           `json:"several,omitempty"` // somebody has several rounds: thin and thick lines
	WarmUp int            `json:"warmUp,omitempty"`
}

type seriesData struct {
	Contender int      `json:"c"`
	Round     int      `json:"r,omitempty"`      // 0: all of them
	Role      string   `json:"role"`             // "round", "middle", "band", "trial", "bar", "dot"
	Name      string   `json:"name"`             // of the trial, or of the contender
	Marks     []string `json:"marks,omitempty"`  // letters, by row
	Bounds    []string `json:"bounds,omitempty"` // what bound the step, in words
}

func newPageData(run bench.Run, l layout, all []figure) pageData {
	data := pageData{File: fileStem(run), Contenders: []string{}, Colors: colors, Steps: []stepData{},
		Peak: l.peakRow(), Charts: []chartData{},
		Shares: shares(), Latencies: distributions(l), PerDecade: perDecade}
	data.Lines, data.Merged = timelines(l)
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
	for _, f := range all {
		if f.Empty {
			continue
		}
		d := chartData{ID: f.ID, Title: f.Title, Kind: f.kind, Ticks: f.at, Merges: f.Middles != nil, WarmUp: f.warmUp}
		d.Option, d.Series = f.option()
		data.Charts = append(data.Charts, d)
	}
	for _, f := range chosenFigures(l, data) {
		data.Charts = append(data.Charts, chartData{ID: f.ID, Title: f.Title, Kind: figureKind(f.ID), Option: f.option,
			Series: []seriesData{}})
	}
	return data
}

// fileStem returns the name of the profile as far as it can be part of a file's name anywhere.
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

// numbers are values of a chart. In JSON they have six significant figures, twice as many as a
// histogram, and what is not known is null.
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
