package app

import (
	"path/filepath"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
)

// A resumed run has the engine on record, whatever the environment says now; an engine on record
// that is none, or does not apply, is refused.
func TestResumedRunHasItsEngine(t *testing.T) {
	p, err := PlannedProfile(RunOptions{Profile: "quick"})
	testenv.OK(t, err)
	trial := bench.Trial{Contender: "go-nethttp", Round: 1}
	resume := func(engine bench.Engine, targets ...bench.Target) (Plan, error) {
		dir := t.TempDir()
		run := bench.Run{
			Schema: bench.SchemaVersion, ID: "r", State: bench.RunInterrupted, Profile: p, Engine: engine, Targets: targets,
			Trials: []bench.TrialEntry{{Trial: trial, State: bench.TrialPending, File: "go-nethttp-1.json"}},
		}
		testenv.OK(t, results.WriteJSON(filepath.Join(dir, results.RunFile), run))
		return NewPlan(RunOptions{Resume: dir, Getenv: func(key string) string {
			if key == engineVariable {
				return "vegeta"
			}
			return ""
		}})
	}
	for _, engine := range []bench.Engine{"", "vegeta"} {
		if plan, err := resume(engine); err != nil || plan.Run.Engine != engine {
			t.Errorf("%q on record: %q, %v", engine, plan.Run.Engine, err)
		}
	}
	testenv.Fails(t, testenv.Err(resume("warp\x1b")), `is not a load engine (use auto, fast, vegeta)`)
	secure := bench.Target{Name: "go-nethttp", URL: "https://127.0.0.1:1"}
	testenv.Fails(t, testenv.Err(resume("fast", secure)), "load engine fast does not apply to this run: ")
}
