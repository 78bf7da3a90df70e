package screens

import (
	"context"
	"errors"
	"slices"

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
			images, unreadable := engine.Images(ctx)
			if unreadable != nil {
				return all, nil, errors.Join(err, unreadable)
			}
			of = func(svc bench.Service) setup.State { return imageState(ctx, engine, images, svc) }
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

// imageState looks a contender up in an engine's list of images.
func imageState(ctx context.Context, engine *docker.Engine, images []docker.ListedImage, svc bench.Service) setup.State {
	ref, err := contender.ImageRef(svc, engine.Info().Arch, contender.BuildOptions{})
	not, notStatic := errors.AsType[*contender.NotStaticError](err)
	has := func(is func(docker.ListedImage) bool) bool { return slices.ContainsFunc(images, is) }
	switch {
	case notStatic:
		return setup.State{Kind: setup.Build, Why: not.Why}
	case err != nil:
		return setup.State{Kind: setup.Cannot, Why: err.Error()}
	case has(func(img docker.ListedImage) bool { return slices.Contains(img.Refs, ref) }):
		return setup.State{Kind: setup.Ready}
	case svc.Builtin:
		return setup.State{Kind: setup.Build, Why: "image of this binary, quick to build"}
	case svc.Docker.Image != "":
		if _, err := engine.ImageInspect(ctx, ref); err == nil { // its name has no tag, or a digest
			return setup.State{Kind: setup.Ready}
		}
		return setup.State{Kind: setup.Pull, Why: ref}
	case has(func(img docker.ListedImage) bool {
		return img.Labels[contender.LabelContender] == svc.Name && img.Labels[contender.LabelVariant] == contender.BuiltAs(svc)
	}):
		return setup.State{Kind: setup.Stale, Why: "sources changed; cached layers speed up the build"}
	}
	return setup.State{Kind: setup.Build}
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
