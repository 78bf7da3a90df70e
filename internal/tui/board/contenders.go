package board

import (
	"fmt"
	"math"
	"time"

	"locbench/internal/bench"
	"locbench/internal/stats"
	"locbench/internal/tui/chart"
	"locbench/internal/tui/look"
	"locbench/internal/units"
)

// contendersPage compares the contenders: their headlines, and their steps on the same scales.
func (v *view) contendersPage(w, h int) []string {
	all := v.ordered(v.summary())
	rounds := v.s.Run.Profile.Rounds
	title := v.l.Title.S("contenders") + "  " + plural(len(all), "contender") + " so far, " + plural(rounds, "round") + " planned"
	if v.s.Ended != nil {
		title = v.l.Title.S("contenders") + "  " + plural(len(all), "contender")
	}
	if len(all) == 0 {
		return []string{title, v.l.Faint.S("nothing is finished yet")}
	}
	p := &v.pages[contenders]
	lines := v.headlines(all, w)
	lines = append(lines, v.caution(all, w)...)
	if h >= 30 {
		lines = append(lines, "")
	}
	room := h - 1 - len(lines)
	each := max(7, min(16, room/max(1, len(all))))
	if w < 76 {
		each = 1 + 3*6
	}
	var body []string
	if room >= 7 {
		body = p.show(len(all), room, false, func(i int) []string { return v.multiples(all[i].Label, w, each) })
	} else {
		table := lines
		lines = nil
		body = p.show(len(table), h-1, false, func(i int) []string { return table[i : i+1] })
	}
	return append(append([]string{v.beside(w, title, v.position(p, len(all)), "")}, lines...), body...)
}

// headlines is the table of what each contender has come to.
func (v *view) headlines(all []stats.Contender, w int) []string {
	columns := []look.Column{
		{Title: "contender", Left: true, Max: 32}, {Title: "rounds"}, {Title: "start-up", Drop: 5}, {Title: "to peak", Drop: 8}, {Title: "peak req/s"}, {Title: "at", Drop: 4}, {Title: "p50", Drop: 7},
		{Title: "p99"}, {Title: "errors", Drop: 1}, {Title: "CPU/req"}, {Title: "peak memory", Drop: 2}, {Title: v.own("$/10⁹"), Drop: 3}, {Title: "checks", Drop: 6},
	}
	if v.l.ASCII {
		columns[11].Title = "$/1e9"
	}
	if at := v.Board.order.column(); at >= 0 {
		arrow := v.l.Glyph.Up // ascending
		if v.Board.order == byPeak {
			arrow = v.l.Glyph.Down
		}
		columns[at].Title += arrow
		columns[at].Drop = 0
	}
	var rows [][]string
	for _, c := range all {
		row := []string{v.out(c.Label, nameBytes), fmt.Sprintf("%d/%d", c.Complete, max(c.Legs, v.s.Run.Profile.Rounds)), v.value(c.StartUp, v.nanoseconds), v.value(c.PeakTime, v.nanoseconds)}
		perRequest := v.missing()
		if s, ok := c.PeakStep(); ok {
			row = append(row, v.value(s.Throughput, rate), v.out(short(s.Step), 20), v.quantile(s.Latency, s.Latency.P50), v.quantile(s.Latency, s.Latency.P99))
			perRequest = v.value(s.CPURequest, v.nanoseconds)
		} else {
			row = append(row, v.missing(), v.missing(), v.missing(), v.missing())
		}
		peak := v.missing()
		if c.MemoryPeak > 0 {
			peak = units.Bytes(c.MemoryPeak)
			if c.MemoryPeakIsSample {
				peak = v.l.Glyph.AtLeast + " " + peak
			}
		}
		failed := "0 failed"
		if n := c.Checks[bench.CheckFailed]; n > 0 {
			failed = v.l.Bad.S(v.l.Glyph.Cross + " " + itoa(n) + " failed")
		} else if len(c.Checks) == 0 {
			failed = v.missing()
		}
		rows = append(rows, append(row, v.errorCount(c.ErrorsTotal()), perRequest, peak, v.value(c.CostEach, func(x float64) string { return fmt.Sprintf("%.2f", x) }), failed))
	}
	header, lines := v.l.Table(columns, rows, w)
	return append([]string{header}, lines...)
}

func (v *view) nanoseconds(x float64) string { return v.duration(time.Duration(x)) }

