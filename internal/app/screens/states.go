package screens

import (
	"context"
	"errors"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/show/tui/setup"
)

// Contenders returns those of the given folders of services, or else of the profile's, and what each
// of their variants still needs before it can run. It builds nothing.
func (s Site) Contenders(ctx context.Context, runtime bench.Runtime, services string) (
	all []bench.Service, states map[bench.Selection]setup.State, err error,
) {
	folders := s.Services
	if len(folders) == 0 && services != "" {
		folders = []string{services}
	}
	all, err = app.Discover(folders)
	if len(all) == 0 {
		return nil, nil, err
	}
	of := processState
	if !runtime.Traits().OnHost {
		engine, missing := docker.Connect(ctx)
		if missing == nil {
			defer engine.Close()
			of = func(svc bench.Service) setup.State { return imageState(ctx, engine, svc) }
		} else if runtime.Traits().Container { // only the engine is missing
			of = func(bench.Service) setup.State { return setup.State{Kind: setup.Unknown} }
		}
	}
	states = map[bench.Selection]setup.State{}
	for _, svc := range all {
		for _, resolved := range contender.Resolved(svc) {
			if ctx.Err() != nil {
				return all, states, ctx.Err()
			}
			states[bench.Selection{Contender: svc.Name, Variant: resolved.Variant}] = of(resolved)
		}
	}
	return all, states, err
}

// imageState looks for a contender's image in an engine.
func imageState(ctx context.Context, engine *docker.Engine, svc bench.Service) setup.State {
	ref, err := contender.ImageRef(svc, engine.Info().Arch, contender.BuildOptions{})
	not, notStatic := errors.AsType[*contender.NotStaticError](err)
	switch {
	case notStatic:
		return setup.State{Kind: setup.Build, Why: not.Why}
	case err != nil:
		return setup.State{Kind: setup.Cannot, Why: err.Error()}
	}
	switch _, err := engine.ImageInspect(ctx, ref); {
	case err != nil && !errors.Is(err, docker.ErrNotFound):
		return setup.State{Kind: setup.Unknown}
	case err == nil:
		return setup.State{Kind: setup.Ready}
	case svc.Builtin:
		return setup.State{Kind: setup.Build, Why: "image of this binary, quick to build"}
	case svc.Docker.Image != "":
		return setup.State{Kind: setup.Pull, Why: ref}
	}
	return setup.State{Kind: setup.Build}
}

func processState(svc bench.Service) setup.State {
	built, err := contender.ProcessState(svc, contender.BuildOptions{})
	switch {
	case err != nil:
		return setup.State{Kind: setup.Cannot, Why: err.Error()}
	case built:
		return setup.State{Kind: setup.Ready}
	}
	return setup.State{Kind: setup.Build}
}
