package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/text/console"
)

// readSuites reads the profile's suites and reports their mistakes before anything is started.
func (s *site) readSuites() error {
	for _, name := range s.plan.Run.Profile.Checks.Suites {
		suite, err := check.LoadSuite(name, s.plan.Run.AllowFiles...)
		if err != nil {
			return console.WithCode(console.ExitUsage, err)
		}
		s.suites = append(s.suites, suite)
	}
	return nil
}

// lifecycle returns the lifecycle checks of the profile; none for a target, which locbench cannot
// start.
func (s *site) lifecycle() []string {
	if !s.platform.Capabilities().Launches {
		return nil
	}
	return s.plan.Run.Profile.Checks.Lifecycle
}

// Launching runs the checks that start the contender themselves.
func (s *site) Launching(
	ctx context.Context, l runner.Launcher, spec bench.LaunchSpec, svc bench.Service, on func(bench.CheckResult),
) error {
	if len(s.lifecycle()) == 0 {
		return nil
	}
	deaf, _ := s.deaf.LoadOrStore(spec.Artifact.Image+" "+svc.Name+" "+svc.Variant, new(atomic.Bool))
	opt := check.LifecycleOptions{
		Deaf: deaf.(*atomic.Bool),
		Spec: spec, Ready: s.question(svc),
		CPUs: s.platform.CPUs(), Names: s.lifecycle(), OnResult: on,
		OnStart: func(n, of int) {
			text := fmt.Sprintf("lifecycle checks of %s: start %d of %d; --no-checks skips them",
				bench.Selection{Contender: svc.Name, Variant: svc.Variant}, n, of)
			s.stream.Publish(nil, bench.Progress{Phase: bench.PhaseCheck, Text: text})
		},
	}
	_, unreachable, err := s.environment(svc, spec, bench.Template{Other: check.Unreachable()})
	if err != nil {
		return err
	}
	if !maps.Equal(unreachable, spec.Env) { // otherwise the contender has no needs
		opt.Unreachable = unreachable
	}
	_, err = check.Lifecycle(ctx, l, opt)
	return err
}

// Running checks a running instance, also by the suites.
func (s *site) Running(
	ctx context.Context, inst bench.Instance, spec bench.LaunchSpec, svc bench.Service, on func(bench.CheckResult),
) error {
	way := s.way()
	_, err := check.Running(ctx, inst, check.RunningOptions{Spec: spec, Names: s.lifecycle(), Way: way, OnResult: on})
	if err != nil {
		return err
	}
	for _, suite := range s.suites {
		opt := check.Options{BaseURL: inst.BaseURL(), Suite: suite, Endpoints: svc.Endpoints, Way: way, OnResult: on}
		if _, err := check.HTTP(ctx, opt); err != nil {
			return err
		}
	}
	return nil
}

// Alive checks that an instance still responds after the load.
func (s *site) Alive(ctx context.Context, inst bench.Instance, svc bench.Service) []bench.CheckResult {
	if !slices.Contains(s.lifecycle(), bench.CheckStillResponds) {
		return nil
	}
	return []bench.CheckResult{check.StillResponds(ctx, inst, s.way(), cmp.Or(svc.Ready.Path, "/"))}
}

// Stopped checks the end of an instance.
func (s *site) Stopped(stop bench.StopResult) []bench.CheckResult {
	if !slices.Contains(s.lifecycle(), bench.CheckStops) {
		return nil
	}
	return []bench.CheckResult{check.Stopped(stop)}
}

// Responds returns an error if GET of the ready path has no response, of any status.
func (s *site) Responds(ctx context.Context, inst bench.Instance, svc bench.Service) error {
	return check.Responds(ctx, inst, s.way(), cmp.Or(svc.Ready.Path, "/"))
}
