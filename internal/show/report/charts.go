package report

import (
	"math"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
)

// chart is one chart and the table of the same values.
type chart struct {
	ID      string
	Title   string // with the unit: "Throughput, successes/s"
	Note    string // how to read the chart; may be empty
	Log     bool   // the value axis is logarithmic
	Rows    []chartRow
	Columns []column
	Empty   bool // nothing was measured: the page says so instead of drawing a chart

	Middles []string // titles of the contenders' columns; none if every contender has one round

	kind    chartKind
	series  []series
	middles []middle  // one per contender
	axis    string    // name of the horizontal axis
	at      []float64 // places of the rows on a logarithmic axis; nil: evenly spaced
	marked  bool
	stack   []string // parts of a bar; the rows are these and their total, for each bar of a trial
	groups  []string // names of the bars of a trial
	warmUp  int
	steps   []int       // the row of the layout of each row, if a step has several
	joined  bool        // lines continue where a trial lacks a point that others have
	limits  []limitLine // lines across the chart
}

// Steps reports whether the points are steps: the arrow keys go through them.
func (ch chart) Steps() bool { return ch.kind == kindSteps }

// Marks returns the meaning of the letters in the points.
func (ch chart) Marks() []mark {
	if !ch.marked {
		return nil
	}
	return marksOf(ch.middles)
}

type chartKind string

const (
	kindSteps chartKind = "steps" // lines over the steps
	kindBars  chartKind = "bars"  // one bar per contender
	kindCurve chartKind = "curve" // lines over a value
	kindStack chartKind = "stack" // bars in parts
)

// chartRow is a row of the table, and the text of a tooltip.
type chartRow struct {
	Label, Title string
	WarmUp       bool
	Cells        []string // one per column
	Middle       []string // one per contender
}

func newChartRow(label, title string, warmUp bool, cells int) chartRow {
	return chartRow{Label: label, Title: title, WarmUp: warmUp, Cells: slices.Repeat([]string{missing}, cells)}
}

// series is the line of one trial. A point that was not measured is nil.
type series struct {
	column column
	points []*point
}

type point struct {
	x, y   float64 // x is used only in curves
	warmUp bool
}

func newCharts(run bench.Run, l layout) []chart {
	all := barCharts(l)
	if l.anyPhases() {
		all = append(all, phaseChart(l))
	}
	for _, m := range plottedMeasures(run.Profile) {
		if m.ID == measure.InFlight && oneRequestSteps(l) == nil {
			continue // with one request in all steps, the number of connections says it
		}
		if ch := stepChart(l, m); !ch.Empty || !m.Chart.Optional {
			all = append(all, ch)
		}
	}
	if ch := memoryChart(l); !ch.Empty {
		all = append(all, ch)
	}
	return append(all, cumulativeChart(l))
}

// put adds the value of a trial in a row.
func (ch *chart) put(line series, row, column int, p point, words string) {
	line.points[row] = &p
	ch.Rows[row].Cells[column] = words
	ch.Empty = false
}

func stepChart(l layout, m plotted) chart {
	ch := chart{ID: m.Chart.ID, Title: m.title(), Note: m.note, Log: m.Chart.Log, Empty: true, Columns: l.columns,
		Middles: l.middleNames(m.Quantile()),
		kind:    kindSteps, axis: l.axis(), at: l.positions(), warmUp: l.warmUp(), marked: m.Chart.Marked}
	if m.Quantile() && ch.Middles != nil {
		ch.Note += " Thick line: responses of all rounds."
	}
	for _, r := range l.rows {
		ch.Rows = append(ch.Rows, newChartRow(r.Label, r.Title, r.WarmUp, len(l.columns)))
	}
	for j, c := range l.columns {
		line := series{column: c, points: make([]*point, len(l.rows))}
		for i, s := range c.steps {
			if s == nil {
				continue
			}
			if v, words, ok := m.value(*s); ok {
				ch.put(line, i, j, point{y: v, warmUp: l.rows[i].WarmUp}, words+cut(*s))
			}
		}
		ch.series = append(ch.series, line)
	}
	for _, c := range l.contenders {
		ch.addMiddle(stepMiddle(l, c, m))
	}
	if len(l.rows) == 1 { // a line needs two points
		ch.kind, ch.Log, ch.marked = kindBars, false, false
	}
	return ch
}

