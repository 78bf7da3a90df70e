package setup

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/tui/look"
	"locbench/internal/units"
)

// ladder writes steps in the short form that --connections reads: "1 x5 warm-up, 2..2048 doubling".
// A step of its own length says so, unless all are alike.
func ladder(steps []bench.Step) string {
	common := true
	for _, step := range steps {
		common = common && step.Duration == steps[0].Duration
	}
	last := bench.Step{}
	if len(steps) > 0 {
		last = steps[len(steps)-1]
	}
	var out []string
	for i := 0; i < len(steps); {
		step := steps[i]
		if step.Connections == 0 {
			out = append(out, step.Name)
			i++
			continue
		}
		same, doubling := 1, 1
		for i+same < len(steps) && alike(step, steps[i+same]) && steps[i+same].Connections == step.Connections {
			same++
		}
		for i+doubling < len(steps) && alike(step, steps[i+doubling]) && steps[i+doubling].Connections == 2*steps[i+doubling-1].Connections {
			doubling++
		}
		item := strconv.Itoa(step.Connections)
		switch {
		case same > 1:
			item += " x" + strconv.Itoa(same)
			i += same
		case doubling > 2:
			item += ".." + strconv.Itoa(steps[i+doubling-1].Connections) + " doubling"
			i += doubling
		default:
			i++
		}
		if step.WarmUp {
			item += " warm-up"
		}
		if !common && step.Duration != last.Duration {
			item += " for " + short(step.Duration)
		}
		out = append(out, item)
	}
	return strings.Join(out, ", ")
}

func alike(a, b bench.Step) bool {
	return b.Connections > 0 && a.WarmUp == b.WarmUp && a.Duration == b.Duration
}

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

// spark is the ladder in one line.
func spark(l *look.Look, steps []bench.Step, w int) string {
	if len(steps) == 0 || w < 3 {
		return ""
	}
	h := heights(steps)
	if len(h) > w {
		h = h[len(h)-w:]
	}
	return l.Spark(h, len(h), 1.01, l.Series[0])
}

// rungs is the ladder with a bar for each step, at most n lines of w cells; a step that is repeated
// is one line.
func rungs(l *look.Look, steps []bench.Step, w, n int) (out []string) {
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
		all = append(all, rung{l.ASCIIOnly(look.Outside(step.Title(), 70)), h[i], step.Duration, 1})
		wide = max(wide, look.Width(all[len(all)-1].name))
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
		out = append(out, l.Fit(l.Right(r.name, wide)+" "+l.Series[0].S(strings.Repeat(l.Glyph.Full, bar)), w-12)+" "+l.Faint.S(l.Right(l.ASCIIOnly(took), 11)))
	}
	return out
}
