package chart

import "locbench/internal/tui/look"

// Steps is a chart over the steps of a ladder (connections, rates) instead of time: a line for each
// round or contender. Small enough for many beside each other.
type Steps struct {
	Labels []string // of the steps, from left to right
	Series []Series // X is the index of the step
	Gutter int      // as for Axis

	// As for Chart.
	Title, Value string
	Unit         func(float64) string
	Rules        []Rule
	Log, Binary  bool
	Top, Bottom  float64
}

// Draw returns exactly h lines of exactly w cells; the last one, of three or more, names the steps.
func (s Steps) Draw(l *look.Look, w, h int) []string {
	if h <= 0 {
		return nil
	}
	c := Chart{Title: s.Title, Value: s.Value, Unit: s.Unit, Series: s.Series, Rules: s.Rules,
		Log: s.Log, Binary: s.Binary, Top: s.Top, Bottom: s.Bottom}
	a := Axis{From: -0.5, To: max(1, float64(len(s.Labels))) - 0.5, Gutter: s.Gutter}
	if h < 4 || w <= 0 {
		return c.draw(l, a, w, h, true)
	}
	return append(c.draw(l, a, w, h-1, true), s.labels(l, a, w))
}

// labels is the line under the plot: every label, or every second, third … one if there is too
// little room for all.
func (s Steps) labels(l *look.Look, a Axis, w int) string {
	c := newCanvas(w, 1)
	left, n := a.left(w), len(s.Labels)
	wide := 1
	for _, label := range s.Labels[:min(n, w)] {
		wide = max(wide, min(look.Width(clean(l, label)), 12))
	}
	every := max(1, (n*(wide+1)+w-left-1)/(w-left))
	faint := c.paint(l.Faint)
	for i := 0; i < n; i += every {
		label := l.Cut(clean(l, s.Labels[i]), wide)
		cells := look.Width(label)
		x := max(left, min(a.column(float64(i), left, w)-cells/2, w-cells))
		if c.free(x, 0, cells) {
			c.text(x, 0, w, label, faint)
		}
	}
	return c.lines()[0]
}
