package app

import (
	"context"
	"fmt"
	"net/url"
	"os"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/launch"
)

// makeLauncher returns the address at which contenders reach this machine, "" where that is loopback.
func (s *site) makeLauncher() (host string) {
	switch s.plan.Profile.Runtime {
	case bench.RuntimeURL:
		s.starter = launch.Target{URL: s.plan.Target}
	case bench.RuntimeDocker:
		s.starter = s.docker
		host = s.docker.HostAddress()
	default:
		s.starter = launch.Process{CPUs: s.apart.all}
	}
	return host
}

// Launch is the runner's Launcher: the launcher itself is made in a stage of the run.
func (s *site) Launch(ctx context.Context, spec bench.LaunchSpec) (bench.Instance, error) {
	if err := s.apart.begin(); err != nil {
		return nil, err
	}
	s.meetOnEngine(ctx)
	return s.starter.Launch(ctx, spec)
}

// spec is what a leg of svc is launched with. As a process it gets a port that is free now, unless its manifest tells it none.
func (s *site) spec(name string, svc bench.Service, a bench.Artifact) (bench.LaunchSpec, error) {
	spec := bench.LaunchSpec{RunID: s.plan.ID, Name: name, Artifact: a, Port: svc.Port, Limits: s.plan.Profile.Limits}
	spec.CPUs = s.apart.contender
	if svc.Docker != nil {
		spec.More = svc.Docker.Privileges
	}
	var err error
	switch s.plan.Profile.Runtime {
	case bench.RuntimeURL:
		return spec, nil
	case bench.RuntimeProcess:
		if !contender.TakesPort(svc, a) {
			err = launch.Free(svc.Port)
		} else {
			spec.Port, err = launch.FreePort()
		}
		if err != nil {
			return spec, err
		}
	}
	spec.Artifact, spec.Env, err = s.environment(svc, spec, s.elastic)
	return spec, err
}

// environment fills in the command and the environment of spec, with the store at url.
func (s *site) environment(svc bench.Service, spec bench.LaunchSpec, url string) (bench.Artifact, map[string]string, error) {
	t, err := s.template(svc, spec.Artifact, url, spec.Port)
	if err != nil {
		return spec.Artifact, nil, err
	}
	return contender.Fill(svc, spec.Artifact, t)
}

// template is what the manifest of svc may name, with the store at url.
func (s *site) template(svc bench.Service, a bench.Artifact, url string, port int) (bench.Template, error) {
	t := bench.Template{Listen: "0.0.0.0", Port: port, Name: svc.Name, Dir: a.Dir}
	if url != "" {
		host, p, err := splitURL(url)
		if err != nil {
			return t, err
		}
		t.Elastic.URL, t.Elastic.Host, t.Elastic.Port = url, host, p
	}
	if s.plan.Profile.Runtime == bench.RuntimeProcess {
		self, err := os.Executable()
		if err != nil {
			return t, fmt.Errorf("find the running binary: %w", err)
		}
		t.Self, t.Listen = self, "127.0.0.1"
	}
	return t, nil
}

// splitURL returns host and port of a URL, with the scheme's port where it names none.
func splitURL(text string) (host, port string, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", "", fmt.Errorf("store address: %w", err)
	}
	port = u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	return u.Hostname(), port, nil
}
