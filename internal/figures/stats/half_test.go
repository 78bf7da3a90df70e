package stats

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

func TestHalfPeak(t *testing.T) {
	at := func(conns int, perSecond int64) bench.StepResult {
		return bench.StepResult{Step: bench.Step{Connections: conns}, Load: bench.Load{Elapsed: time.Second, Succeeded: perSecond}}
	}
	warm := at(1, 500)
	warm.Step.WarmUp = true
	other := at(3, 501)
	other.Step.Request = "search"
	share := at(0, 480)
	share.Step = bench.Step{Rate: 500, PeakShare: 0.5}
	for _, c := range []struct {
		name  string
		steps []bench.StepResult
		want  int // index; -1: none
		share float64
	}{
		{"nothing", nil, -1, 0},
		{"no success", []bench.StepResult{at(1, 0)}, -1, 0},
		{"the peak alone", []bench.StepResult{at(1, 1000)}, 0, 1},
		{"nearest below the peak", []bench.StepResult{at(1, 100), at(2, 450), at(4, 1000), at(8, 510)}, 1, .45},
		{"neither a warm-up nor another request", []bench.StepResult{warm, at(1, 300), other, at(4, 1000)}, 1, .3},
		{"a step made for it", []bench.StepResult{at(1, 450), at(4, 1000), share}, 2, .5},
		{"nearest on a log scale", []bench.StepResult{at(1, 230), at(2, 900), at(4, 1000)}, 1, .9},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.steps {
				c.steps[i].Index = i
			}
			sums := Summarize(bench.Run{}, []bench.TrialResult{{Trial: bench.Trial{Contender: "a", Round: 1}, Steps: c.steps}})
			step, share, ok := sums[0].HalfPeak()
			if ok != (c.want >= 0) || ok && (step != c.want || share != c.share) {
				t.Errorf("%s: step %d, %g, %v; want %d, %g", c.name, step, share, ok, c.want, c.share)
			}
		})
	}
}
