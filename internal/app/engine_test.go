package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

// pairsOf returns the plan of pairs of steps for a profile with these lines.
func pairsOf(t *testing.T, lines string, pairs int, changes profile.Changes) (Plan, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p.yaml")
	testenv.OK(t, os.WriteFile(file, []byte("requests: [{get: /x}]\n"+lines), 0o600))
	return NewPlan(RunOptions{Profile: file, ProfileNamed: true, EnginePairs: pairs, Changes: changes.With("target", "http://127.0.0.1:1")})
}

// Each measured step is pairs of steps with equal load, one with each engine; the first one
// alternates, and warm-ups stay what they are.
func TestEnginePairs(t *testing.T) {
	if err := load.FastApplies(false, false); err != nil {
		t.Skip(err)
	}
	const steps = "rounds: 5\nsteps: [1 warm-up for 7s, 2 for 500ms, {rate: 100, duration: 9s}]\n"
	plan, err := pairsOf(t, steps, 3, nil)
	testenv.OK(t, err)
	var got []string
	for _, s := range plan.Run.Profile.Steps {
		got = append(got, s.Title()+" "+s.Duration.String())
	}
	want := []string{"1 connection (warm-up) 7s"}
	for _, name := range []string{"2 connections, %s 500ms", "100/s, %s 1s"} {
		for _, e := range []string{"fast", "vegeta", "vegeta", "fast", "fast", "vegeta"} {
			want = append(want, strings.ReplaceAll(name, "%s", e))
		}
	}
	if !slices.Equal(got, want) || len(plan.Run.Trials) != 1 || !plan.Run.ComparesEngines() {
		t.Errorf("%d trials, %q, want %q", len(plan.Run.Trials), got, want)
	}
	plan, err = pairsOf(t, steps, 3, profile.Changes{"duration": {"4s"}})
	if err != nil || plan.Run.Profile.Steps[1].Duration != 4*time.Second {
		t.Errorf("a chosen duration: %v, %v", plan.Run.Profile.Steps, err)
	}
	for lines, want := range map[string]string{
		"steps: [1..11 by 1]\n": "1100 steps, 18m20s of load: at most 1000 steps and 1h",
	} {
		testenv.Fails(t, testenv.Err(pairsOf(t, lines, MostEnginePairs, nil)), want)
	}
	if _, err := pairsOf(t, "steps: [1]\n", MostEnginePairs, profile.Changes{"duration": {"5m"}}); err == nil || !strings.Contains(err.Error(), "100 steps, 8h") {
		t.Errorf("eight hours of load: %v", err)
	}
}

// The engines are compared on one contender.
func TestEnginePairsNeedOneContender(t *testing.T) {
	_, err := NewPlan(RunOptions{Profile: "quick", EnginePairs: 8, Changes: profile.Changes{"target": {"a=http://127.0.0.1:1", "b=http://127.0.0.1:2"}}})
	testenv.Fails(t, err, "compared on one contender")
}

// The loader uses the engine of the step, else that of the run.
func TestEngineOfAStep(t *testing.T) {
	for _, c := range []struct{ run, step, want bench.Engine }{
		{"", "", ""}, {"vegeta", "", "vegeta"}, {"", "vegeta", "vegeta"}, {"epoll", "fast", "fast"},
	} {
		l := &site{plan: Plan{Run: bench.Run{Engine: c.run}}, env: noEnv}
		testenv.OK(t, l.readRequests())
		testenv.Equal(t, l.engineOf(bench.Step{Engine: c.step}).Name, c.want, c.run, c.step)
	}
}

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
