package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/analysis/summary"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// Search is a search for capacity with its conclusion. Its run has the probes of its only limit; a
// search with several limits has a run without trials, and the folder of each limit has its report.
type Search struct {
	capacity.Record
	Conclusion conclusion.Conclusion
}

// maxProbes is how many probes the report has; capacity.json has all.
const maxProbes = 1000

// probes is the section about the probes of a search.
type probes struct {
	Table   table.Table
	Charts  []firstChart
	Caveats []summary.Sentence
	Folders []string // with the report of each limit
}

// screen is the first screen, and the section about the search for capacity, if it is one.
type screen struct {
	reply  conclusion.Conclusion
	charts []firstChart
	probes probes
}

func opening(a *analysis.Run, l layout, opts Options) screen {
	s := opts.Search
	if s == nil {
		reply := conclusion.Of(a, opts.Floor)
		return screen{reply: reply, charts: firstCharts(a.Run.Profile, l, reply)}
	}
	all := s.charts()
	n := min(2, len(all))
	out := screen{s.Conclusion, all[:n], probes{Table: s.probeTable(), Charts: all[n:], Caveats: s.Conclusion.Caveats}}
	if len(l.columns) == 0 {
		for _, p := range s.Points {
			out.probes.Folders = append(out.probes.Folders, cleanText(p.Dir))
		}
	}
	return out
}

// measured reports whether the page has the results of trials.
func (d document) measured() bool { return len(d.Columns) > 0 || len(d.Probes.Folders) == 0 }

// shown returns the points with the probes that the report has.
func (s *Search) shown() []capacity.Point {
	all, room := slices.Clone(s.Points), maxProbes
	for i := range all {
		all[i].Outcomes = all[i].Outcomes[:min(len(all[i].Outcomes), room)]
		room -= len(all[i].Outcomes)
	}
	return all
}

// probeTable has a row for each probe, in the order of time.
func (s *Search) probeTable() table.Table {
	t := table.Table{Columns: []table.Column{{Title: "probe", Left: true}, {Title: "limits", Left: true}, {Title: "phase", Left: true, Drop: 1},
		{Title: "req/s"}, {Title: "achieved", Drop: 1}, {Title: "p50", Drop: 1}, {Title: "p99"}, {Title: "errors", Drop: 1}, {Title: "late", Drop: 1},
		{Title: "dropped", Drop: 1}, {Title: "CPUs", Drop: 1}, {Title: "verdict", Left: true}}}
	left := 0
	for _, p := range s.Points {
		left += len(p.Outcomes)
	}
	for _, p := range s.shown() {
		left -= len(p.Outcomes)
		for _, o := range p.Outcomes {
			verdict := table.Cell{Text: "✓ passed", Tone: table.Good}
			if !o.Sustained {
				verdict = table.Cell{Text: "✗ " + cleanText(capacity.Reason(o.Why)), Tone: table.Bad}
			}
			row := t.Add(strconv.Itoa(o.Number), s.Name(p), cleanName(string(o.Phase)), units.Number(o.Rate), units.Number(o.Achieved),
				units.Duration(o.P50), units.Duration(o.P99), units.Share(o.Errors), units.Count(o.Late), units.Count(o.Dropped),
				cmp.Or(when(o.CPU > 0, fmt.Sprintf("%.2f", o.CPU)), units.Missing), "")
			row.Cells[len(row.Cells)-1] = verdict
		}
	}
	if left > 0 {
		t.Footnotes = []string{units.Plural(left, "more probe") + " in " + capacity.File}
	}
	if len(s.Points) < 2 {
		t = t.Without("limits")
	}
	return t
}

// probes writes the section about the probes of a search.
func (p *pageWriter) probes(all probes) {
	if len(all.Table.Rows) == 0 {
		return
	}
	p.put(`<section id="probes">` + "\n<h2>Probes</h2>\n")
	for _, ch := range all.Charts {
		p.put(`<div class="pair">`)
		p.firstChart(ch)
		p.put("</div>\n")
	}
	p.table(all.Table, "first dense")
	if len(all.Folders) > 0 {
		p.put("<p>Each limit has its own report with all charts and checks:</p>\n<ul>")
		p.every("<li><code>{}/report.html</code></li>", all.Folders)
		p.put("</ul>\n")
	}
	p.put("</section>\n")
	if len(all.Caveats) > 0 {
		p.put(`<section id="caveats">` + "\n<h2>Caveats</h2>\n<ul>")
		for _, s := range all.Caveats {
			p.put("<li>{}</li>", s.Text)
		}
		p.put("</ul>\n</section>\n")
	}
}

