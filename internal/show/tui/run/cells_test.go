package run

import (
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/testenv"
)

// First responses have a column if those of any step of the trial took a second.
func TestMeasures_FirstResponses(t *testing.T) {
	for first, want := range map[time.Duration]bool{time.Second - 1: false, time.Second: true} {
		trial := &fold.Trial{}
		trial.Result.Steps = []bench.StepResult{{}, {Load: bench.Load{FirstResponse: first}}}
		is := func(m measure.Shown) bool { return m.ID == measure.First }
		testenv.Equal(t, slices.ContainsFunc(measures(measure.ScreenSteps, trial), is), want, first)
	}
}
