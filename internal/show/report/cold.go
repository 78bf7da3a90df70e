package report

import (
	"slices"
	"time"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/text/table"
)

type part struct {
	name string
	of   func(bench.RequestPhases) time.Duration
}

func parts() []part {
	return []part{
		{"name", func(r bench.RequestPhases) time.Duration { return r.Name }},
		{"connect", func(r bench.RequestPhases) time.Duration { return r.Connect }},
		{"TLS", func(r bench.RequestPhases) time.Duration { return r.TLS }},
		{"sent", func(r bench.RequestPhases) time.Duration { return r.Send }},
		{"first byte", func(r bench.RequestPhases) time.Duration { return r.FirstByte }},
		{"last byte", func(r bench.RequestPhases) time.Duration { return r.Receive }},
	}
}

func partNames() (names []string) {
	for _, part := range parts() {
		names = append(names, part.name)
	}
	return names
}

// timed is a request that is typical of its kind.
type timed struct {
	name   string // "first", "later", "new connection"
	r      bench.RequestPhases
	ok     bool   // at least one request of this kind succeeded
	failed int    // failed requests of this kind
	words  string // how it was chosen, or why it failed
}

// timedRequests returns the first request of a trial and the typical later ones.
func timedRequests(p bench.FirstRequests) []timed {
	first := timed{name: "first", r: p.First, ok: p.First.Err == "", words: "cold"}
	if !first.ok {
		first.failed, first.words = 1, cleanText(p.First.Err)
	}
	later := func(name string, all []bench.RequestPhases, typical bench.RequestPhases) timed {
		t := timed{name: name, r: typical}
		for _, r := range all {
			if r.Err != "" {
				t.failed++
			}
		}
		t.ok = t.failed < len(all)
		t.words = "median of " + units.Count(int64(len(all)-t.failed))
		switch {
		case !t.ok:
			t.words = units.Count(int64(t.failed)) + " failed"
		case t.failed > 0:
			t.words += ", " + units.Count(int64(t.failed)) + " failed"
		}
		return t
	}
	return []timed{first, later("later", p.Kept, p.Typical()), later("new connection", p.New, p.TypicalNew())}
}

func (l layout) anyPhases() bool {
	return slices.ContainsFunc(l.columns, func(c column) bool { return c.trial.FirstRequests != nil })
}

// coldAndWarm returns the tables of procedure C; none if no trial has timed its first requests.
func coldAndWarm(l layout) []procedure {
	if !l.anyPhases() {
		return nil
	}
	return []procedure{phaseTable(l), spreadTable(l)}
}

func phaseTable(l layout) procedure {
	p := procedure{ID: "phases", Title: "First requests by phase"}
	p.Table.Columns = columns("Trial", slices.Concat([]string{"Request"}, partNames(), []string{"total"})...)
	for _, c := range l.columns {
		if c.trial.FirstRequests == nil {
			continue
		}
		for _, t := range timedRequests(*c.trial.FirstRequests) {
			cells := []table.Cell{{Text: t.name, Small: []string{t.words}}}
			for _, part := range parts() {
				cells = append(cells, table.Cell{Text: t.show(part.of(t.r))})
			}
			cells = append(cells, table.Cell{Text: t.show(t.r.Total)})
			p.Table.Rows = append(p.Table.Rows, table.Row{Cells: append([]table.Cell{{Text: c.Name()}}, cells...)})
		}
	}
	p.Table.Footnotes = []string{"Timed one at a time, when the contender is ready and before any check: the first " +
		"request, the next ones on its connection, then each on a new connection. Sent: request written; first byte, " +
		"last byte: time since the phase before. A phase that did not occur is " + missing + "."}
	return p
}

func (t timed) show(d time.Duration) string {
	if d == 0 {
		return missing
	}
	return units.Duration(d)
}

// spreadTable returns the spread of latencies and rates in the measured steps.
func spreadTable(l layout) procedure {
	p := procedure{ID: "spread", Title: "Latency and rate around their means"}
	p.Table.Columns = columns("Contender", "At", "Latency mean", "SD", "Max", "Within 1 SD", "Requests/s mean", "SD", "Max",
		"Within 1 SD", "Bytes/s")
	for _, c := range l.contenders {
		steps := map[int][]bench.Load{}
		var order []bench.StepResult
		for _, trial := range c.of.Results {
			for _, s := range trial.Steps {
				if s.Step.WarmUp || s.Aborted != "" {
					continue
				}
				if steps[s.Index] == nil {
					order = append(order, s)
				}
				steps[s.Index] = append(steps[s.Index], s.Load)
			}
		}
		for _, s := range order {
			p.Table.Rows = append(p.Table.Rows,
				c.row(append([]table.Cell{{Text: newRow(s.Step, 0).Title}}, spreadCells(steps[s.Index])...)...))
		}
	}
	p.Table.Footnotes = []string{"SD: population standard deviation. Latency: all successes. Requests/s: successes per " +
		"full 1 s window; the mean may differ slightly from the throughput. Bytes: bodies of successes. Uncorrected: " +
		"throughput × mean latency = requests in flight."}
	return p
}

