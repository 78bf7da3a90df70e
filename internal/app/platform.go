package app

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/platform"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/text/safe"
)

// choosePlatform resolves "auto", opens the platform, and the engine for needs in containers. It
// records the choice.
func (l *launcher) choosePlatform(ctx context.Context) error {
	p := &l.plan.Run.Profile
	o := platform.Options{RunID: l.plan.Run.ID, Needs: l.needs.all}
	contained := slices.ContainsFunc(l.needs.where(), inContainer)
	if p.Runtime.Traits().Auto {
		p.Runtime = bench.RuntimeDocker
		engine, err := platform.OpenDocker(ctx, o)
		switch {
		case err == nil:
			l.platform = engine
		case contained, platform.NoProcesses(runtime.GOOS) != nil:
			return l.cannot(err)
		case isA[platform.UnreachableError](err):
			l.plan.Run.Warnings = append(l.plan.Run.Warnings, bench.Warning{Text: "using processes: " + err.Error()})
			p.Runtime, l.noEngine = bench.RuntimeProcess, err
		case isA[platform.MissingError](err):
			p.Runtime, l.noEngine = bench.RuntimeProcess, err
		default:
			return err
		}
	}
	if contained && !p.Runtime.Traits().Container {
		o.NeedsOnly = true
		engine, err := platform.OpenDocker(ctx, o)
		if err != nil {
			return l.cannot(err)
		}
		l.containers = engine
	}
	if l.platform == nil {
		var err error
		if l.platform, err = platform.Open(ctx, p.Runtime, o); err != nil {
			return l.cannot(err)
		}
	}
	if engine, ok := l.platform.(*platform.Docker); ok {
		l.containers = engine
	}
	for _, p := range l.platforms() {
		p.RecordEnvironment(&l.plan.Run)
	}
	return nil
}

// builds returns what the run has to build.
func (l *launcher) builds(ctx context.Context) (b bench.Builds) {
	run, known, seen := l.plan.Run, true, map[string]bool{}
	last, _ := lastBuilds()
	for _, sel := range run.Profile.Contenders {
		svc := l.plan.Services[sel]
		as := builtAs(svc, run.Profile.Runtime)
		if seen[as] || l.platform.Built(ctx, svc) {
			continue
		}
		seen[as], known = true, known && last[as] > 0
		b.Count, b.Last = b.Count+1, b.Last+last[as]
	}
	if !known {
		b.Last = 0
	}
	return b
}

// needEngine returns an error if a contender cannot run because no engine was found.
func needEngine(noEngine error, services map[bench.Selection]bench.Service) error {
	if noEngine == nil {
		return nil
	}
	if connect, ok := errors.AsType[*docker.ConnectError](noEngine); ok {
		noEngine = connect // without the advice to use processes
	}
	var names []string
	for sel, svc := range services {
		if svc.Process == nil && !svc.Builtin && svc.URL == "" {
			names = append(names, sel.String())
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("%s cannot run: no Docker engine, and no `process` in the manifest: %w",
		safe.Line(strings.Join(names, ", "), 300), noEngine)
}

// cannot adds the next step to an error.
func (l *launcher) cannot(err error) error {
	if isA[platform.UnreachableError](err) && platform.NoProcesses(runtime.GOOS) == nil {
		return fmt.Errorf("%w; or use --runtime process", err)
	}
	return err
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// platforms returns the open platforms: the contenders', and the needs' if it is another.
func (l *launcher) platforms() (all []platform.Platform) {
	if l.platform != nil {
		all = append(all, l.platform)
	}
	if l.containers != nil && l.platform != platform.Platform(l.containers) {
		all = append(all, l.containers)
	}
	return all
}

// cleanUp removes what an earlier, killed process of the same run has left behind.
func (l *launcher) cleanUp(ctx context.Context) (err error) {
	var kept []string
	for _, p := range l.platforms() {
		cleaned, e := p.Clean(ctx)
		err = errors.Join(err, e)
		for _, k := range cleaned.Kept {
			if !slices.Contains(kept, k) { // every platform lists the processes
				kept = append(kept, k)
				err = errors.Join(err, errors.New("not removed: "+k))
			}
		}
	}
	return err
}

// EngineAlive returns an error if a platform does not respond.
func (l *launcher) EngineAlive(ctx context.Context) error {
	for _, p := range l.platforms() {
		if err := p.Alive(ctx); err != nil {
			return err
		}
	}
	return nil
}

// others returns the names of containers on the platforms that are not of this run.
func (l *launcher) others(ctx context.Context) string {
	var names []string
	for _, p := range l.platforms() {
		names = append(names, p.Others(ctx)...)
	}
	return machine.Names(names)
}

// noIsolation returns the reason why processes cannot be pinned to CPUs; "" if they can.
func (l *launcher) noIsolation() string {
	for _, p := range l.platforms() {
		if why := p.Capabilities().NoIsolation; why != "" {
			return why
		}
	}
	return ""
}
