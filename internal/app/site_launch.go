package app

import (
	"context"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/load/portable"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/text/safe"
)

// Launch starts a contender; before the first one it keeps this process to its CPUs.
func (s *site) Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	if err := s.isolation.begin(); err != nil {
		return nil, err
	}
	s.meet()
	return s.platform.Launch(ctx, spec)
}

// Spec returns the specification that a trial of svc is started with.
func (s *site) Spec(trial bench.Trial, svc bench.Service, a bench.Artifact) (bench.LaunchSpec, error) {
	spec := bench.LaunchSpec{
		RunID: s.plan.Run.ID, Name: trial.String(), Artifact: a, URL: svc.URL, Port: svc.Port, Ready: svc.Ready.Port, Signal: svc.StopSignal,
		Limits: s.plan.Run.Profile.Limits.With(svc.Limits), CPUs: s.isolation.sets.Contender, Joins: s.own[s.seatOf(trial)].network(),
	}
	if n := spec.Limits.CPUSet; n > 0 && n < len(spec.CPUs) { // the CPUs are those of the widest contender
		spec.CPUs = spec.CPUs.First(n)
	}
	if svc.Docker != nil {
		spec.More, spec.Confined = svc.Docker.Privileges, svc.Docker.Confined
	}
	if !s.platform.Capabilities().Launches {
		return spec, nil
	}
	if err := s.platform.Prepare(&spec, svc); err != nil {
		return spec, err
	}
	var err error
	spec.Artifact, spec.Env, err = s.environment(svc, spec, s.addresses(trial))
	return spec, err
}

// addresses returns where the contender of a trial reaches its needs, as values of a template.
func (s *site) addresses(of bench.Trial) (t bench.Template) {
	t.Needs = map[string]bench.NeedAddress{}
	for _, n := range s.needsOf(of) {
		s.restored.Delete(n.Need)
		t.Needs[n.Name] = n.Need.Address()
	}
	return t
}

// environment fills in the command and the environment of spec; needs has the addresses of needs.
func (s *site) environment(
	svc bench.Service, spec bench.LaunchSpec, needs bench.Template,
) (bench.Artifact, map[string]string, error) {
	t, err := s.platform.Template()
	if err != nil {
		return spec.Artifact, nil, err
	}
	t.Needs, t.Other = needs.Needs, needs.Other
	t.Port, t.Name, t.Dir = spec.Port, svc.Name, spec.Dir()
	artifact, env, err := contender.Fill(svc, spec.Artifact, t)
	for key, value := range svc.Env {
		if err == nil && len(bench.EnvNames(value)) > 0 {
			env[key] = bench.FillEnv(env[key], s.env.Getenv)
		}
	}
	return artifact, env, err
}

// Build builds a contender. In a resumed run it is what the complete trials ran.
func (s *site) Build(ctx context.Context, svc bench.Service, progress func(string)) (bench.Artifact, error) {
	a, err := s.build(ctx, svc, progress)
	if err != nil {
		return a, err
	}
	return a, sameImage(a, svc, s.plan, s.before)
}

// build builds an image or a binary, and reports the output of the build line by line.
func (s *site) build(ctx context.Context, svc bench.Service, progress func(string)) (bench.Artifact, error) {
	if !s.platform.Capabilities().Launches {
		return bench.Artifact{}, nil
	}
	out, done := safe.EachLine(progress)
	defer done()
	a, err := s.platform.Build(ctx, svc, contender.BuildOptions{Out: out})
	if err == nil {
		a.Sources, _ = contender.SourceHash(svc) // "" without sources
		recordBuild(builtAs(svc, s.plan.Run.Profile.Runtime), a)
	}
	return a, err
}

// FirstRequests times the first requests of a contender one by one, of the profile's first kind.
func (s *site) FirstRequests(ctx context.Context, at runner.Place) (bench.FirstRequests, error) {
	p := s.plan.Run.Profile
	return portable.Phases(ctx, portable.PhasesPlan{
		BaseURL: at.BaseURL, Request: s.requests[0], IDs: s.ids, Requests: p.FirstRequests.Requests, Timeout: p.Timeout,
		Variables: p.Variables, Data: s.values, Life: s.trialState(at), Seed: s.plan.Run.Seed, TLS: s.tls,
	})
}
