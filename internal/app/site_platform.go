package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"locbench/internal/bench"
	"locbench/internal/contender/platform"
	"locbench/internal/run/machine"
)

// choosePlatform settles "auto" and opens the platform, and the engine for a store in a container.
// The record gets what was chosen.
func (s *site) choosePlatform(ctx context.Context) error {
	p := &s.plan.Profile
	o := platform.Options{RunID: s.plan.ID, Store: p.Store}
	inContainer := p.Store.Kind.Traits().Container
	if p.Runtime.Traits().Auto {
		p.Runtime = bench.RuntimeDocker
		engine, err := platform.OpenDocker(ctx, o)
		switch {
		case err == nil:
			s.platform = engine
		case inContainer:
			return s.cannot(err)
		case isA[platform.UnreachableError](err):
			s.plan.Warnings = append(s.plan.Warnings, bench.Warning{Text: "using processes: " + err.Error()})
			p.Runtime = bench.RuntimeProcess
		case isA[platform.MissingError](err):
			p.Runtime = bench.RuntimeProcess
		default:
			return err
		}
	}
	if inContainer && !p.Runtime.Traits().Container {
		o.StoreOnly = true
		engine, err := platform.OpenDocker(ctx, o)
		if err != nil {
			return s.cannot(err)
		}
		s.containers = engine
	}
	if s.platform == nil {
		var err error
		if s.platform, err = platform.Open(ctx, p.Runtime, o); err != nil {
			return s.cannot(err)
		}
	}
	if engine, ok := s.platform.(*platform.Docker); ok && inContainer {
		s.containers = engine
	}
	for _, p := range s.platforms() {
		p.RecordEnvironment(s.plan)
	}
	return nil
}

// cannot adds to an error what to do instead.
func (s *site) cannot(err error) error {
	if isA[platform.UnreachableError](err) {
		return fmt.Errorf("%w; or use --runtime process", err)
	}
	return err
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// platforms returns those that are open: the contenders', and the store's if that is another.
func (s *site) platforms() (all []platform.Platform) {
	if s.platform != nil {
		all = append(all, s.platform)
	}
	if s.containers != nil && s.platform != platform.Platform(s.containers) {
		all = append(all, s.containers)
	}
	return all
}

// cleanUp removes what an earlier, killed part of the same run has left.
func (s *site) cleanUp(ctx context.Context) (err error) {
	var kept []string
	for _, p := range s.platforms() {
		cleaned, e := p.Clean(ctx)
		err = errors.Join(err, e)
		for _, k := range cleaned.Kept {
			if !slices.Contains(kept, k) { // each of them sees the processes
				kept = append(kept, k)
				err = errors.Join(err, errors.New("removed leftover: "+k))
			}
		}
	}
	return err
}

func (s *site) platformsAlive(ctx context.Context) error {
	for _, p := range s.platforms() {
		if err := p.Alive(ctx); err != nil {
			return err
		}
	}
	return nil
}

// others names what runs on the platforms and is not this run's.
func (s *site) others(ctx context.Context) string {
	var names []string
	for _, p := range s.platforms() {
		names = append(names, p.Others(ctx)...)
	}
	return machine.Names(names)
}

// noIsolation returns why nothing can be kept to CPUs of its own; "" it can.
func (s *site) noIsolation() string {
	for _, p := range s.platforms() {
		if why := p.Capabilities().NoIsolation; why != "" {
			return why
		}
	}
	return ""
}
