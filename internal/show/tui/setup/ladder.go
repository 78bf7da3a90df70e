package setup

import (
	"fmt"
	"math"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/show/tui/ui"
)

// heights of the rungs of a ladder, from 0 to 1, on a log scale.
func heights(steps []bench.Step) []float64 {
	load := func(step bench.Step) float64 {
		switch {
		case step.Connections > 0:
			return float64(step.Connections)
		case step.Arrivals != nil:
			return float64(step.Arrivals.Users)
		}
		return max(step.Rate, step.RampTo, 1)
	}
	top := 2.0
	for _, step := range steps {
		top = max(top, load(step))
	}
	out := make([]float64, len(steps))
	for i, step := range steps {
		out[i] = 0.08 + 0.92*math.Log2(load(step))/math.Log2(top)
	}
	return out
}

// spark returns the ladder as blocks, where there is room for a note of more than 55 cells.
func spark(l *ui.Look, steps []bench.Step, room int) string {
	if room <= 55 {
		return ""
	}
	return " " + l.Spark(heights(steps), min(16, len(steps)), 1.01, l.Series[0])
}

// rungs returns the ladder with a bar for each step, at most n lines of w cells; a step that is repeated
// is one line.
func rungs(l *ui.Look, steps []bench.Step, w, n int) (out []string) {
	type rung struct {
		name   string
		height float64
		took   time.Duration
		times  int
	}
	var all []rung
	h, wide := heights(steps), 0
	for i, step := range steps {
		if i > 0 && step == steps[i-1] {
			all[len(all)-1].times++
			continue
		}
		all = append(all, rung{l.Outside(step.Title(), 70), h[i], step.Duration, 1})
		wide = max(wide, ui.Width(all[len(all)-1].name))
	}
	wide = min(wide, w/2)
	for i, r := range all {
		if len(out) == n-1 && len(all) > n {
			return append(out, l.Faint.S(l.ASCIIOnly(fmt.Sprintf("… and %d more", len(all)-i))))
		}
		took := units.Length(r.took)
		if r.times > 1 {
			took = fmt.Sprintf("%d × %s", r.times, took)
		}
		bar := max(1, int(r.height*float64(max(1, w-wide-14))))
		line := l.Right(r.name, wide) + " " + l.Series[0].S(strings.Repeat(l.Glyph.Full, bar))
		out = append(out, l.Fit(line, w-12)+" "+l.Faint.S(l.Right(l.ASCIIOnly(took), 11)))
	}
	return out
}