func spreadCells(loads []bench.Load) []table.Cell {
	var latencies []bench.Latencies
	for _, l := range loads {
		latencies = append(latencies, l.Latency)
	}
	cells := slices.Repeat([]table.Cell{{Text: missing}}, 9)
	if s, ok, err := stats.LatencySpread(latencies...); ok && err == nil { // an unreadable histogram leaves a gap
		for i, v := range []float64{s.Mean, s.SD, s.Max} {
			cells[i].Text = units.Duration(time.Duration(v))
		}
		cells[3].Text = units.Share(s.Within)
	}
	if s, ok := stats.RateSpread(loads...); ok {
		for i, v := range []float64{s.Mean, s.SD, s.Max} {
			cells[4+i].Text = units.Number(v)
		}
		cells[7].Text = units.Share(s.Within)
		cells[7].Small = []string{"of " + units.Plural(int(s.N), "window")}
	}
	if v := stats.BytesPerSecond(loads...); v > 0 {
		cells[8].Text = units.Bytes(int64(v)) + "/s"
	}
	return cells
}

// phaseChart returns stacked phases of the first request of each trial and of typical later ones.
func phaseChart(l layout) chart {
	ch := chart{ID: "phases", Title: "First requests by phase, ms", Columns: l.columns, Empty: true,
		kind: kindStack, groups: []string{"first", "later", "new connection"},
		Note: "First request of each trial, median of the next ones on its connection, " +
			"median of those on new connections."}
	ch.stack = partNames()
	for _, kind := range ch.groups {
		for _, name := range append(slices.Clone(ch.stack), "total") {
			ch.Rows = append(ch.Rows, newChartRow(kind+" "+name, kind+": "+name, false, len(l.columns)))
		}
	}
	for j, c := range l.columns {
		s := series{column: c, points: make([]*point, len(ch.Rows))}
		if c.trial.FirstRequests != nil {
			for k, t := range timedRequests(*c.trial.FirstRequests) {
				if !t.ok {
					continue
				}
				ch.Empty = false
				at := k * (len(ch.stack) + 1)
				for i, part := range parts() {
					d := part.of(t.r)
					if d > 0 {
						s.points[at+i] = &point{y: float64(d) / float64(time.Millisecond)}
					}
					ch.Rows[at+i].Cells[j] = t.show(d)
				}
				ch.Rows[at+len(ch.stack)].Cells[j] = t.show(t.r.Total)
			}
		}
		ch.series = append(ch.series, s)
	}
	return ch
}

// stacks returns phaseChart as ECharts needs it: a series for each phase, a bar for each request.
func (ch chart) stacks() (map[string]any, []seriesData) {
	c := charts.NewBar()
	c.Accept(richTooltip{})
	var names []string
	var who []seriesData // one per bar; the bars of a trial are adjacent
	data := make([][]opts.BarData, len(ch.stack))
	for _, s := range ch.series {
		for k, kind := range ch.groups {
			at := k * (len(ch.stack) + 1)
			names = append(names, s.column.Name()+" "+kind)
			who = append(who, seriesData{Contender: s.column.Contender, Round: s.column.Round, Role: "bar",
				Name: s.column.Name()})
			for i := range ch.stack {
				d := opts.BarData{Value: "-"}
				if p := s.points[at+i]; p != nil {
					d.Value = p.y
				}
				data[i] = append(data[i], d)
			}
		}
	}
	c.SetGlobalOptions(append(globals("item", axis("value", "ms"),
		opts.YAxis{Type: "category", Data: names, Inverse: opts.Bool(true)}, inside("64", "40", "24")),
		charts.WithLegendOpts(opts.Legend{Type: "scroll", Top: "0", Left: "0", Right: "0", Data: ch.stack,
			Icon: "roundRect", ItemWidth: 14, ItemHeight: 8}))...)
	for i, name := range ch.stack {
		c.AddSeries(name, data[i], charts.WithBarChartOpts(opts.BarChart{Stack: "phases"}))
	}
	c.Validate()
	return c.JSON(), who
}
