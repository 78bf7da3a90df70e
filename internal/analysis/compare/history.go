package compare

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/table"
)

// History collects the results of many runs. The zero value is ready to use.
type History struct {
	points map[string][]Point // points by label of the contender
	ids    map[string]string  // folder by ID of the run
}

// Point is one contender in one run.
type Point struct {
	Folder   string    `json:"folder"`
	Run      string    `json:"run"`
	Started  time.Time `json:"started"`
	Rounds   int       `json:"rounds"` // complete rounds, which the values are of
	Left     int       `json:"left_out,omitempty"`
	Excluded string    `json:"excluded,omitempty"` // why the contender is excluded
	// Break is why the point is not comparable with the one before; "" if it is.
	Break  string       `json:"not_comparable_with_previous,omitempty"`
	Values []PointValue `json:"measures"`

	run    bench.Run
	trials []bench.TrialResult // instances, without results
	half   bench.Step          // step at half peak, which counts if the point is the first of its segment
	known  []valueAt           // at all steps that may be the one at half peak
}

// PointValue is one measure of a point.
type PointValue struct {
	Measure measure.ID `json:"measure"`
	Unit    string     `json:"unit"`
	At      string     `json:"at,omitempty"`  // name of the step
	Out     string     `json:"out,omitempty"` // why the value is excluded, or its drift
	Side               // rounds, and their median with its CI
}

// valueAt is a value; that of a measure at half peak is at one of the steps.
type valueAt struct {
	PointValue
	step bench.Step
}

// Series is a contender over all runs, in order of time.
type Series struct {
	Contender string  `json:"contender"`
	Points    []Point `json:"points"`
}

// Add adds one results folder. skipped says why the folder, or a contender of it, was skipped.
func (h *History) Add(folder string, run bench.Run, trials []bench.TrialResult) (skipped []string) {
	if h.points == nil {
		h.points, h.ids = map[string][]Point{}, map[string]string{}
	}
	other, twice := h.ids[run.ID]
	switch {
	case run.Search != "":
		return []string{"capacity search"}
	case twice && run.ID != "":
		return []string{"same run as " + other}
	case len(trials) == 0:
		return []string{"no trial started"}
	}
	h.ids[run.ID] = folder
	var labels []string
	seen := map[string]int{}
	for _, trial := range trials {
		label := trial.Trial.Label()
		if seen[label]++; seen[label] == 1 {
			labels = append(labels, label)
		}
	}
	complete := slices.DeleteFunc(slices.Clone(trials), func(t bench.TrialResult) bool { return t.State != bench.TrialComplete })
	done := analysis.Of(run, complete)
	for _, label := range labels {
		i := slices.IndexFunc(done.Contenders, func(c analysis.Contender) bool { return c.Label == label })
		if i < 0 {
			skipped = append(skipped, label+": no complete round")
			continue
		}
		c := done.Contenders[i]
		p := Point{Folder: folder, Run: run.ID, Started: run.Started, Rounds: c.Complete, Left: seen[label] - c.Complete,
			Excluded: exclusion(c), run: run}
		p.half, _, _ = c.Half()
		for _, trial := range c.Results {
			p.trials = append(p.trials, bench.TrialResult{Trial: trial.Trial, Service: trial.Service, Instance: trial.Instance})
		}
		for _, m := range measure.View(measure.Compared) {
			p.measure(c, m.Measure)
		}
		h.points[c.Label] = append(h.points[c.Label], p)
	}
	return skipped
}

// measure adds the values of a contender.
func (p *Point) measure(c analysis.Contender, m measure.Measure) {
	add := func(step bench.Step, at, drift string, values []float64, shown measure.Result) {
		p.known = append(p.known, valueAt{PointValue{m.ID, m.Unit.String(), at, cmp.Or(p.Excluded, drift), side(values, shown)}, step})
	}
	if m.Comparison.At != measure.AtHalf {
		values, _, at := analysis.Samples(m, c, c, c)
		add(bench.Step{}, at, c.StepOf(m, c).DriftWords(), values, analysis.CoupleOf(c, c).Values(m)[0])
		return
	}
	for _, s := range c.Steps {
		if !s.Step.WarmUp {
			add(s.Step, s.Step.Name, s.DriftWords(), c.At(m, s.Step), m.Over(s))
		}
	}
}