func (v *view) value(x stats.Value, show func(float64) string) string {
	if !x.Known() {
		return v.missing()
	}
	return show(x.Median)
}

// caution says what the figures are and how much they can carry.
func (v *view) caution(all []stats.Contender, w int) []string {
	least := math.MaxInt
	for _, c := range all {
		least = min(least, c.Complete)
	}
	text := "medians of the rounds; latencies of all rounds' requests together, at the peak."
	if least < stats.MinInterval {
		text += fmt.Sprintf(" Fewer than %d complete rounds (n = %d): no interval, and no difference is claimed.", stats.MinInterval, least)
	}
	var out []string
	for _, line := range v.l.Wrap(text, w, 5) {
		out = append(out, v.l.Faint.S(line))
	}
	for _, c := range all {
		for _, f := range c.Failures[:min(len(c.Failures), 2)] {
			out = append(out, v.l.Bad.S(v.l.Cut(v.l.Glyph.Cross+" "+v.out(c.Label, nameBytes)+": "+v.out(f, lineBytes), w)))
		}
	}
	return out
}

// multiples are the charts of a contender: throughput, p99 and CPU time over the steps, a line for each round, on the same scales
// as those of all others.
func (v *view) multiples(label string, w, h int) []string {
	top, bottom := v.scales()
	labels, series := v.lines(label)
	titles := [3]string{"req/s", "p99", "CPU/req"}
	unit := [3]func(float64) string{rateLabel, latencyLabel, latencyLabel}
	head := v.l.Strong.S(v.out(label, nameBytes)) + "  n = " + plural(len(series[0]), "round")
	draw := func(n, w, h int) []string {
		c := chart.Steps{Title: titles[n], Unit: unit[n], Labels: labels, Series: series[n], Log: n == 1, Top: nice(top[n]), Gutter: 8}
		if n == 1 {
			c.Top, c.Bottom = top[n], bottom
		}
		return c.Draw(v.l, w, h)
	}
	out := []string{v.l.Fit(head, w)}
	if w < 76 {
		for n := range 3 {
			out = append(out, draw(n, w, (h-1)/3)...)
		}
		return out
	}
	cw := (w - 4) / 3
	return append(out, look.Beside(2, draw(0, w-4-2*cw, h-1), draw(1, cw, h-1), draw(2, cw, h-1))...)
}

// nice is the next 1, 1.5, 2, 3, 5 or 7 times a power of ten: a scale for all contenders.
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

// figures of a finished step for the small multiples, in the order of their charts; NaN where unknown.
func figures(r *bench.StepResult) [3]float64 {
	out := [3]float64{r.Load.Throughput(), math.NaN(), math.NaN()}
	if r.Load.Latency.Count > 0 {
		out[1] = r.Load.Latency.P99.Seconds()
	}
	if d, ok := r.CPUPerRequest(); ok {
		out[2] = d.Seconds()
	}
	return out
}

// scales are the highest values of all contenders, and the least p99.
func (v *view) scales() (top [3]float64, bottom float64) {
	for _, leg := range v.s.Legs {
		for i := range leg.Result.Steps {
			f := figures(&leg.Result.Steps[i])
			for n := range f {
				if f[n] > top[n] {
					top[n] = f[n]
				}
			}
			if f[1] > 0 && (bottom == 0 || f[1] < bottom) {
				bottom = f[1]
			}
		}
	}
	return top, bottom
}

// lines are the rounds of a contender, for each of the charts.
func (v *view) lines(label string) (labels []string, series [3][]chart.Series) {
	for _, s := range v.s.Run.Profile.Steps {
		labels = append(labels, short(s))
	}
	for _, leg := range v.s.Legs {
		if leg.Result.Leg.Label() != label || len(leg.Result.Steps) == 0 {
			continue
		}
		n := len(series[0])
		var points [3][]chart.Point
		for i := range leg.Result.Steps {
			r := &leg.Result.Steps[i]
			if r.Aborted != "" || r.Index < 0 || r.Index >= 1000 {
				continue
			}
			for len(labels) <= r.Index {
				labels = append(labels, itoa(len(labels)+1))
			}
			for c, y := range figures(r) {
				points[c] = append(points[c], chart.Point{X: float64(r.Index), Y: y})
			}
		}
		for c := range series {
			series[c] = append(series[c], chart.Series{Name: "round " + itoa(leg.Result.Leg.Round), Paint: v.l.Series[n%6], Mark: n % 6, Points: points[c]})
		}
	}
	return labels, series
}
