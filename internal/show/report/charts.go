package report

import (
	"math"
	"slices"
	"time"

	"locbench/internal/bench"
	"locbench/internal/figures/measure"
	"locbench/internal/figures/stats"
	"locbench/internal/figures/verdict"
)

// figure is one chart and the table of the same values.
type figure struct {
	ID      string
	Title   string // with the unit: "Throughput, successes/s"
	Note    string // how to read it; may be empty
	Log     bool   // logarithmic value axis
	Rows    []figureRow
	Columns []column
	Empty   bool // nothing was measured: say so instead of drawing an empty chart

	Middles []string // names of the columns of all rounds of a contender; none where nobody has two

	kind    figureKind
	series  []series
	middles []middle  // one a contender
	axis    string    // name of the horizontal axis
	at      []float64 // places of the rows on a logarithmic axis; nil: side by side
	marked  bool
	stack   []string // names of the parts of a bar; the rows are these and their total, for each bar of a trial
	warmUp  int
}

// Steps reports whether its points are those of the steps, through which the arrow keys go.
func (f figure) Steps() bool { return f.kind == kindSteps }

// Marks returns what the letters in the points mean.
func (f figure) Marks() []mark {
	if !f.marked {
		return nil
	}
	return marksOf(f.middles)
}

type figureKind string

const (
	kindSteps figureKind = "steps" // lines over the steps
	kindBars  figureKind = "bars"  // one bar a contender
	kindCurve figureKind = "curve" // lines over a value
	kindStack figureKind = "stack" // bars in parts
)

// figureRow is a row of the table, and the words of a tooltip.
type figureRow struct {
	Label, Title string
	WarmUp       bool
	Cells        []string // one a column
	Middle       []string // one a contender
}

func newFigureRow(label, title string, warmUp bool, cells int) figureRow {
	return figureRow{Label: label, Title: title, WarmUp: warmUp, Cells: slices.Repeat([]string{missing}, cells)}
}

// series is one trial's line. A point that was not measured is nil.
type series struct {
	column column
	points []*point
}

type point struct {
	x, y   float64 // x only in curves
	warmUp bool
}

func figures(run bench.Run, l layout) []figure {
	all := barFigures(l)
	if l.anyPhases() {
		all = append(all, phaseFigure(l))
	}
	for _, m := range drawings(run.Profile) {
		if m.ID == measure.InFlight && requestsApart(l) == nil {
			continue // where all steps ask the same, the connections say it
		}
		if f := stepFigure(l, m); !f.Empty || !m.Chart.Optional {
			all = append(all, f)
		}
	}
	return append(all, cumulativeFigure(l))
}

// put adds what a trial has in a row.
func (f *figure) put(line series, row, column int, p point, words string) {
	line.points[row] = &p
	f.Rows[row].Cells[column] = words
	f.Empty = false
}

func stepFigure(l layout, m plotted) figure {
	f := figure{ID: m.Chart.ID, Title: m.title(), Note: m.note, Log: m.Chart.Log, Empty: true, Columns: l.columns,
		Middles: l.middleNames(m.Quantile()),
		kind:    kindSteps, axis: l.axis(), at: l.positions(), warmUp: l.warmUp(), marked: m.Chart.Marked}
	if m.Quantile() && f.Middles != nil {
		f.Note += " Thick line: responses of all rounds."
	}
	for _, r := range l.rows {
		f.Rows = append(f.Rows, newFigureRow(r.Label, r.Title, r.WarmUp, len(l.columns)))
	}
	for j, c := range l.columns {
		line := series{column: c, points: make([]*point, len(l.rows))}
		for i, s := range c.steps {
			if s == nil {
				continue
			}
			if v, words, ok := m.value(*s); ok {
				f.put(line, i, j, point{y: v, warmUp: l.rows[i].WarmUp}, words+cut(*s))
			}
		}
		f.series = append(f.series, line)
	}
	for _, c := range l.contenders {
		f.addMiddle(stepMiddle(l, c, m))
	}
	if len(l.rows) == 1 { // no line has one point
		f.kind, f.Log, f.marked = kindBars, false, false
	}
	return f
}

// cut marks a step that ended early; the legend of the tables explains it.
func cut(s bench.StepResult) string { return when(s.Aborted != "", " †") }

