package board

import (
	"math"
	"slices"

	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/fold"
)

// span is the stretch of time that the charts show.
type span int

const (
	wholeTrial span = iota
	lastMinute
	oneStep
	ranged // picked by the user
	spans
)

func (v *view) spanName() string {
	if v.b.span == ranged {
		return clock(v.b.picked.from) + " to " + clock(v.b.picked.to)
	}
	if v.b.span == oneStep {
		if st := v.spanStep(); st != v.last() {
			return v.numbered(st)
		}
	}
	return [...]string{"whole trial", "last 60 s", "last step"}[v.b.span]
}

// last returns the newest step of the trial, which must have one.
func (v *view) last() *fold.Step { return v.trial.Steps[len(v.trial.Steps)-1] }

// spanStep returns the step for span oneStep: the one under the cursor, else the last.
func (v *view) spanStep() *fold.Step {
	if v.b.zoomed && v.b.pinned {
		if st := v.stepAt(v.b.cursor); st != nil {
			return st
		}
	}
	return v.last()
}

// leastSpan is the shortest time that is drawn, in seconds.
const leastSpan = 5.0

// axis returns the time axis of all charts, for w cells. It ends at the planned end of the running
// step, so it does not move with every point.
func (v *view) axis(w int) chart.Axis {
	trial, last := v.trial, v.last()
	end := trial.Span()
	if last.Running() {
		if planned := last.From + last.Step.Duration.Seconds(); planned < 48*3600 {
			end = max(end, planned)
		}
	}
	if n := len(trial.Flags); n > 0 {
		end = max(end, trial.Flags[n-1].T)
	}
	a := chart.Axis{From: 0, To: max(end, leastSpan), Gutter: chart.Gutter}
	switch v.b.span {
	case lastMinute:
		a.To = max(trial.Span(), leastSpan)
		a.From = max(0, a.To-60)
	case oneStep:
		st := v.spanStep()
		if a.From = st.From; st != last && st.To > st.From {
			a.To = st.To
		}
		a.To = max(a.To, a.From+leastSpan)
	case ranged:
		a.From, a.To = v.b.picked.from, v.b.picked.to
	}
	v.full = v.named(w, a)
	for _, s := range trial.Steps {
		a.Bounds = append(a.Bounds, chart.Bound{X: s.From, Name: s.Step.Short()})
		if v.full {
			a.Bounds[len(a.Bounds)-1].Name = s.Step.Name
		}
	}
	for _, f := range trial.Flags {
		if f.T >= a.From && f.T <= a.To {
			a.Flags = append(a.Flags, chart.Flag{X: f.T, Name: f.Text})
		}
	}
	return a
}

// named reports whether the steps in sight have room for their full names.
func (v *view) named(w int, a chart.Axis) bool {
	per := float64(max(1, w-chart.Gutter)) / (a.To - a.From)
	for i, s := range v.trial.Steps {
		end := a.To
		if i+1 < len(v.trial.Steps) {
			end = v.trial.Steps[i+1].From
		}
		if end > a.From && (end-max(a.From, s.From))*per < float64(min(len(s.Step.Name), 24)+2) {
			return false
		}
	}
	return true
}

// axisLines draws the axis. Where steps are named by a number only, the gutter names its unit.
func (v *view) axisLines(a chart.Axis, w int) []string {
	lines := a.Draw(v.l.Theme, w)
	rates := slices.ContainsFunc(v.trial.Steps, func(s *fold.Step) bool { return s.Step.Connections == 0 })
	if w-chart.Gutter >= 12 && !v.full && !rates {
		lines[1] = v.l.Splice(lines[1], v.l.Faint.S("    conns "), 0, 10, w)
	}
	return lines
}

// earlier returns earlier rounds of the contender as faint lines. Each of their steps begins where
// the same step of the shown trial does.
func (v *view) earlier(m metric, a chart.Axis) []chart.Series {
	var out []chart.Series
	for _, trial := range v.rounds() {
		name := "round " + itoa(trial.Result.Trial.Round)
		if m == latency {
			name = "p99 of " + name
		}
		points := moved(course(m, trial), trial, v.shifts(trial))
		out = append(out, chart.Series{Name: name, Paint: v.l.Faint, Mark: 4, Points: points})
	}
	return out
}

// rounds returns the newest three earlier trials of the shown contender.
func (v *view) rounds() []*fold.Trial {
	var out []*fold.Trial
	me := v.trial.Result.Trial
	for _, trial := range v.s.Trials {
		l := trial.Result.Trial
		if l.Contender == me.Contender && l.Variant == me.Variant && l.Round < me.Round && len(trial.Load) > 0 {
			out = append(out, trial)
		}
	}
	return out[max(0, len(out)-3):]
}

// shifts returns, for each step of an earlier trial, how many seconds later the same step of the
// shown trial began; NaN if the shown trial does not have it.
func (v *view) shifts(trial *fold.Trial) []float64 {
	out := make([]float64, len(trial.Steps))
	for i, s := range trial.Steps {
		out[i] = math.NaN()
		if i >= len(v.trial.Steps) {
			continue
		}
		if mine := v.trial.Steps[i]; mine.Step.Name == s.Step.Name && mine.Step.Duration == s.Step.Duration {
			out[i] = mine.From - s.From
		}
	}
	return out
}

// moved shifts each point by the shift of its step.
func moved(points []chart.Point, trial *fold.Trial, shift []float64) []chart.Point {
	var out []chart.Point
	at := 0
	for _, p := range points {
		for at+1 < len(trial.Steps) && p.X >= trial.Steps[at+1].From {
			at++
		}
		if at < len(shift) && !math.IsNaN(shift[at]) {
			out = append(out, chart.Point{X: p.X + shift[at], Y: p.Y})
		}
	}
	return out
}
