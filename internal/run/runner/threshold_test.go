package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// failing is an engine with errors from step two on.
type failing struct{}

func (failing) Rest(Place) {}

func (failing) Run(_ context.Context, _ Place, step bench.Step, hooks Hooks) (bench.Load, error) {
	hooks.OnStart()
	defer hooks.OnEnd()
	load := bench.Load{Succeeded: 100, Elapsed: time.Second, Failed: map[bench.ErrorKind]int64{}}
	if step.Name != "one" {
		load.Failed["5xx"] = 50
	}
	return load, nil
}

func TestThresholds(t *testing.T) {
	for _, c := range []struct {
		name      string
		threshold bench.Threshold
		trials    int // trials started
		state     bench.TrialState
		steps     int // of the first trial
		run       bench.RunState
		stopped   bench.Scope
		failed    bool
	}{
		{"nothing stops", bench.Threshold{Condition: "errors<10%"}, 4, bench.TrialComplete, 3, bench.RunComplete, "", false},
		{"the trial", bench.Threshold{Condition: "errors<10%", Stop: bench.ScopeTrial}, 4, bench.TrialAborted, 2, bench.RunFailed, bench.ScopeTrial, true},
		{"the run", bench.Threshold{Condition: "errors<10%", Stop: bench.ScopeRun}, 1, bench.TrialAborted, 2, bench.RunFailed, bench.ScopeRun, true},
		{"only from the third step on", bench.Threshold{Condition: "errors<10%", Stop: bench.ScopeTrial, FromStep: 3}, 4, bench.TrialComplete, 3, bench.RunComplete, "", false},
		{"a passed threshold stops nothing", bench.Threshold{Condition: "errors<50%", Stop: bench.ScopeRun}, 4, bench.TrialComplete, 3, bench.RunComplete, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, err := start(t, context.Background(), func(f *fakeRun) {
					f.cfg.Engine = failing{}
					f.cfg.Run.Profile.Thresholds = []bench.Threshold{c.threshold}
				})
				if c.failed != errors.Is(err, ErrThreshold) || errors.Is(err, ErrTrials) {
					t.Errorf("error %v", err)
				}
				first := f.trials[f.order[0]]
				if len(f.order) != c.trials || first.State != c.state || len(first.Steps) != c.steps || f.ended().State != c.run {
					t.Fatalf("%d trials; %s after %d steps (%s); run %s", len(f.order), first.State, len(first.Steps), first.Failure, f.ended().State)
				}
				two := first.Steps[1]
				if (len(two.Thresholds) > 0) != (c.threshold.FromStep < 3) {
					t.Fatalf("results: %+v", two.Thresholds)
				}
				for _, j := range two.Thresholds {
					if j.Stopped != c.stopped || j.Passed != (c.threshold.Condition == "errors<50%") || j.Value == nil || *j.Value < .33 || *j.Value > .34 {
						t.Errorf("result: %+v", j)
					}
				}
			})
		})
	}
}

// A threshold that stops the run at the last step of a trial leaves that trial complete.
func TestThresholdAtTheEndOfATrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Engine = failing{}
			f.cfg.Run.Profile.Thresholds = []bench.Threshold{{Condition: "errors<10%", Stop: bench.ScopeRun, FromStep: 3}}
		})
		if !errors.Is(err, ErrThreshold) || len(f.order) != 1 {
			t.Fatalf("%d trials, %v", len(f.order), err)
		}
		trial := f.trials[f.order[0]]
		if trial.State != bench.TrialComplete || trial.Steps[2].Thresholds[0].Stopped != bench.ScopeRun {
			t.Errorf("%s, %+v", trial.State, trial.Steps[2].Thresholds)
		}
	})
}

// The exit code of a failed contender takes precedence over that of missed thresholds.
func TestFailureIsWorseThanThreshold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Engine = failing{}
			f.cfg.Run.Profile.Thresholds = []bench.Threshold{{Condition: "errors<10%", Stop: bench.ScopeTrial}}
			f.cfg.Build = func(_ context.Context, svc bench.Service, _ func(string)) (bench.Artifact, error) {
				if svc.Name == "b" {
					return bench.Artifact{}, errors.New("no compiler")
				}
				return bench.Artifact{}, nil
			}
		})
		if !errors.Is(err, ErrTrials) || !errors.Is(err, ErrThreshold) {
			t.Errorf("error %v", err)
		}
	})
}

// A contender that exits after the missed threshold has failed, and the failure names both.
func TestFailureNamesTheExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Engine = failing{}
			f.cfg.Run.Profile.Thresholds = []bench.Threshold{{Condition: "errors<10%", Stop: bench.ScopeTrial}}
			f.cfg.SetUp = func(context.Context, Place) error { return nil }
			f.cfg.TearDown = func(context.Context, Place) error {
				f.launcher.last().die(bench.Exit{Code: 7})
				return nil
			}
		})
		trial := f.trials[f.order[0]]
		if want := "; the contender died: exit code 7: java.lang.OutOfMemoryError"; trial.State != bench.TrialFailed || !strings.HasSuffix(trial.Failure, want) ||
			!strings.HasPrefix(trial.Failure, "threshold missed") || strings.Count(trial.Failure, "died") != 1 {
			t.Errorf("%s: %q", trial.State, trial.Failure)
		}
	})
}