// cut returns the mark of a step that stopped early; the note above the charts explains it.
func cut(s bench.StepResult) string { return when(s.Aborted != "", " †") }

// cumulativeChart returns the successes so far over the CPU time so far.
func cumulativeChart(l layout) chart {
	ch := chart{ID: "cumulative", Title: "Cumulative successes over cumulative CPU time", Columns: l.columns, Empty: true,
		Note: "One point per step end; the first is the start of the load. " +
			"CPU time includes start-up and checks. Steeper is better.",
		kind: kindCurve, axis: "CPU seconds since start"}
	ch.Rows = append(ch.Rows, newChartRow("before", "before load", true, len(l.columns)))
	for _, r := range l.rows {
		ch.Rows = append(ch.Rows, newChartRow(r.Label, "after "+r.Title, r.WarmUp, len(l.columns)))
	}
	for j, c := range l.columns {
		line := series{column: c, points: make([]*point, len(ch.Rows))}
		var successes int64
		set := func(i int, u *bench.Usage, mark string) {
			if u == nil {
				return
			}
			cpu := u.CPU.Seconds()
			ch.put(line, i, j, point{x: cpu, y: float64(successes), warmUp: ch.Rows[i].WarmUp},
				units.Count(successes)+" / "+units.Number(cpu)+" s"+mark)
		}
		for i, s := range c.steps {
			if s == nil {
				continue
			}
			if successes == 0 && line.points[0] == nil {
				set(0, s.Before, "")
			}
			successes += s.Load.AllSucceeded()
			set(i+1, s.After, cut(*s))
		}
		ch.series = append(ch.series, line)
	}
	return ch
}

// barCharts returns the charts with one bar per contender: start-up and time to peak, and with
// arrivals also build time and image size. A contender without a value has no bar.
func barCharts(l layout) []chart {
	in := func(unit time.Duration) func(float64) string {
		return func(v float64) string { return units.Duration(time.Duration(v * float64(unit))) }
	}
	all := []chart{l.barChart("start-up", "Start-up time, ms",
		"From process start to the first ready response.", in(time.Millisecond),
		func(trial bench.TrialResult) (float64, bool) {
			if trial.StartUp == nil {
				return 0, false
			}
			return float64(*trial.StartUp) / float64(time.Millisecond), true
		})}
	peak := l.barChart("time-to-peak", "Time to peak, s",
		"From process start to the first second at the final throughput that lasts.",
		in(time.Second), func(trial bench.TrialResult) (float64, bool) {
			p, ok := stats.TimeToPeak(trial)
			return p.After.Seconds(), ok
		})
	if !peak.Empty {
		all = append(all, peak)
	}
	if !slices.ContainsFunc(l.rows, func(r row) bool { return r.step.Arrivals != nil }) {
		return all
	}
	return append(all,
		l.barChart("build-time", "Build time, s", "Clean builds only; not known for existing images.",
			in(time.Second), func(trial bench.TrialResult) (float64, bool) {
				return trial.Artifact.BuildTime.Seconds(), trial.Artifact.BuildTime > 0 && !trial.Artifact.BuildCached
			}),
		l.barChart("image-size", "Image size, MiB", "Uncompressed.",
			func(v float64) string { return units.Number(v) + " MiB" },
			func(trial bench.TrialResult) (float64, bool) {
				return float64(trial.Artifact.ImageSize) / (1 << 20), trial.Artifact.ImageSize > 0
			}))
}

// barChart returns a chart with one row: a value per trial and a median per contender.
func (l layout) barChart(id, title, note string, format func(float64) string,
	value func(bench.TrialResult) (float64, bool)) chart {
	ch := chart{ID: id, Title: title, Note: note, Columns: l.columns, Middles: l.middleNames(false), Empty: true,
		kind: kindBars}
	ch.Rows = []chartRow{newChartRow(id, "all steps", false, len(l.columns))}
	values := make([][]float64, len(l.contenders))
	for j, c := range l.columns {
		line := series{column: c, points: []*point{nil}}
		if v, ok := value(*c.trial); ok && finite(v) {
			ch.put(line, 0, j, point{y: v}, format(v))
			values[c.Contender] = append(values[c.Contender], v)
		}
		ch.series = append(ch.series, line)
	}
	for n, c := range l.contenders {
		m := newMiddle(c, 1)
		if v, ok := stats.Median(values[n]); ok {
			m.put(0, point{y: v}, values[n], format)
		}
		ch.addMiddle(m)
	}
	return ch
}

