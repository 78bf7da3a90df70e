package board

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/show/tui/chart"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

func (v *view) contendersPage(w, h int) []string {
	all := v.ordered(v.summary())
	title := v.l.Title.S("contenders") + "  " + units.Plural(len(all), "contender")
	if v.s.Ended == nil {
		title += " so far, " + units.Plural(v.s.Run.Profile.Rounds, "round") + " planned"
	}
	if len(all) == 0 {
		return []string{title, v.l.Faint.S("nothing finished yet")}
	}
	p := &v.b.pages[contenders]
	lines := append(v.headlines(all, w), v.caveats(all, w)...)
	if h >= 30 {
		lines = append(lines, "")
	}
	if room := h - 1 - len(lines); room < 7 {
		table := lines
		lines = p.show(len(table), h-1, false, func(i int) []string { return table[i : i+1] })
	} else {
		each := max(7, min(16, room/len(all)))
		if w < 76 {
			each = 1 + 3*6
		}
		charts := func(i int) []string { return v.multiples(all[i].Label, w, each) }
		lines = append(lines, p.show(len(all), room, false, charts)...)
	}
	return append([]string{v.justify(w, title, v.position(p, len(all)), "")}, lines...)
}

func (v *view) headlines(all []stats.Contender, w int) []string {
	shown := measure.View(measure.ScreenContenders)
	peak := slices.IndexFunc(shown, func(m measure.Shown) bool { return m.ID == measure.Throughput }) + 1
	columns := v.measureColumns(shown)
	if by, ok := v.b.order.measure(); ok {
		at := slices.IndexFunc(shown, func(m measure.Shown) bool { return m.ID == by.ID })
		arrow := v.l.Glyph.Up // ascending
		if by.Higher {
			arrow = v.l.Glyph.Down
		}
		columns[at].Title += arrow
		columns[at].Drop = 0
	}
	columns = slices.Insert(columns, peak, ui.Column{Title: "at", Drop: 4})
	columns = slices.Insert(columns, 0, ui.Column{Title: "contender", Left: true, Max: 32}, ui.Column{Title: "rounds"})
	columns = append(columns, ui.Column{Title: "checks", Drop: 6})
	var rows [][]string
	for _, c := range all {
		row := []string{v.out(c.Label, nameBytes), fmt.Sprintf("%d/%d", c.Complete, max(c.Trials, v.s.Run.Profile.Rounds))}
		for i, m := range shown {
			f := m.Contender(c)
			row = append(row, ui.ValueCell(v.l, m.Measure, f, v.cell(m.Measure, f.Value)))
			if i+1 != peak {
				continue
			}
			at := v.missing()
			if s, ok := c.PeakStep(); ok {
				at = v.out(s.Step.Short(), 20)
			}
			row = append(row, at)
		}
		rows = append(rows, append(row, v.checksFailed(c)))
	}
	return v.l.Table(columns, rows, w)
}

func (v *view) checksFailed(c stats.Contender) string {
	switch n := c.Checks[bench.CheckFailed]; {
	case n > 0:
		return v.l.Bad.S(v.l.Glyph.Cross + " " + itoa(n) + " failed")
	case len(c.Checks) == 0:
		return v.missing()
	}
	return "0 failed"
}

func (v *view) caveats(all []stats.Contender, w int) []string {
	least := math.MaxInt
	for _, c := range all {
		least = min(least, c.Complete)
	}
	text := "Medians of the rounds; latency at peak, all rounds."
	if least < stats.MinInterval {
		text += fmt.Sprintf(" Fewer than %d complete rounds (n = %d): no CI, no ranking.",
			stats.MinInterval, least)
	}
	if p := &v.s.Run.Profile; !p.EqualLimits() {
		text += " Limits differ:"
		for i, c := range all {
			if i > 0 {
				text += ","
			}
			text += " " + v.out(c.Label, nameBytes) + " " + strings.TrimSpace(v.under(c.Label))
		}
		text += "."
	}
	bodies, estimated := []string(nil), false
	for _, c := range all {
		if n, estimate := c.Compared(); n > 0 || c.Unread() > 0 {
			one := v.out(c.Label, nameBytes) + " " + units.Count(n)
			if unread := c.Unread(); unread > 0 {
				one += " (" + units.Count(unread) + " not looked at)"
			}
			bodies, estimated = append(bodies, one), estimated || estimate
		}
	}
	if len(bodies) > 0 {
		text += " Bodies compared: " + strings.Join(bodies, ", ") + "."
	}
	if estimated {
		text += " ~: estimate from these, weighted by requests."
	}
	out := ui.Each(v.l.Faint, v.l.Wrap(text, w, 7))
	for _, c := range all {
		for _, f := range c.Failures[:min(len(c.Failures), 2)] {
			out = append(out, v.l.Bad.S(v.l.Cut(v.l.Glyph.Cross+" "+v.out(c.Label, nameBytes)+": "+v.out(f, lineBytes), w)))
		}
	}
	return out
}

