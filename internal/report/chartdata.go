package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"locbench/internal/bench"
)

// pageData is all that the script draws from. Colours of text and lines are not in it: they follow
// the reader's light or dark scheme and come from style.css. Words of tooltips come from the
// tables.
type pageData struct {
	File       string         `json:"file"` // stem of the names of downloads
	Contenders []string       `json:"contenders"`
	Legs       []int          `json:"legs"` // the contender of each column
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

// stepData names a row.
type stepData struct {
	Label string `json:"label"`
	Title string `json:"title"`
	Warm  bool   `json:"warm,omitempty"`
}

// chartData is one chart.
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
	Role      string   `json:"role"`             // "round", "middle", "band", "leg", "bar", "dot"
	Name      string   `json:"name"`             // of the leg, or of the contender
	Marks     []string `json:"marks,omitempty"`  // letters, by row
	Bounds    []string `json:"bounds,omitempty"` // what bound the step, in words
}

// newPageData collects them.
func newPageData(run bench.Run, l layout, all []figure) pageData {
	data := pageData{File: fileStem(run), Contenders: []string{}, Colors: colors, Steps: []stepData{}, Peak: l.peakRow(), Charts: []chartData{},
		Shares: shares(), Latencies: distributions(l), PerDecade: perDecade}
	data.Lines, data.Merged = timelines(l)
	for _, c := range l.contenders {
		data.Contenders = append(data.Contenders, c.Label)
		data.Rounds = max(data.Rounds, len(c.legs))
	}
	data.Legs = []int{}
	for _, c := range l.columns {
		data.Legs = append(data.Legs, c.Contender)
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
	data.Charts = append(data.Charts, moreCharts(l, data)...)
	return data
}

// chartJSON is that data as JSON. encoding/json escapes <, >, & and U+2028, so that no name can end
// the script element that it is put into.
func chartJSON(data pageData) ([]byte, error) {
	b, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("encode charts: %w", err)
	}
	return b, nil
}

// fileStem is the name of the profile as far as it can be part of a file's name anywhere.
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
