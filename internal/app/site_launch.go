package app

import (
	"cmp"
	"context"
	"fmt"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/platform"
	"github.com/locbench/locbench/internal/load/portable"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
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
func (s *site) Spec(name string, svc bench.Service, a bench.Artifact) (bench.LaunchSpec, error) {
	spec := bench.LaunchSpec{
		RunID: s.plan.Run.ID, Name: name, Artifact: a, URL: svc.URL, Port: svc.Port,
		Limits: s.plan.Run.Profile.Limits.With(svc.Limits), CPUs: s.isolation.sets.Contender,
	}
	if n := spec.Limits.CPUSet; n > 0 && n < len(spec.CPUs) { // the CPUs are those of the widest contender
		spec.CPUs = spec.CPUs.First(n)
	}
	if svc.Docker != nil {
		spec.More = svc.Docker.Privileges
	}
	if !s.platform.Capabilities().Launches {
		return spec, nil
	}
	if err := s.platform.Prepare(&spec, svc); err != nil {
		return spec, err
	}
	var err error
	spec.Artifact, spec.Env, err = s.environment(svc, spec, s.elastic)
	return spec, err
}

// environment fills in the command and the environment of spec, for the store at url.
func (s *site) environment(
	svc bench.Service, spec bench.LaunchSpec, url string,
) (bench.Artifact, map[string]string, error) {
	t, err := s.platform.Template()
	if err != nil {
		return spec.Artifact, nil, err
	}
	t.Port, t.Name, t.Dir = spec.Port, svc.Name, spec.Dir()
	if url != "" {
		host, port, err := splitURL(url)
		if err != nil {
			return spec.Artifact, nil, err
		}
		t.Elastic.URL, t.Elastic.Host, t.Elastic.Port = url, host, port
	}
	artifact, env, err := contender.Fill(svc, spec.Artifact, t)
	for key, value := range svc.Env {
		if err == nil && len(bench.EnvNames(value)) > 0 {
			env[key] = bench.FillEnv(env[key], s.env.Getenv)
		}
	}
	return artifact, env, err
}

// splitURL returns host and port of a URL; without a port, the scheme's.
func splitURL(text string) (host, port string, err error) {
	u, err := secret.ParseURL(text)
	if err != nil {
		return "", "", fmt.Errorf("store address: %w", err)
	}
	port = "80"
	if u.Scheme == "https" {
		port = "443"
	}
	return u.Hostname(), cmp.Or(u.Port(), port), nil
}

// Build builds a contender. In a resumed run it is what the complete trials ran.
func (s *site) Build(ctx context.Context, svc bench.Service, progress func(string)) (bench.Artifact, error) {
	a, err := Builder{Builder: s.platform, Runtime: s.plan.Run.Profile.Runtime}.Build(ctx, svc, progress)
	if err != nil {
		return a, err
	}
	return a, sameImage(a, svc, s.plan, s.before)
}

// Builder builds a contender: an image, or a binary.
type Builder struct {
	platform.Builder
	Runtime bench.Runtime
	Rebuild bool // also unchanged contenders
}

// Build reports the output of the build line by line.
func (b Builder) Build(ctx context.Context, svc bench.Service, progress func(string)) (bench.Artifact, error) {
	if !platform.Builds(b.Runtime) {
		return bench.Artifact{}, nil
	}
	out, done := safe.EachLine(progress)
	defer done()
	opts := contender.BuildOptions{Out: out, Rebuild: b.Rebuild}
	a, err := b.Builder.Build(ctx, svc, opts)
	if err == nil {
		a.Sources, _ = contender.SourceHash(svc) // "" without sources
		if err := contender.RecordBuild(svc, b.Runtime, a, opts); err != nil {
			fmt.Fprintf(out, "build time not saved: %v\n", err)
		}
	}
	return a, err
}

// FirstRequests times the first requests of a contender one by one, of the profile's first kind.
func (s *site) FirstRequests(ctx context.Context, at runner.Place) (bench.FirstRequests, error) {
	p := s.plan.Run.Profile
	return portable.Phases(ctx, portable.PhasesPlan{
		BaseURL: at.BaseURL, Request: s.requests[0], IDs: s.responses.ids, Requests: p.FirstRequests.Requests, Timeout: p.Timeout,
		Variables: p.Variables, Data: s.values, Life: s.trialState(at), Seed: s.plan.Run.Seed, TLS: s.tls,
	})
}
