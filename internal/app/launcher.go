package app

import (
	"context"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/platform"
	"github.com/locbench/locbench/internal/text/contact"
	"github.com/locbench/locbench/internal/text/safe"
)

// launcher builds contenders and starts them.
type launcher struct {
	*record
	platform   platform.Platform
	noEngine   error            // why processes are used instead of containers; nil: they are not, or by choice
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
