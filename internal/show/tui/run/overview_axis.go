package run

import (
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
	spans
)

func (o *Overview) spanName() string {
	switch o.span {
	case lastMinute:
		return "last 60 s"
	case oneStep:
		return "last step"
	}
	return "whole trial"
}

func (o *Overview) lastStep() *fold.Step { return o.Trial.Steps[len(o.Trial.Steps)-1] }

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
		a.From = last.From
		a.To = max(a.To, a.From+leastSpan)
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
