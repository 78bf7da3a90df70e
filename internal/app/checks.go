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

// checks runs the profile's checks on the contenders of a site.
type checks struct {
	site   *site
	suites []*check.Suite
	deaf   sync.Map // label of a contender ─▶ *atomic.Bool: it ignored SIGTERM in this run
}

// newChecks reads the profile's suites and reports their mistakes before anything is started.
func newChecks(s *site) (*checks, error) {
	c := &checks{site: s}
	for _, name := range s.plan.Profile.Checks.Suites {
		suite, err := check.LoadSuite(name, s.plan.AllowFiles...)
		if err != nil {
			return nil, console.WithCode(console.ExitUsage, err)
		}
		c.suites = append(c.suites, suite)
	}
	return c, nil
}

// names returns the lifecycle checks of the profile; none for a target, which locbench cannot
// start.
func (c *checks) names() []string {
	if !c.site.platform.Capabilities().Launches {
		return nil
	}
	return c.site.plan.Profile.Checks.Lifecycle
}

func (c *checks) Launching(
	ctx context.Context, l runner.Launcher, spec bench.LaunchSpec, svc bench.Service, on func(bench.CheckResult),
) error {
	if len(c.names()) == 0 {
		return nil
	}
	deaf, _ := c.deaf.LoadOrStore(spec.Artifact.Image+" "+svc.Name+" "+svc.Variant, new(atomic.Bool))
	opt := check.LifecycleOptions{
		Deaf: deaf.(*atomic.Bool),
		Spec: spec, Ready: c.site.question(svc),
		CPUs: c.site.platform.CPUs(), Names: c.names(), OnResult: on,
		OnStart: func(n, of int) {
			text := fmt.Sprintf("lifecycle checks of %s: start %d of %d; --no-checks skips them",
				bench.Selection{Contender: svc.Name, Variant: svc.Variant}, n, of)
			c.site.stream.Publish(nil, bench.Progress{Phase: bench.PhaseCheck, Text: text})
		},
	}
	_, unreachable, err := c.site.environment(svc, spec, check.UnreachableStore)
	if err != nil {
		return err
	}
	if !maps.Equal(unreachable, spec.Env) { // otherwise the contender does not use the store
		opt.Unreachable = unreachable
	}
	_, err = check.Lifecycle(ctx, l, opt)
	return err
}

func (c *checks) Running(
	ctx context.Context, inst bench.Instance, spec bench.LaunchSpec, svc bench.Service, on func(bench.CheckResult),
) error {
	way := c.site.way()
	_, err := check.Running(ctx, inst, check.RunningOptions{Spec: spec, Names: c.names(), Way: way, OnResult: on})
	if err != nil {
		return err
	}
	for _, suite := range c.suites {
		opt := check.Options{BaseURL: inst.BaseURL(), Suite: suite, Endpoints: svc.Endpoints, Way: way, OnResult: on}
		if _, err := check.HTTP(ctx, opt); err != nil {
			return err
		}
	}
	return nil
}

func (c *checks) Alive(ctx context.Context, inst bench.Instance, svc bench.Service) []bench.CheckResult {
	if !slices.Contains(c.names(), bench.CheckStillResponds) {
		return nil
	}
	return []bench.CheckResult{check.StillResponds(ctx, inst, c.site.way(), cmp.Or(svc.Ready.Path, "/"))}
}

func (c *checks) Stopped(stop bench.StopResult) []bench.CheckResult {
	if !slices.Contains(c.names(), bench.CheckStops) {
		return nil
	}
	return []bench.CheckResult{check.Stopped(stop)}
}

// responds returns an error if GET of the ready path has no response, of any status.
func (c *checks) responds(ctx context.Context, inst bench.Instance, svc bench.Service) error {
	return check.Responds(ctx, inst, c.site.way(), cmp.Or(svc.Ready.Path, "/"))
}