// cumulativeFigure sets the successes so far against the CPU time so far.
func cumulativeFigure(l layout) figure {
	f := figure{ID: "cumulative", Title: "Cumulative successes over cumulative CPU time", Columns: l.columns, Empty: true,
		Note: "One point per step end; the first is the start of the load. CPU time includes start-up and checks. Steeper is better.",
		kind: kindCurve, axis: "CPU seconds since start"}
	f.Rows = append(f.Rows, newFigureRow("before", "before load", true, len(l.columns)))
	for _, r := range l.rows {
		f.Rows = append(f.Rows, newFigureRow(r.Label, "after "+r.Title, r.WarmUp, len(l.columns)))
	}
	for j, c := range l.columns {
		line := series{column: c, points: make([]*point, len(f.Rows))}
		var successes int64
		set := func(i int, u *bench.Usage, mark string) {
			if u == nil {
				return
			}
			cpu := u.CPU.Seconds()
			f.put(line, i, j, point{x: cpu, y: float64(successes), warmUp: f.Rows[i].WarmUp},
				count(successes)+" / "+significant(cpu)+nbsp+"s"+mark)
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
		f.series = append(f.series, line)
	}
	return f
}

// barFigures have a bar for every contender: start-up always, and what the published comparison of
// native images had next to it, where somebody arrives: build time and size. A contender without a
// value has no bar, not one of 0.
func barFigures(l layout) []figure {
	in := func(unit time.Duration) func(float64) string {
		return func(v float64) string { return duration(time.Duration(v * float64(unit))) }
	}
	all := []figure{l.barFigure("start-up", "Start-up time, ms",
		"From process start to the first ready response.", in(time.Millisecond),
		func(trial bench.TrialResult) (float64, bool) {
			if trial.StartUp == nil {
				return 0, false
			}
			return float64(*trial.StartUp) / float64(time.Millisecond), true
		})}
	peak := l.barFigure("time-to-peak", "Time to peak, s", "From process start to the first second at lasting final throughput.",
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
		l.barFigure("build-time", "Build time, s", "Clean builds only; not known for existing images.",
			in(time.Second), func(trial bench.TrialResult) (float64, bool) {
				return trial.Artifact.BuildTime.Seconds(), trial.Artifact.BuildTime > 0 && !trial.Artifact.BuildCached
			}),
		l.barFigure("image-size", "Image size, MiB", "Uncompressed.",
			func(v float64) string { return significant(v) + nbsp + "MiB" },
			func(trial bench.TrialResult) (float64, bool) {
				return float64(trial.Artifact.ImageSize) / (1 << 20), trial.Artifact.ImageSize > 0
			}))
}

// barFigure has a row: a value for each trial and the median for each contender.
func (l layout) barFigure(id, title, note string, format func(float64) string,
	value func(bench.TrialResult) (float64, bool)) figure {
	f := figure{ID: id, Title: title, Note: note, Columns: l.columns, Middles: l.middleNames(false), Empty: true,
		kind: kindBars}
	f.Rows = []figureRow{newFigureRow(id, "all steps", false, len(l.columns))}
	values := make([][]float64, len(l.contenders))
	for j, c := range l.columns {
		line := series{column: c, points: []*point{nil}}
		if v, ok := value(*c.trial); ok && finite(v) {
			f.put(line, 0, j, point{y: v}, format(v))
			values[c.Contender] = append(values[c.Contender], v)
		}
		f.series = append(f.series, line)
	}
	for n, c := range l.contenders {
		m := newMiddle(c, 1)
		if v, ok := stats.Median(values[n]); ok {
			m.put(0, point{y: v}, values[n], format)
		}
		f.addMiddle(m)
	}
	return f
}

// middle is the line of a contender over all its rounds, and the band around it.
type middle struct {
	contender contender
	points    []*point
	bands     []*stats.Interval // 95%, of the median of the rounds; nil below six rounds
	words     []string
	bounds    []verdict.Summary // what bound the step; zero where nothing is known
}

func newMiddle(c contender, rows int) middle {
	return middle{contender: c, points: make([]*point, rows), bands: make([]*stats.Interval, rows),
		words: slices.Repeat([]string{missing}, rows), bounds: make([]verdict.Summary, rows)}
}

// put adds what is known of a row, and the interval around it.
func (m *middle) put(row int, p point, rounds []float64, format func(float64) string) {
	m.points[row], m.words[row] = &p, format(p.y)
	if in, ok := stats.MedianInterval(rounds, 0.95); ok {
		m.bands[row] = &in
		m.words[row] += " (" + ends(in, format) + ")"
	}
}

// stepMiddle returns the median of the rounds that finished a step; of quantiles that of all together.
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
			mid.bounds[i] = c.of.Bounds[l.indices[i]]
		}
	}
	return mid
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// middleNames returns the columns of the tables; none where no contender has more than one round.
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

func (f *figure) addMiddle(m middle) {
	f.middles = append(f.middles, m)
	if f.Middles == nil {
		return
	}
	for i := range f.Rows {
		f.Rows[i].Middle = append(f.Rows[i].Middle, m.words[i])
	}
}

// mark is a letter in a point and what it says of the step.
type mark struct {
	bound         verdict.Bound
	Letter, Words string
}

// marks are those of all bounds, in the order in which verdicts are looked for.
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

// letter returns the mark of a bound; "" where there is none.
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
