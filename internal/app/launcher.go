package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/platform"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/text/contact"
	"github.com/locbench/locbench/internal/text/safe"
)

// launcher builds contenders and starts them.
type launcher struct {
	*record
	platform   platform.Platform
	noEngine   error            // why processes are used instead of containers; nil: they are not, or by choice
	fallback   string           // the warning of that, where there is an engine
	containers *platform.Docker // of needs in containers; may be the same as platform
	isolation  cpuIsolation
	before     map[bench.Selection]bench.Artifact // what the complete trials of a resumed run ran
	needs      *needset
	way        contact.Way // the protocol, the trust and the Host of all requests to contenders
}

// Launch starts a contender; before the first one it keeps this process to its CPUs.
func (l *launcher) Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	if err := l.isolation.begin(); err != nil {
		return nil, err
	}
	l.meet(l.warn)
	return l.platform.Launch(ctx, spec)
}

// Spec returns the specification that a trial of svc is started with.
func (l *launcher) Spec(trial bench.Trial, svc bench.Service, a bench.Artifact) (bench.LaunchSpec, error) {
	spec := bench.LaunchSpec{
		RunID: l.plan.Run.ID, Name: trial.String(), Artifact: a, URL: svc.URL, Port: svc.Port, Ready: svc.Ready.Port, Signal: svc.StopSignal,
		Limits: l.plan.Run.Profile.Limits.With(svc.Limits), CPUs: l.isolation.sets.Contender, Joins: l.needs.own[l.needs.seatOf(trial)].network(),
	}
	if n := spec.Limits.CPUSet; n > 0 && n < len(spec.CPUs) { // the CPUs are those of the widest contender
		spec.CPUs = spec.CPUs.First(n)
	}
	if svc.Docker != nil {
		spec.More, spec.Confined = svc.Docker.Privileges, svc.Docker.Confined
	}
	if !l.platform.Capabilities().Launches {
		return spec, nil
	}
	if err := l.platform.Prepare(&spec, svc); err != nil {
		return spec, err
	}
	var err error
	spec.Artifact, spec.Env, err = l.environment(svc, spec, l.needs.addresses(trial))
	return spec, err
}

// environment fills in the command and the environment of spec; needs has the addresses of needs.
func (l *launcher) environment(
	svc bench.Service, spec bench.LaunchSpec, needs bench.Template,
) (bench.Artifact, map[string]string, error) {
	t, err := l.platform.Template()
	if err != nil {
		return spec.Artifact, nil, err
	}
	t.Needs, t.Other = needs.Needs, needs.Other
	t.Port, t.Name, t.Dir = spec.Port, svc.Name, spec.Dir()
	artifact, env, err := contender.Fill(svc, spec.Artifact, t)
	for key, value := range svc.Env {
		if err == nil && len(bench.EnvNames(value)) > 0 {
			env[key] = bench.FillEnv(env[key], l.env.Getenv)
		}
	}
	return artifact, env, err
}

// Build builds a contender. In a resumed run it is what the complete trials ran.
func (l *launcher) Build(ctx context.Context, svc bench.Service, progress func(string)) (bench.Artifact, error) {
	a, err := l.build(ctx, svc, progress)
	if err != nil {
		return a, err
	}
	return a, sameImage(a, svc, l.plan, l.before)
}

// build builds an image or a binary, and reports the output of the build line by line.
func (l *launcher) build(ctx context.Context, svc bench.Service, progress func(string)) (bench.Artifact, error) {
	if !l.platform.Capabilities().Launches {
		return bench.Artifact{}, nil
	}
	out, done := safe.EachLine(progress)
	defer done()
	a, err := l.platform.Build(ctx, svc, contender.BuildOptions{Out: out})
	if err == nil {
		a.Sources, _ = contender.SourceHash(svc) // "" without sources
		recordBuild(builtAs(svc, l.plan.Run.Profile.Runtime), a)
	}
	return a, err
}

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
			l.fallback = "using processes: " + err.Error()
			l.plan.Run.Warnings = append(l.plan.Run.Warnings, bench.Warning{Text: l.fallback})
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

// maxLastBuilds is the length in bytes of the file of last builds at which a new one begins.
const maxLastBuilds = 256 << 10

// lastBuilds returns how long the last build of each contender took that was not cached, by builtAs,
// and the file in the user's cache that has these times.
func lastBuilds() (all map[string]time.Duration, file string) {
	all = map[string]time.Duration{}
	dir, err := safe.Cache()
	if err != nil {
		return all, ""
	}
	file = filepath.Join(dir, "builds.json")
	if data, err := safe.ReadFile(file, maxLastBuilds); err == nil && json.Unmarshal(data, &all) != nil {
		all = map[string]time.Duration{}
	}
	return all, file
}

// recordBuild keeps how long a build took. Without it an estimate is without builds, so no error is
// reported.
func recordBuild(key string, a bench.Artifact) {
	all, file := lastBuilds()
	if a.BuildCached || a.BuildTime <= 0 || file == "" {
		return
	}
	all[key] = a.BuildTime
	if data, err := json.Marshal(all); err == nil {
		_ = safe.WriteFile(file, data)
	}
}

// builtAs names what a contender is built as: some settings of one share their image.
func builtAs(svc bench.Service, rt bench.Runtime) string {
	return string(rt) + " " + svc.Dir + " " + svc.Name + ":" + contender.BuiltAs(svc)
}
