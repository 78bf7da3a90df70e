package run

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// about is what one contender is like: its name, its failure, its curves over the steps, and facts.
func (c *Contenders) about(one standing, w int) []ui.Block {
	t := c.theme
	head := []string{" " + one.head(t, w-2)}
	if c.size.Class == ui.Full && !c.full {
		head = slices.Insert(head, 0, "")
	}
	blocks := []ui.Block{ui.Text(3, head...)}
	for _, p := range one.problems {
		lines := p.Short(t, w-2)
		if c.full {
			lines = p.Lines(t, w-2)
		}
		blocks = append(blocks, ui.Text(3, indent(" ", lines)...))
	}
	blocks = append(blocks, c.curves(one))
	facts := one.facts(c.State)
	names := 0
	for _, f := range facts {
		names = max(names, fit.Width(f.Name)+2)
	}
	for _, f := range facts {
		name := " " + t.Faint.S(fit.Left(f.Name, names))
		if c.size.Class == ui.Column {
			name = " " + t.Faint.S(f.Name+": ")
		}
		blocks = append(blocks, ui.Text(5, ui.Hang(name, f.Text, w-1, ui.Paint{})...))
	}
	return blocks
}

func indent(margin string, lines []string) []string {
	for i, line := range lines {
		lines[i] = margin + line
	}
	return lines
}

// leastCurves are the lines of a chart over the steps, with its title and the names of the steps.
const leastCurves = 9

// curves are the charts of a contender over the steps, as many next to each other as there is room
// for. All contenders have the same scales.
func (c *Contenders) curves(one standing) ui.Block {
	n := map[ui.Class]int{ui.Full: 3, ui.Compact: 2}[c.size.Class]
	if c.full {
		n = max(1, n)
	}
	shown := measure.View(measure.ScreenCourses)
	drawn := func(s chart.Series) bool { return len(s.Points) > 1 }
	var draw func(w, h int) string
	for i := min(n, len(shown)) - 1; i >= 0; i-- {
		of := c.curve(one, shown[(c.chart+i)%len(shown)])
		if !slices.ContainsFunc(of.Series, drawn) {
			return ui.Block{}
		}
		right := draw
		draw = func(w, h int) string { return strings.Join(of.Draw(c.theme, w, h), "\n") }
		if left := draw; right != nil {
			draw = func(w, h int) string { return ui.NextTo(left, right, (w-2*(n-1-i))/(n-i))(w, h) }
		}
	}
	if draw == nil {
		return ui.Block{}
	}
	return ui.Block{Priority: 4, Least: leastCurves, Most: ui.Rest, Draw: func(w, h int) string {
		return strings.Join(indent(" ", strings.Split(draw(w-2, h), "\n")), "\n")
	}}
}

// curve is a measure of a contender over the steps: the last round in its color, earlier ones
// faint.
func (c *Contenders) curve(one standing, m measure.Shown) chart.Steps {
	of := chart.Steps{Chart: chart.Chart{Title: m.Name, Unit: chart.LabelOf(m.Unit)}, Gutter: 8}
	if peak, ok := one.PeakStep(); ok && m.ID == measure.Throughput {
		of.Value = "peak " + m.Text(m.Over(peak)) + " at " + peak.Step.Short()
	}
	of.Top, of.Bottom = c.scale(m.Measure)
	of.Log = m.Unit == measure.Nanoseconds && of.Top > 10*of.Bottom
	steps := c.State.Run.Profile.Steps
	for i, s := range steps {
		label := s.Short()
		if i > 0 && s.WarmUp && steps[i-1].WarmUp {
			label = ""
		}
		of.Labels = append(of.Labels, label)
	}
	if i := slices.IndexFunc(steps, func(s bench.Step) bool { return !s.WarmUp }); i > 0 {
		of.Bounds = []chart.Bound{{X: float64(i) - .5}}
	}
	for _, t := range one.Results {
		line := chart.Series{Paint: c.theme.Hue(one.mark), Mark: one.mark}
		for _, r := range t.Steps {
			if r.Aborted != "" || r.Index < 0 || r.Index >= 1000 {
				continue
			}
			for len(of.Labels) <= r.Index {
				of.Labels = append(of.Labels, strconv.Itoa(len(of.Labels)+1))
			}
			line.Points = append(line.Points, chart.Point{X: float64(r.Index), Y: onAxis(m.Measure, r)})
		}
		if n := len(of.Series); n > 0 {
			of.Series[n-1].Paint = c.theme.Faint
		}
		of.Series = append(of.Series, line)
	}
	return of
}

// onAxis returns a measure of a finished step for its axis, times in seconds; NaN if unknown.
func onAxis(m measure.Measure, r bench.StepResult) float64 {
	v, ok := m.Of(r)
	if !ok {
		return math.NaN()
	}
	return m.Unit.Base(v)
}

// scale returns the highest value of all contenders and the lowest one above 0.
func (c *Contenders) scale(m measure.Measure) (top, bottom float64) {
	for _, trial := range c.State.Trials {
		for _, r := range trial.Result.Steps {
			if v := onAxis(m, r); v > 0 {
				top, bottom = max(top, v), min(cmp.Or(bottom, v), v)
			}
		}
	}
	return top, bottom
}
