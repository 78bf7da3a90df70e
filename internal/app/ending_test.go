package app

import (
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// A contender that had no success is a failure, before missed thresholds; so is an excluded one.
func TestEnding(t *testing.T) {
	late := func(s *bench.StepResult) {
		s.Load.Sent, s.Load.Lead, s.Load.Drain, s.Load.FirstResponse = 2, 1, 1, 15*time.Second
	}
	missed := func(s *bench.StepResult) { s.Thresholds = []bench.ThresholdResult{{Condition: "p99<50ms"}} }
	trial := func(label string, successes int64, changes ...func(*bench.StepResult)) bench.TrialResult {
		return benchtest.Trial(label, 1, benchtest.Step(successes, changes...))
	}
	refused := benchtest.Errors(bench.ErrRefused, 9)
	const longer = "no request ended within the step: give steps of at least 1m"
	for _, c := range []struct {
		name   string
		trials []bench.TrialResult
		code   int
		text   string
	}{
		{"responds", []bench.TrialResult{trial("a", 9)}, console.ExitOK, ""},
		{"a missed threshold", []bench.TrialResult{trial("a", 9, missed)}, console.ExitThreshold, "thresholds missed: 1"},
		{"has no success", []bench.TrialResult{trial("a", 9), trial("b:lto", 0, late)}, console.ExitContender, "b:lto: " + longer},
		{"has no success, and misses a threshold", []bench.TrialResult{trial("a", 0, late, missed)}, console.ExitContender, "a: " + longer},
		{"two have no success", []bench.TrialResult{trial("a", 0, late), trial("b", 0)}, console.ExitContender,
			"a: " + longer + "; b: no request was sent in the step"},
		{"each request failed", []bench.TrialResult{trial("a", 0, refused)}, console.ExitContender,
			"a failed every request; first: connection refused: excluded from comparison"},
		{"one each", []bench.TrialResult{trial("a", 0, refused), trial("b", 0, late)}, console.ExitContender,
			"a failed every request; first: connection refused: excluded from comparison\nb: " + longer},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := benchtest.Run(c.trials...)
			for i, trial := range c.trials {
				run.Trials[i].Excluded = run.ExclusionOf(trial)
			}
			err := endingOf(analysis.Of(run, slices.Clone(c.trials))).err()
			testenv.Equal(t, console.ExitCode(t.Context(), err), c.code)
			if err != nil {
				testenv.Equal(t, err.Error(), c.text)
			}
		})
	}
}
