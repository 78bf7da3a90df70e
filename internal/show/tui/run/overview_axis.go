package run

import (
	"slices"

	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/fold"
)

// leastSpan is the shortest time that is drawn, in seconds.
const leastSpan = 5.0

// axis returns the time axis of all charts, for w cells. It ends at the planned end of the running
// step, so it does not move with every point.
func (o *Overview) axis(w int) chart.Axis {
	trial, last := o.Trial, o.Trial.Steps[len(o.Trial.Steps)-1]
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
		a.Flags = append(a.Flags, chart.Flag{X: f.T, Name: f.Text})
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
