package run

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/fold"
)

// span is the part of a trial that the charts show.
type span int

const (
	wholeTrial span = iota
	lastMinute
	oneStep
	ranged // picked by the user
	spans
)

func (o *Overview) nextSpan() {
	o.zoom.marked = false
	if o.span = (o.span + 1) % spans; o.span == ranged && o.picked.To <= o.picked.From {
		o.span = wholeTrial
	}
}

// unpick goes back to what every trial has.
func (o *Overview) unpick() {
	o.zoom, o.picked = zoom{}, chart.Axis{}
	if o.span == ranged {
		o.span = wholeTrial
	}
}

func (o *Overview) spanName() string {
	switch o.span {
	case lastMinute:
		return "last 60 s"
	case oneStep:
		if step := o.spanStep(); step != o.lastStep() {
			return numbered(step)
		}
		return "last step"
	case ranged:
		return clock(o.picked.From) + " to " + clock(o.picked.To)
	}
	return "whole trial"
}

func (o *Overview) lastStep() *fold.Step { return o.Trial.Steps[len(o.Trial.Steps)-1] }

// spanStep returns the step of span oneStep: the one under the cursor, else the last.
func (o *Overview) spanStep() *fold.Step {
	if o.zoom.pinned {
		if step := o.stepAt(o.zoom.at); step != nil {
			return step
		}
	}
	return o.lastStep()
}

func (o *Overview) stepAt(at float64) (found *fold.Step) {
	for _, s := range o.Trial.Steps {
		if s.From <= at {
			found = s
		}
	}
	return found
}

// leastSpan is the shortest time that is drawn, in seconds.
const leastSpan = 5.0

// axis returns the time axis of all charts, for w cells. It ends at the planned end of the running
// step, so it does not move with every point.
func (o *Overview) axis(w int) chart.Axis {
	trial, last := o.Trial, o.lastStep()
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
	switch o.span {
	case lastMinute:
		a.To = max(trial.Span(), leastSpan)
		a.From = max(0, a.To-60)
	case oneStep:
		step := o.spanStep()
		if a.From = step.From; step != last && step.To > step.From {
			a.To = step.To
		}
		a.To = max(a.To, a.From+leastSpan)
	case ranged:
		a.From, a.To = o.picked.From, o.picked.To
	}
	whole := named(trial, w, a)
	if !whole && !slices.ContainsFunc(trial.Steps, func(s *fold.Step) bool { return s.Step.Connections == 0 }) {
		a.Name = "conns"
	}
	for _, s := range trial.Steps {
		name := s.Step.Short()
		if whole {
			name = s.Step.Name
		}
		a.Bounds = append(a.Bounds, chart.Bound{X: s.From, Name: name})
	}
	for _, f := range trial.Flags {
		if f.T >= a.From && f.T <= a.To {
			a.Flags = append(a.Flags, chart.Flag{X: f.T, Name: f.Text})
		}
	}
	return a
}

// named reports whether the steps in sight have room for their whole names.
func named(t *fold.Trial, w int, a chart.Axis) bool {
	per := float64(max(1, w-chart.Gutter)) / (a.To - a.From)
	for i, s := range t.Steps {
		end := a.To
		if i+1 < len(t.Steps) {
			end = t.Steps[i+1].From
		}
		if end > a.From && (end-max(a.From, s.From))*per < float64(min(len(s.Step.Name), 24)+3) {
			return false
		}
	}
	return true
}

// mostRounds is how many earlier rounds are drawn as lines.
const mostRounds = 5

// earlier returns the earlier rounds of the contender as faint lines, or of more of them the range.
// Each of their steps begins where the same step of the shown trial does.
func (o *Overview) earlier(m metric) (all []chart.Series) {
	me := o.Trial.Result.Trial
	name := ""
	for _, trial := range o.State.Trials {
		if t := trial.Result.Trial; t.Label() == me.Label() && t.Round < me.Round && len(trial.Load) > 0 {
			name = fmt.Sprintf("round %d", t.Round)
			all = append(all, chart.Series{Paint: o.theme.Faint, Mark: 4, Points: o.moved(m, trial)})
		}
	}
	if n := len(all); n > mostRounds {
		all = []chart.Series{{Paint: o.theme.Faint, Area: true, Points: o.ranges(all)}}
		name = fmt.Sprintf("range of %d earlier rounds", n)
	} else if n > 1 {
		name = fmt.Sprintf("%d earlier rounds", n)
	}
	if len(all) > 0 {
		if all[0].Name = name; m == latency {
			all[0].Name = "p99, " + name
		}
	}
	return all
}

// ranges returns the lowest and the highest point of lines in each second of each step.
func (o *Overview) ranges(lines []chart.Series) (out []chart.Point) {
	lowest, highest := map[float64]float64{}, map[float64]float64{}
	for _, line := range lines {
		for _, p := range line.Points {
			step := o.stepAt(p.X)
			if step == nil || math.IsNaN(p.Y) {
				continue
			}
			second := step.From + math.Floor(p.X-step.From) + .5
			if lo, ok := lowest[second]; !ok {
				lowest[second], highest[second] = p.Y, p.Y
			} else {
				lowest[second], highest[second] = min(lo, p.Y), max(highest[second], p.Y)
			}
		}
	}
	last := math.Inf(1)
	for _, second := range slices.Sorted(maps.Keys(lowest)) {
		if second-last > 3 {
			out = append(out, chart.Point{X: second, Y: math.NaN()})
		}
		out = append(out, chart.Point{X: second, Y: lowest[second]}, chart.Point{X: second, Y: highest[second]})
		last = second
	}
	return out
}

// moved returns the course of an earlier trial on the time axis of the shown one; steps that it does
// not have are left out.
func (o *Overview) moved(m metric, trial *fold.Trial) (out []chart.Point) {
	shift := make([]float64, len(trial.Steps))
	for i, s := range trial.Steps {
		shift[i] = math.NaN()
		if i < len(o.Trial.Steps) {
			if mine := o.Trial.Steps[i]; mine.Step.Name == s.Step.Name && mine.Step.Duration == s.Step.Duration {
				shift[i] = mine.From - s.From
			}
		}
	}
	at := 0
	for _, p := range mainCurve[m].points(trial, always) {
		for at+1 < len(trial.Steps) && p.X >= trial.Steps[at+1].From {
			at++
		}
		if at < len(shift) && !math.IsNaN(shift[at]) {
			out = append(out, chart.Point{X: p.X + shift[at], Y: p.Y})
		}
	}
	return out
}

// clock returns a moment of a trial's time axis: "1:05", "1:05.5".
func clock(s float64) string {
	places := 0
	if math.Mod(math.Round(s*10), 10) != 0 {
		places = 1
	}
	return chart.Minutes(s, places)
}