// middle is the line of a contender over all its rounds, with its confidence band.
type middle struct {
	contender contender
	points    []*point
	bands     []*stats.Interval // 95% CI of the median of the rounds; nil below six rounds
	words     []string
	bounds    []verdict.Summary // bottleneck of each step; zero if unknown
}

func newMiddle(c contender, rows int) middle {
	return middle{contender: c, points: make([]*point, rows), bands: make([]*stats.Interval, rows),
		words: slices.Repeat([]string{missing}, rows), bounds: make([]verdict.Summary, rows)}
}

// put adds the value of a row, and its interval.
func (m *middle) put(row int, p point, rounds []float64, format func(float64) string) {
	m.points[row], m.words[row] = &p, format(p.y)
	if in, ok := stats.MedianInterval(rounds, 0.95); ok {
		m.bands[row] = &in
		m.words[row] += " (" + ends(in, format) + ")"
	}
}

// stepMiddle returns the medians of rounds that finished a step, and quantiles of all rounds.
func stepMiddle(l layout, c contender, m plotted) middle {
	mid := newMiddle(c, len(l.rows))
	for i, r := range l.rows {
		var values []float64
		for _, col := range l.columns {
			if col.Contender != c.Index || col.steps[i] == nil || col.steps[i].Aborted != "" {
				continue
			}
			if v, _, ok := m.value(*col.steps[i]); ok && finite(v) {
				values = append(values, v)
			}
		}
		v, ok := stats.Median(values)
		if m.Quantile() {
			if s, known := stepAt(c.of.Contender, l.indices[i]); known && ok {
				v, ok = m.whole(s)
			}
		}
		if !ok || !finite(v) {
			continue
		}
		mid.put(i, point{y: v, warmUp: r.WarmUp}, values, m.format)
		if !r.WarmUp {
			mid.bounds[i] = c.bound(l.indices[i])
		}
	}
	return mid
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// middleNames returns the titles of the contenders' columns; none if every contender has one round.
func (l layout) middleNames(whole bool) []string {
	what := "median"
	if whole {
		what = "all rounds"
	}
	var names []string
	if len(l.columns) > len(l.contenders) {
		for _, c := range l.contenders {
			names = append(names, c.Label+" "+what)
		}
	}
	return names
}

func (ch *chart) addMiddle(m middle) {
	ch.middles = append(ch.middles, m)
	if ch.Middles == nil {
		return
	}
	for i := range ch.Rows {
		ch.Rows[i].Middle = append(ch.Rows[i].Middle, m.words[i])
	}
}

// mark is a letter in a point and the bottleneck that it means.
type mark struct {
	bound         verdict.Bound
	Letter, Words string
}

// marks has a mark for each bottleneck, in the order in which package verdict checks them.
var marks = []mark{
	{verdict.Errors, "E", "mostly errors"},
	{verdict.Memory, "M", "memory limit"},
	{verdict.Quota, "Q", "CPU quota"},
	{verdict.Client, "L", "client"},
	{verdict.Store, "S", "store"},
	{verdict.Machine, "H", "machine CPUs"},
	{verdict.Rate, "R", "requested rate"},
	{verdict.Connections, "N", "too few connections"},
	{verdict.Contender, "C", "contender itself"},
	{verdict.Unclear, "?", "unclear"},
}

// letter returns the letter of a bottleneck; "" if there is none.
func letter(b verdict.Bound) string {
	i := slices.IndexFunc(marks, func(m mark) bool { return m.bound == b })
	if i < 0 {
		return ""
	}
	return marks[i].Letter
}

func marksOf(all []middle) []mark {
	found := map[verdict.Bound]bool{}
	for _, m := range all {
		for _, b := range m.bounds {
			found[b.Bound] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(marks), func(m mark) bool { return !found[m.bound] })
}
