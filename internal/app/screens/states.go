package screens

import (
	"context"
	"errors"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/contender/docker"
	"github.com/locbench/locbench/internal/show/tui/setup"
)

// Contenders returns those of the folders of services, and what each of their variants still needs
// before it can run. It builds nothing.
func (s Site) Contenders(ctx context.Context, runtime bench.Runtime) (
	all []bench.Service, states map[bench.Selection]setup.State, err error,
) {
	all, err = app.Discover(s.Services)
	if len(all) == 0 {
		return nil, nil, err
	}
	of := processState
	if !runtime.Traits().OnHost {
		engine, missing := docker.Connect(ctx)
		if missing == nil {
			defer engine.Close()
			images, unreadable := engine.Images(ctx)
			if unreadable != nil {
				return all, nil, errors.Join(err, unreadable)
			}
			of = imageStates(ctx, engine, images)
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

// imageStates returns a function that looks contenders up in an engine's list of images.
func imageStates(
	ctx context.Context, engine *docker.Engine, images []docker.ListedImage,
) func(bench.Service) setup.State {
	there := map[string]bool{}
	before := map[bench.Selection]bool{}
	for _, img := range images {
		for _, ref := range img.Refs {
			there[ref] = true
		}
		if name := img.Labels[contender.LabelContender]; name != "" {
			before[bench.Selection{Contender: name, Variant: img.Labels[contender.LabelVariant]}] = true
		}
	}
	return func(svc bench.Service) setup.State {
		ref, err := contender.ImageRef(svc, engine.Info().Arch, contender.BuildOptions{})
		not, notStatic := errors.AsType[*contender.NotStaticError](err)
		switch {
		case notStatic:
			return setup.State{Kind: setup.Build, Why: not.Why}
		case err != nil:
			return setup.State{Kind: setup.Cannot, Why: err.Error()}
		case there[ref]:
			return setup.State{Kind: setup.Ready}
		case svc.Builtin:
			return setup.State{Kind: setup.Build, Why: "image of this binary, quick to build"}
		case svc.Docker.Image != "":
			if _, err := engine.ImageInspect(ctx, ref); err == nil { // its name has no tag, or a digest
				return setup.State{Kind: setup.Ready}
			}
			return setup.State{Kind: setup.Pull, Why: ref}
		case before[bench.Selection{Contender: svc.Name, Variant: svc.Variant}]:
			const why = "sources changed; cached layers speed up the build"
			return setup.State{Kind: setup.Stale, Why: why}
		}
		return setup.State{Kind: setup.Build}
	}
}

func processState(svc bench.Service) setup.State {
	built, before, err := contender.ProcessState(svc, contender.BuildOptions{})
	switch {
	case err != nil:
		return setup.State{Kind: setup.Cannot, Why: err.Error()}
	case built:
		return setup.State{Kind: setup.Ready}
	case before:
		return setup.State{Kind: setup.Stale, Why: "sources changed"}
	}
	return setup.State{Kind: setup.Build}
}
