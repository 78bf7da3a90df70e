package app

import (
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/testenv"
)

// A resumed run has the engine on record, whatever the environment says now; an engine on record
// that is none, or does not apply, is refused.
func TestResumedRunHasItsEngine(t *testing.T) {
	p, err := PlannedProfile(RunOptions{Profile: "quick"})
	testenv.OK(t, err)
	resume := func(engine bench.Engine, targets ...bench.Target) (Plan, error) {
		dir := saved(t, bench.Run{Schema: bench.SchemaVersion, ID: "r", Profile: p, Engine: engine, Targets: targets,
			Trials: []bench.TrialEntry{benchtest.Entry("go-nethttp", 1, bench.TrialPending)}})
		return NewPlan(RunOptions{Resume: dir, Getenv: func(key string) string { return map[string]string{engineVariable: "vegeta"}[key] }})
	}
	for _, engine := range []bench.Engine{"", "vegeta"} {
		plan, err := resume(engine)
		testenv.OK(t, err)
		testenv.Equal(t, plan.Run.Engine, engine)
	}
	testenv.Fails(t, testenv.Err(resume("warp\x1b")), `is not a load engine (use auto, fast, vegeta)`)
	secure := bench.Target{Name: "go-nethttp", URL: "https://127.0.0.1:1"}
	testenv.Fails(t, testenv.Err(resume("fast", secure)), "load engine fast does not apply to this run: ")
}
