package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/text/console"
)

// checks checks instances of contenders.
type checks struct {
	launcher *launcher
	suites   []*check.Suite
	deaf     sync.Map // label of a contender ─▶ *atomic.Bool: it ignored SIGTERM in this run
}

// readSuites reads the profile's suites and reports their mistakes before anything is started.
func readSuites(run bench.Run) (all []*check.Suite, err error) {
	for _, name := range run.Profile.Checks.Suites {
		suite, err := check.LoadSuite(name, run.AllowFiles...)
		if err != nil {
			return nil, console.WithCode(console.ExitUsage, err)
		}
		all = append(all, suite)
	}
	return all, nil
}

// lifecycle returns the lifecycle checks of the profile; none for a target, which locbench cannot
// start.
func (c *checks) lifecycle() []string {
	if !c.launcher.platform.Capabilities().Launches {
		return nil
	}
	return c.launcher.plan.Run.Profile.Checks.Lifecycle
}

// Launching runs the checks that start the contender themselves.
func (c *checks) Launching(
	ctx context.Context, l runner.Launcher, spec bench.LaunchSpec, svc bench.Service, on func(bench.CheckResult),
) error {
	if len(c.lifecycle()) == 0 {
		return nil
	}
	deaf, _ := c.deaf.LoadOrStore(spec.Artifact.Image+" "+svc.Name+" "+svc.Variant, new(atomic.Bool))
	opt := check.LifecycleOptions{
		Deaf: deaf.(*atomic.Bool),
		Spec: spec, Ready: c.launcher.question(svc),
		CPUs: c.launcher.platform.CPUs(), Names: c.lifecycle(), OnResult: on,
		OnStart: func(n, of int) {
			text := fmt.Sprintf("lifecycle checks of %s: start %d of %d; --no-checks skips them",
				bench.Selection{Contender: svc.Name, Variant: svc.Variant}, n, of)
			c.launcher.stream.Publish(nil, bench.Progress{Phase: bench.PhaseCheck, Text: text})
		},
	}
	_, unreachable, err := c.launcher.environment(svc, spec, bench.Template{Other: check.Unreachable()})
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
func (c *checks) Running(
	ctx context.Context, inst bench.Instance, spec bench.LaunchSpec, svc bench.Service, on func(bench.CheckResult),
) error {
	_, err := check.Running(ctx, inst, check.RunningOptions{Spec: spec, Names: c.lifecycle(), Way: c.launcher.way, OnResult: on})
	if err != nil {
		return err
	}
	for _, suite := range c.suites {
		opt := check.Options{BaseURL: inst.BaseURL(), Suite: suite, Endpoints: svc.Endpoints, Way: c.launcher.way, OnResult: on}
		if _, err := check.HTTP(ctx, opt); err != nil {
			return err
		}
	}
	return nil
}

// Alive checks that an instance still responds after the load.
func (c *checks) Alive(ctx context.Context, inst bench.Instance, svc bench.Service) []bench.CheckResult {
	if !slices.Contains(c.lifecycle(), bench.CheckStillResponds) {
		return nil
	}
	return []bench.CheckResult{check.StillResponds(ctx, inst, c.launcher.way, cmp.Or(svc.Ready.Path, "/"))}
}

// Stopped checks the end of an instance.
func (c *checks) Stopped(stop bench.StopResult) []bench.CheckResult {
	if !slices.Contains(c.lifecycle(), bench.CheckStops) {
		return nil
	}
	return []bench.CheckResult{check.Stopped(stop)}
}

// Responds returns an error if GET of the ready path has no response, of any status.
func (c *checks) Responds(ctx context.Context, inst bench.Instance, svc bench.Service) error {
	return check.Responds(ctx, inst, c.launcher.way, cmp.Or(svc.Ready.Path, "/"))
}
