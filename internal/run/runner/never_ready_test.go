package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locbench/internal/bench"
)

// A contender that runs and never answers in its first life is not waited for again in each round,
// unless that is asked for. One that dies, that has answered before, or to which something was done
// from outside is.
func TestAContenderThatNeverRespondsIsTriedOnce(t *testing.T) {
	type response = func(f *fakeRun, inst bench.Instance, life int) error
	silent := errors.New("not ready after 1m0s: last response of GET /: connection refused")
	for name, c := range map[string]struct {
		response      response
		retryNotReady bool
		lives         int // of a
		failed        int // trials of a
	}{
		"never":             {func(*fakeRun, bench.Instance, int) error { return silent }, false, 1, 3},
		"never, asked for":  {func(*fakeRun, bench.Instance, int) error { return silent }, true, 3, 3},
		"not in its second": {func(_ *fakeRun, _ bench.Instance, life int) error { return map[int]error{2: silent}[life] }, false, 3, 1},
		"it dies": {func(_ *fakeRun, i bench.Instance, _ int) error {
			i.(*fakeInstance).die(bench.Exit{Code: 3})
			return silent
		}, false, 3, 3},
		"harmed from outside": {func(f *fakeRun, i bench.Instance, _ int) error {
			f.harm(bench.Incident{Kind: bench.IncidentPaused, Text: "paused from outside"})
			return silent
		}, false, 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lives := 0
				f, err := start(t, t.Context(), func(f *fakeRun) {
					f.cfg.Run.Profile.Rounds = 3
					f.cfg.Run.Trials = Order(f.cfg.Run.Profile.Contenders, 3, 42)
					f.cfg.RetryNotReady = c.retryNotReady
					f.cfg.Launcher = launching(func(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
						f.harm = spec.OnIncident
						return f.launcher.Launch(ctx, spec)
					})
					f.cfg.Ready = func(_ context.Context, inst bench.Instance, svc bench.Service, _ func(level, text string)) (bench.InstanceReady, error) {
						if svc.Name != "a" {
							return bench.InstanceReady{StartUp: time.Millisecond}, nil
						}
						lives++
						return bench.InstanceReady{StartUp: time.Millisecond}, c.response(f, inst, lives)
					}
				})
				if !errors.Is(err, ErrTrials) {
					t.Errorf("%v", err)
				}
				failed := 0
				for round := 1; round <= 3; round++ {
					if trial := f.trials[fmt.Sprintf("a-%d", round)]; trial.State == bench.TrialFailed {
						failed++
						if round > 1 && c.lives == 1 && !strings.Contains(trial.Failure, "not tried: it never became ready in round 1 (--retry-not-ready") {
							t.Errorf("round %d: %s", round, trial.Failure)
						}
					}
					if trial := f.trials[fmt.Sprintf("b-%d", round)]; trial.State != bench.TrialComplete {
						t.Errorf("b, round %d: %s", round, trial.Failure)
					}
				}
				if state := f.ended().State; state != bench.RunComplete {
					t.Errorf("the run is %s", state)
				}
				if lives != c.lives || failed != c.failed {
					t.Errorf("%d lives and %d failures, want %d and %d", lives, failed, c.lives, c.failed)
				}
			})
		})
	}
}

// What has answered in an earlier part of a run is known to be able to.
func TestAContenderThatRespondedBeforeResumeIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lives := 0
		_, err := start(t, t.Context(), func(f *fakeRun) {
			f.cfg.Run.Profile.Contenders = f.cfg.Run.Profile.Contenders[:1]
			f.cfg.Run.Trials = Order(f.cfg.Run.Profile.Contenders, 3, 42)
			f.cfg.Run.Trials[0].State = bench.TrialComplete
			f.cfg.Ready = func(context.Context, bench.Instance, bench.Service, func(level, text string)) (bench.InstanceReady, error) {
				lives++
				return bench.InstanceReady{}, errors.New("not ready after 1m0s")
			}
		})
		if lives != 2 || !errors.Is(err, ErrTrials) {
			t.Errorf("%d lives, %v", lives, err)
		}
	})
}

// A service that somebody else has started is neither built nor stopped, and no limit of it is
// reported.
func TestATargetIsNobodysToStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := start(t, t.Context(), func(f *fakeRun) {
			f.cfg.Run.Profile.Contenders = f.cfg.Run.Profile.Contenders[:1]
			f.cfg.Run.Trials = Order(f.cfg.Run.Profile.Contenders, 1, 42)
			f.cfg.Run.Profile.Runtime = bench.RuntimeURL
			f.cfg.Checks = noChecks{}
			f.cfg.Launcher = launching(func(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
				inst, err := f.launcher.Launch(ctx, spec)
				inst.(*fakeInstance).info = bench.InstanceInfo{Runtime: bench.RuntimeURL}
				return inst, err
			})
			f.cfg.Ready = func(context.Context, bench.Instance, bench.Service, func(level, text string)) (bench.InstanceReady, error) {
				return bench.InstanceReady{}, nil
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		trial := f.trials["a-1"]
		if trial.StartUp != nil || trial.Stop != nil || len(trial.Warnings) > 0 || len(trial.Steps) != 3 || len(f.phases("")) != 1 {
			t.Errorf("start-up %v, stop %v, warnings %q, %d steps, phases of the run %v", trial.StartUp, trial.Stop, trial.Warnings, len(trial.Steps), f.phases(""))
		}
	})
}

type launching func(context.Context, bench.LaunchSpec) (bench.Instance, error)

func (l launching) Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	return l(ctx, spec)
}

// noChecks has none, as a target has.
type noChecks struct{ fakeChecks }

func (noChecks) Launching(context.Context, Launcher, bench.LaunchSpec, bench.Service, func(bench.CheckResult)) error {
	return nil
}
