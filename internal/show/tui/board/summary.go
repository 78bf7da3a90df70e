package board

import (
	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/show/tui/fold"
)

// sums keeps the summary of the contenders until a step, trial or check changes it.
type sums struct {
	state *fold.State
	done  [4]int
	list  []stats.Contender
}

// summary returns the results of the contenders so far; of the latencies, only those at peak.
func (v *view) summary() []stats.Contender {
	var done [4]int
	for _, trial := range v.s.Trials {
		done[0] += len(trial.Result.Steps)
		if len(trial.Result.Checks) > 0 {
			_, failed, _ := trial.Checks()
			done[1] += 1 + failed
		}
		done[2] += len(trial.Result.State)
		if trial.Result.StartUp != nil {
			done[3]++
		}
	}
	if v.b.sums.list == nil || v.b.sums.state != v.s || v.b.sums.done != done {
		v.b.sums = sums{v.s, done, nil}
		for _, c := range analysis.SoFar(v.s.Run, v.s.Results()).Contenders {
			v.b.sums.list = append(v.b.sums.list, c.Contender)
		}
	}
	return v.b.sums.list
}