// markdown writes summary.md of a search.
func (s *Search) markdown(w io.Writer) error {
	var b bytes.Buffer
	r := s.Conclusion
	markdownConclusion(&b, r.Title, r)
	for _, note := range r.Table.Footnotes {
		fmt.Fprintf(&b, "\n%s\n", escape(note))
	}
	b.WriteString("\n<details><summary>details · probes · how to repeat</summary>\n")
	fmt.Fprintf(&b, "\n%s. %s.\n", escape(r.About), escape(r.Confidence))
	section(&b, "Caveats", func() {
		for _, c := range r.Caveats {
			fmt.Fprintf(&b, "- %s\n", escape(c.Text))
		}
	})
	section(&b, "Probes", func() { markdownTable(&b, s.probeTable()) })
	section(&b, "Repeat", func() { markdownReproduce(&b, newReproduction(bench.Run{Command: s.Command})) })
	b.WriteString("\n</details>\n")
	if _, err := safe.NewWriter(w, nil).Write(b.Bytes()); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// charts returns the charts that explain the conclusion, the first two of which are on the first
// screen: sustained rate and cost over the limits, if there are several; p99 and throughput.
func (s *Search) charts() (all []firstChart) {
	for _, c := range []firstChartOf{s.sustained(), s.frontier(), s.p99(), s.achieved()} {
		c.lines = slices.DeleteFunc(c.lines, func(line dataLine) bool { return len(line.at) == 0 })
		if slices.ContainsFunc(c.lines, func(line dataLine) bool { return len(line.at) > 1 }) {
			all = append(all, c.chart())
		}
	}
	return all
}

func (s *Search) contender() contender { return contender{Label: cleanName(s.Contender.String())} }

// sustained returns the sustained rate over the limits; a limit without one has no point.
func (s *Search) sustained() firstChartOf {
	c := firstChartOf{id: "sustained", title: "Sustained rate", caption: "requests/s over the CPU limit of one replica", unit: "/s",
		x: "value", y: "value", xName: "CPU limit"}
	if s.ByMemory() {
		c.caption, c.xName = "requests/s over the memory limit of one replica", "MiB"
	}
	line := dataLine{of: s.contender()}
	for _, p := range s.Points {
		at := p.Limits.CPUs
		if s.ByMemory() {
			at = float64(p.Limits.Memory >> 20)
		}
		if p.Result.Rate > 0 {
			line.at = append(line.at, [2]float64{at, p.Result.Rate})
		}
	}
	slices.SortFunc(line.at, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	c.lines = []dataLine{line}
	return c
}

// frontier returns the cost of the cheapest limit over the rate that is needed, in steps of whole
// replicas, and its point at the usual rate.
func (s *Search) frontier() firstChartOf {
	const places = 500 // about one for each pixel
	c := firstChartOf{id: "cost", title: "Cost", caption: "$ a month over the requests/s that you need, cheapest limit", unit: "$",
		x: "value", y: "value", xName: "requests/s that you need", steps: true}
	if len(s.Points) < 2 {
		return c
	}
	most := float64(conclusion.UsualRate)
	for _, p := range s.Points {
		most = max(most, p.Result.Rate)
	}
	line := dataLine{of: s.contender()}
	for i := range places {
		rate := 2 * most * float64(i+1) / places
		if cost, ok := s.cheapest(rate); ok {
			if n := len(line.at); n > 1 && line.at[n-1][1] == cost && line.at[n-2][1] == cost {
				line.at[n-1][0] = rate
				continue
			}
			line.at = append(line.at, [2]float64{rate, cost})
		}
	}
	c.lines = []dataLine{line}
	if cost, ok := s.cheapest(conclusion.UsualRate); ok {
		usual := contender{Label: units.Dollars(cost)}
		c.lines = append(c.lines, dataLine{of: usual, at: [][2]float64{{conclusion.UsualRate, cost}}})
	}
	return c
}

func (s *Search) cheapest(rate float64) (dollars float64, ok bool) {
	for _, p := range s.Points {
		if cost, known := s.Monthly(p, rate); known && (!ok || cost < dollars) {
			dollars, ok = cost, true
		}
	}
	return dollars, ok
}

// byLimit returns a line for each limit with a value of its probes over their rates; with one limit
// those that passed and those that failed.
func (s *Search) byLimit(value func(capacity.Outcome) float64) (all []dataLine) {
	for i, p := range s.shown() {
		line, failed := dataLine{of: contender{Index: i, Label: s.Name(p)}}, dataLine{of: contender{Index: 4, Label: "✗ failed"}}
		if len(s.Points) == 1 {
			line.of.Label = "passed"
		}
		for _, o := range p.Outcomes {
			if v := value(o); o.Rate > 0 && v > 0 {
				to := &line
				if len(s.Points) == 1 && !o.Sustained {
					to = &failed
				}
				to.at = append(to.at, [2]float64{o.Rate, v})
			}
		}
		for _, one := range []dataLine{line, failed} {
			slices.SortFunc(one.at, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
			all = append(all, one)
		}
	}
	return all
}

// p99 returns the p99 of each probe over its rate, with the SLO.
func (s *Search) p99() firstChartOf {
	return firstChartOf{id: "p99", title: "p99 by probe", caption: "over scheduled requests/s, log scale", unit: "ms", x: "value", y: "log",
		xName: "scheduled requests/s", points: true, lines: s.byLimit(func(o capacity.Outcome) float64 { return float64(o.P99) / 1e6 }),
		goals: goals(bench.Profile{Thresholds: []bench.Threshold{{Condition: s.SLO}}}, "p99", 1e6)}
}

// achieved returns the throughput of each probe over its rate.
func (s *Search) achieved() firstChartOf {
	return firstChartOf{id: "achieved", title: "Throughput", caption: "successes/s over scheduled requests/s", unit: "/s", x: "value", y: "value",
		xName: "scheduled requests/s", points: true, lines: s.byLimit(func(o capacity.Outcome) float64 { return o.Achieved })}
}
