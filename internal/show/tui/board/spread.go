package board

import (
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/chart"
	"github.com/locbench/locbench/internal/show/tui/fold"
)

// The lines of a distribution of latencies, at least and usually.
const leastSpread, spreadHeight = 1 + chart.LeastHistogram, 13

// spread is the decoded histogram of the step that was shown last: decoding takes milliseconds.
type spread struct {
	of *bench.StepResult
	chart.Histogram
}

func (v *view) hasSpread(s *fold.Step) bool {
	if kept := &v.b.spread; s.Result != nil && kept.of != s.Result {
		*kept = spread{s.Result, chart.NewHistogram(s.Result.Load.Latency)}
	}
	return s.Result != nil && !v.b.spread.Empty()
}

// distribution draws the latencies of a finished step that has them, in h lines of w cells.
func (v *view) distribution(s *fold.Step, w, h int) []string {
	l := s.Result.Load
	head := v.l.Title.S("latencies") + "  " + v.numbered(s)
	if l.Origin() == bench.FromScheduled {
		head += ", from scheduled time"
	}
	head = v.justify(w, head, v.l.Faint.S("bars: share of "+units.Count(l.Latency.Count)), "")
	return append([]string{head}, v.b.spread.Draw(v.l.Theme, w, h-1)...)
}
