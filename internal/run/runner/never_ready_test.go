package runner

import (
	"context"
	"errors"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestNeverReady: a contender that runs and never responds in its first round is not started again
// in later ones, unless the user requests it. One that exits, has responded before, or had an
// incident is. The outcomes are in testdata/ready.
func TestNeverReady(t *testing.T) {
	silent := errors.New("not ready after 1m0s: last response of GET /: connection refused")
	// The contender b is always ready; a has the response in its three rounds.
	responds := func(response func(f *fakeRun, inst bench.Instance) error) func(*fakeRun) {
		return func(f *fakeRun) {
			f.cfg.Run.Profile.Rounds = 3
			f.cfg.Run.Trials = Order(f.cfg.Run.Profile.Contenders, 3, 42)
			f.ready(func(_ context.Context, inst bench.Instance, svc bench.Service) error {
				if svc.Name != "a" {
					return nil
				}
				return response(f, inst)
			})
		}
	}
	never := responds(func(*fakeRun, bench.Instance) error { return silent })
	outcomes(t, "ready", map[string]func(*fakeRun){
		"never": never,
		"never, and each round is requested": func(f *fakeRun) {
			never(f)
			f.cfg.RetryNotReady = true
		},
		"not in its second round": responds(func(_ *fakeRun, inst bench.Instance) error {
			if inst.BaseURL() == "http://a-2" {
				return silent
			}
			return nil
		}),
		"it exits": responds(func(_ *fakeRun, inst bench.Instance) error {
			inst.(*fakeInstance).die(bench.Exit{Code: 3})
			return silent
		}),
		"paused externally": responds(func(f *fakeRun, _ bench.Instance) error {
			f.launcher.onIncident(bench.Incident{Kind: bench.IncidentPaused, Text: "paused externally"})
			return silent
		}),
		"ready before the run was resumed": func(f *fakeRun) {
			f.rounds(3)
			f.cfg.Run.Trials[0].State = bench.TrialComplete
			f.ready(func(context.Context, bench.Instance, bench.Service) error { return silent })
		},
	})
}

// A target is neither built nor stopped, and its limits are not reported.
func TestRun_Target(t *testing.T) {
	f := start(t, func(f *fakeRun) {
		f.rounds(1)
		f.cfg.Run.Profile.Runtime = bench.RuntimeURL
		f.site.checks = noChecks{}
		f.site.launcher = launching(func(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
			inst, err := f.launcher.Launch(ctx, spec)
			inst.(*fakeInstance).info = bench.InstanceInfo{Runtime: bench.RuntimeURL}
			return inst, err
		})
		f.site.awaits = func(
			context.Context, bench.Instance, bench.Service, func(level, text string),
		) (bench.InstanceReady, error) {
			return bench.InstanceReady{}, nil
		}
	})
	testenv.OK(t, f.err)
	trial := f.trials["a-1"]
	if trial.StartUp != nil || trial.Stop != nil || len(trial.Warnings) > 0 || len(trial.Steps) != 3 ||
		len(f.phases("")) != 1 {
		t.Errorf("trial %+v, phases of the run %v", trial, f.phases(""))
	}
}

type launching func(context.Context, bench.LaunchSpec) (bench.Instance, error)

func (l launching) Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	return l(ctx, spec)
}

// noChecks launches nothing, as for a target.
type noChecks struct{ fakeChecks }

func (noChecks) Launching(
	context.Context, Launcher, bench.LaunchSpec, bench.Service, func(bench.CheckResult),
) error {
	return nil
}
