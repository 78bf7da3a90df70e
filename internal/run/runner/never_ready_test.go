package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// A contender that runs and never responds in its first round is not started again in later ones,
// unless the user requests it. One that exits, has responded before, or had an incident is.
func TestContenderThatNeverRespondsIsTriedOnce(t *testing.T) {
	type response = func(f *fakeRun, inst bench.Instance, launch int) error
	silent := errors.New("not ready after 1m0s: last response of GET /: connection refused")
	for name, c := range map[string]struct {
		response      response
		retryNotReady bool
		launches      int // of a
		failed        int // trials of a
	}{
		"never":             {func(*fakeRun, bench.Instance, int) error { return silent }, false, 1, 3},
		"never, requested":  {func(*fakeRun, bench.Instance, int) error { return silent }, true, 3, 3},
		"not in its second": {func(_ *fakeRun, _ bench.Instance, launch int) error { return map[int]error{2: silent}[launch] }, false, 3, 1},
		"it exits": {func(_ *fakeRun, i bench.Instance, _ int) error {
			i.(*fakeInstance).die(bench.Exit{Code: 3})
			return silent
		}, false, 3, 3},
		"paused externally": {func(f *fakeRun, i bench.Instance, _ int) error {
			f.report(bench.Incident{Kind: bench.IncidentPaused, Text: "paused externally"})
			return silent
		}, false, 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				launches := 0
				f, err := start(t, t.Context(), func(f *fakeRun) {
					f.cfg.Run.Profile.Rounds = 3
					f.cfg.Run.Trials = Order(f.cfg.Run.Profile.Contenders, 3, 42)
					f.cfg.RetryNotReady = c.retryNotReady
					f.cfg.Launcher = launching(func(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
						f.report = spec.OnIncident
						return f.launcher.Launch(ctx, spec)
					})
					f.cfg.Ready = func(_ context.Context, inst bench.Instance, svc bench.Service, _ func(level, text string)) (bench.InstanceReady, error) {
						if svc.Name != "a" {
							return bench.InstanceReady{StartUp: time.Millisecond}, nil
						}
						launches++
						return bench.InstanceReady{StartUp: time.Millisecond}, c.response(f, inst, launches)
					}
				})
				if !errors.Is(err, ErrTrials) {
					t.Errorf("%v", err)
				}
				failed := 0
				for round := 1; round <= 3; round++ {
					if trial := f.trials[fmt.Sprintf("a-%d", round)]; trial.State == bench.TrialFailed {
						failed++
						if round > 1 && c.launches == 1 && !strings.Contains(trial.Failure, "skipped: never ready in round 1 (retry each round with --retry-not-ready)") {
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
				if launches != c.launches || failed != c.failed {
					t.Errorf("%d launches and %d failures, want %d and %d", launches, failed, c.launches, c.failed)
				}
			})
		})
	}
}

// A contender that has responded before the run was resumed is started again.
func TestContenderThatRespondedBeforeResumeIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		launches := 0
		_, err := start(t, t.Context(), func(f *fakeRun) {
			f.cfg.Run.Profile.Contenders = f.cfg.Run.Profile.Contenders[:1]
			f.cfg.Run.Trials = Order(f.cfg.Run.Profile.Contenders, 3, 42)
			f.cfg.Run.Trials[0].State = bench.TrialComplete
			f.cfg.Ready = func(context.Context, bench.Instance, bench.Service, func(level, text string)) (bench.InstanceReady, error) {
				launches++
				return bench.InstanceReady{}, errors.New("not ready after 1m0s")
			}
		})
		if launches != 2 || !errors.Is(err, ErrTrials) {
			t.Errorf("%d launches, %v", launches, err)
		}
	})
}

// A target is neither built nor stopped, and its limits are not reported.
func TestTargetIsNotStopped(t *testing.T) {
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
		testenv.OK(t, err)
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

// noChecks launches nothing, as for a target.
type noChecks struct{ fakeChecks }

func (noChecks) Launching(context.Context, Launcher, bench.LaunchSpec, bench.Service, func(bench.CheckResult)) error {
	return nil
}