// multiples returns the charts of a contender over the steps, with one line per round. All
// contenders have the same scales.
func (v *view) multiples(label string, w, h int) []string {
	shown := measure.View(measure.ScreenCourses)
	labels, series := v.lines(label, shown)
	draw := func(n, w, h int) []string {
		m := shown[n].Measure
		top, bottom := v.scale(m)
		c := chart.Chart{Title: shown[n].Head, Unit: chart.LabelOf(m.Unit), Series: series[n], Top: nice(top)}
		if m.Quantile() {
			c.Log, c.Top, c.Bottom = true, top, bottom
		}
		return chart.Steps{Chart: c, Labels: labels, Gutter: 8}.Draw(v.l.Theme, w, h)
	}
	head := v.l.Strong.S(v.out(label, nameBytes)) + " " + v.under(label) + " n = " + units.Plural(len(series[0]), "round")
	out, n := []string{v.l.Fit(head, w)}, len(shown)
	if w < 76 {
		for i := range shown {
			out = append(out, draw(i, w, (h-1)/n)...)
		}
		return out
	}
	each := (w - 2*(n-1)) / n
	blocks := [][]string{draw(0, w-(n-1)*(each+2), h-1)}
	for i := 1; i < n; i++ {
		blocks = append(blocks, draw(i, each, h-1))
	}
	return append(out, ui.SideBySide(2, blocks...)...)
}

// under returns the limits of a contender in words where contenders have different ones.
func (v *view) under(label string) string {
	p := &v.s.Run.Profile
	for _, sel := range p.Contenders {
		if sel.String() == label && !p.EqualLimits() {
			return p.Under(sel) + " "
		}
	}
	return ""
}

// nice returns the next 1, 1.5, 2, 3, 5 or 7 times a power of ten, as the top of a scale.
func nice(top float64) float64 {
	if !(top > 1e-300 && top < 1e300) {
		return 0
	}
	decade := math.Pow(10, math.Floor(math.Log10(top)))
	for _, f := range []float64{1, 1.5, 2, 3, 5, 7} {
		if f*decade >= top {
			return f * decade
		}
	}
	return 10 * decade
}

// onAxis returns a measure of a finished step for its axis, times in seconds; NaN if unknown.
func onAxis(m measure.Measure, r *bench.StepResult) float64 {
	x, ok := m.Of(*r)
	return known(ok, m.Unit.Base(x))
}

// scale returns the highest value of all contenders and the lowest one above 0.
func (v *view) scale(m measure.Measure) (top, bottom float64) {
	for _, trial := range v.s.Trials {
		for i := range trial.Result.Steps {
			x := onAxis(m, &trial.Result.Steps[i])
			if x > 0 {
				top, bottom = max(top, x), min(cmp.Or(bottom, x), x)
			}
		}
	}
	return top, bottom
}

func (v *view) lines(label string, shown []measure.Shown) (labels []string, series [][]chart.Series) {
	series = make([][]chart.Series, len(shown))
	for _, s := range v.s.Run.Profile.Steps {
		labels = append(labels, s.Short())
	}
	for _, trial := range v.s.Trials {
		if trial.Result.Trial.Label() != label || len(trial.Result.Steps) == 0 {
			continue
		}
		n := len(series[0])
		points := make([][]chart.Point, len(shown))
		for i := range trial.Result.Steps {
			r := &trial.Result.Steps[i]
			if r.Aborted != "" || r.Index < 0 || r.Index >= 1000 {
				continue
			}
			for len(labels) <= r.Index {
				labels = append(labels, itoa(len(labels)+1))
			}
			for c, m := range shown {
				points[c] = append(points[c], chart.Point{X: float64(r.Index), Y: onAxis(m.Measure, r)})
			}
		}
		for c := range series {
			name := "round " + itoa(trial.Result.Trial.Round)
			series[c] = append(series[c], chart.Series{Name: name, Paint: v.l.Series[n%6], Mark: n % 6, Points: points[c]})
		}
	}
	return labels, series
}

// order is the order of the contenders: 0 is the plan, n the n-th of measure.ScreenOrders.
type order int

// measure returns the measure that o sorts by; ok is false for the order of the plan.
func (o order) measure() (m measure.Shown, ok bool) {
	if all := measure.View(measure.ScreenOrders); o > 0 && int(o) <= len(all) {
		return all[o-1], true
	}
	return measure.Shown{}, false
}

// key returns the sort key of c, lower for better; infinite where the value is not known.
func key(m measure.Measure, c stats.Contender) float64 {
	f := m.Contender(c)
	switch {
	case !f.Known || math.IsNaN(f.Value):
		return math.Inf(1)
	case m.Higher:
		return -f.Value
	}
	return f.Value
}

// ordered returns the contenders sorted: those without a value after the others, equal ones as in
// the plan, excluded ones last.
func (v *view) ordered(all []stats.Contender) []stats.Contender {
	all = slices.Clone(all)
	if m, ok := v.b.order.measure(); ok {
		slices.SortStableFunc(all, func(a, b stats.Contender) int {
			return cmp.Compare(key(m.Measure, a), key(m.Measure, b))
		})
	}
	slices.SortStableFunc(all, stats.ExcludedLast)
	return all
}