// value returns a measure, at half peak at a step.
func (p Point) value(m measure.Measure, half bench.Step) PointValue {
	atHalf := m.Comparison.At == measure.AtHalf
	for _, v := range p.known {
		if v.Measure == m.ID && (!atHalf || v.step.Same(half)) {
			return v.PointValue
		}
	}
	return PointValue{Measure: m.ID, Unit: m.Unit.String(), At: half.Name}
}

// Labels returns the labels of all contenders that were added.
func (h *History) Labels() []string {
	return slices.Sorted(maps.Keys(h.points))
}

// Series returns the points of each contender in order of time, with breaks. p99 of comparable
// points is at one step, that of the first. Without labels it returns all contenders, without
// measures all measures.
func (h *History) Series(labels []string, measures []measure.ID) ([]Series, error) {
	if len(labels) == 0 {
		labels = h.Labels()
	}
	var all []Series
	for _, label := range labels {
		points, ok := h.points[label]
		if !ok {
			return nil, fmt.Errorf("no contender %q in these results; choose one of %s", label, list(h.Labels()))
		}
		c := Series{Contender: label, Points: slices.Clone(points)}
		slices.SortStableFunc(c.Points, func(a, b Point) int {
			return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Folder, b.Folder))
		})
		var half bench.Step
		for i := range c.Points {
			p := &c.Points[i]
			if i > 0 {
				was := c.Points[i-1]
				differ := append(Differences(was.run, p.run), trialDifferences(was.trials, p.trials)...)
				p.Break = breaking(differ, 40) // without long lists of steps
			}
			if i == 0 || p.Break != "" {
				half = p.half
			}
			for _, m := range measure.View(measure.Compared) {
				if slices.Contains(measures, m.ID) || len(measures) == 0 && shown(m.Measure, points) {
					p.Values = append(p.Values, p.value(m.Measure, half))
				}
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// shown reports whether a measure has a verdict, or a value in any point.
func shown(m measure.Measure, points []Point) bool {
	return !m.Comparison.Apart && !m.Comparison.Own || slices.ContainsFunc(points, func(p Point) bool { return p.value(m, p.half).Median != nil })
}

// table returns the medians of each result, with the widths of their CIs as details.
func (c Series) table() table.Table {
	t := table.Table{Columns: []table.Column{{Title: "#"}, {Title: "started", Left: true}, {Title: "n"}}}
	for _, v := range c.Points[0].Values {
		m := measure.Get(v.Measure)
		column := table.Column{Title: m.Comparison.Head}
		if m.Comparison.Apart || m.Comparison.Own {
			column.Drop = 1
		}
		t.Columns = append(t.Columns, column)
	}
	for i, p := range c.Points {
		row := t.Add(strconv.Itoa(i+1), p.Started.UTC().Format("2006-01-02 15:04"), strconv.Itoa(p.Rounds))
		for _, v := range p.Values {
			cell := table.Cell{Text: units.Missing}
			if v.Median != nil {
				cell.Text = measure.Get(v.Measure).Unit.Cell(*v.Value)
			}
			if v.Low != nil && *v.Median > 0 {
				cell.Small = []string{"±" + units.Tenths(max(*v.High-*v.Median, *v.Median-*v.Low) / *v.Median)}
			}
			row.Cells = append(row.Cells, cell)
		}
		row.Below = p.marks()
	}
	return t
}

// marks returns the remarks about a point.
func (p Point) marks() (all []string) {
	if p.Break != "" {
		all = append(all, "── not comparable with earlier results: "+safe.Line(p.Break, 600))
	}
	if p.Excluded != "" {
		return append(all, "── excluded: it "+p.Excluded)
	}
	for _, v := range p.Values {
		if v.Out != "" {
			all = append(all, "── "+measure.Get(v.Measure).Comparison.Title+": "+safe.Line(v.Out, 200))
		}
	}
	return all
}

const historyWidth = 80

// HistoryText writes series as text, at most 80 columns wide except for names of folders. The
// widths of CIs have rows below the medians.
func HistoryText(w io.Writer, all []Series) error {
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, "%s   %s\n", safe.Line(c.Contender, 60), units.Plural(len(c.Points), "result"))
		t := c.table()
		for i := len(t.Rows) - 1; i >= 0; i-- {
			below := table.Row{Below: t.Rows[i].Below}
			for _, cell := range t.Rows[i].Cells {
				below.Cells = append(below.Cells, table.Cell{Text: strings.Join(cell.Small, "")})
			}
			if slices.ContainsFunc(below.Cells, func(c table.Cell) bool { return c.Text != "" }) {
				t.Rows[i].Below = nil
				t.Rows = slices.Insert(t.Rows, i+1, below)
			}
		}
		for _, line := range t.Lines(historyWidth-2, nil) {
			b.WriteString("  " + line + "\n")
		}
		for i, p := range c.Points {
			left := ""
			if p.Left > 0 {
				left = fmt.Sprintf(" (%s incomplete, skipped)", units.Plural(p.Left, "round"))
			}
			fmt.Fprintf(&b, "  %*d  %s%s\n", len(strconv.Itoa(len(c.Points))), i+1, safe.Line(p.Folder, 400), left)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String()+fit.Paragraph(historyNote(all), historyWidth, "")+"\n")
	return err
}

// historyNote explains the tables.
func historyNote(all []Series) string {
	note := "Medians of the rounds. ±: the end of the 95% CI that is farther from the median, from six rounds on. "
	if slices.ContainsFunc(all, func(c Series) bool { return len(c.Points) > 1 }) {
		return note + "Whether two results differ: locbench compare OLD NEW"
	}
	return note + "Only one result: repeat the same run from time to time to see a history."
}

// HistoryMarkdown writes series as Markdown tables, for a pull request.
func HistoryMarkdown(w io.Writer, all []Series) error {
	var b strings.Builder
	for _, c := range all {
		t := c.table()
		t.Columns = append(t.Columns, table.Column{Title: "marks", Left: true}, table.Column{Title: "folder", Left: true})
		for i := range t.Rows {
			row := &t.Rows[i]
			row.Cells = append(row.Cells, table.Cell{Text: strings.Join(row.Below, "; ")},
				table.Cell{Text: safe.Line(c.Points[i].Folder, 400)})
		}
		fmt.Fprintf(&b, "## %s\n\n%s\n", table.Escape(safe.Line(c.Contender, 60)), t.Markdown())
	}
	_, err := io.WriteString(w, b.String()+historyNote(all)+"\n")
	return err
}

// HistoryCSV writes a row per contender, result and measure.
func HistoryCSV(w io.Writer, all []Series) error {
	out := safe.NewCSV(w)
	err := out.Write("contender", "started", "folder", "run", "rounds", "measure", "unit", "at", "median", "low", "high",
		"not_comparable_with_previous")
	number := func(v *float64) any {
		if v == nil {
			return nil
		}
		return *v
	}
	for _, c := range all {
		for _, p := range c.Points {
			for _, v := range p.Values {
				err = cmp.Or(err, out.Write(c.Contender, p.Started.UTC().Format(time.RFC3339), p.Folder, p.Run, p.Rounds, v.Measure,
					v.Unit, v.At, number(v.Median), number(v.Low), number(v.High), p.Break))
			}
		}
	}
	return cmp.Or(err, out.Flush())
}
