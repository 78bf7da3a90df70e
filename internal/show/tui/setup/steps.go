package setup

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

// heights returns the loads of the steps on a log scale, from 0 to 1.
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

// stepBars returns a bar for each step, in at most n lines of w cells; a repeated step is one line.
func stepBars(l *ui.Look, steps []bench.Step, w, n int) (out []string) {
	type bar struct {
		name   string
		height float64
		took   time.Duration
		times  int
	}
	var all []bar
	h, wide := heights(steps), 0
	for i, step := range steps {
		if i > 0 && step == steps[i-1] {
			all[len(all)-1].times++
			continue
		}
		all = append(all, bar{l.Outside(step.Title(), 70), h[i], step.Duration, 1})
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
		cells := max(1, int(r.height*float64(max(1, w-wide-14))))
		line := l.Right(r.name, wide) + " " + l.Series[0].S(strings.Repeat(l.Glyph.Full, cells))
		out = append(out, l.Fit(line, w-12)+" "+l.Faint.S(l.Right(l.ASCIIOnly(took), 11)))
	}
	return out
}
