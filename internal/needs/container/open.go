package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/compose"
)

// Open starts the service with empty volumes, and returns when it is ready. Its image runs the
// files of its seed meanwhile.
func (n *Need) Open(ctx context.Context, at needs.Place) (err error) {
	if at.Progress == nil {
		at.Progress = func(bench.Progress) {}
	}
	if at.Warn == nil {
		at.Warn = func(bench.Warning) {}
	}
	if at.Hide == nil {
		at.Hide = func(...string) {}
	}
	if at.Getenv == nil {
		at.Getenv = func(string) string { return "" }
	}
	n.at = at
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", n.name, errors.Join(err, n.Close(ctx)))
		}
	}()
	if n.external() {
		return n.reach(ctx)
	}
	if n.engine = at.Containers; n.engine == nil {
		return errors.New("it runs in a container, and no Docker engine is in use; see 'locbench doctor'")
	}
	if n.preset.Apart && at.Network.Host == "" {
		return fmt.Errorf("clients of %s connect to the name that it gives them, which only containers find; use --runtime docker",
			cmp.Or(n.spec.Like, compose.ImageName(n.spec.Image)))
	}
	if err = n.fillIn(); err != nil {
		return err
	}
	if n.spec.Dockerfile != "" {
		image, err := at.Build(ctx, n.name, string(n.spec.Dockerfile), at.Progress)
		if err != nil {
			return err
		}
		n.mu.Lock()
		n.spec.Image = image
		n.mu.Unlock()
	}
	if n.image, err = n.engine.Image(ctx, n.spec.Image, at.Progress); err != nil {
		return err
	}
	if n.image.Emulated {
		return fmt.Errorf("image %s is for another architecture than this machine's; emulated, it is not fit for measuring", n.spec.Image)
	}
	if n.ports, err = n.portsOf(); err != nil {
		return err
	}
	if err = n.findImages(ctx); err != nil {
		return err
	}
	n.mu.Lock()
	digits := strings.TrimPrefix(n.image.ID, "sha256:")
	n.version = digits[:min(len(digits), 12)]
	n.mu.Unlock()
	paths, err := n.paths()
	if err != nil {
		return err
	}
	n.kept = map[bench.Selection]bool{}
	if err = n.make(ctx, n.label(), paths); err != nil {
		return err
	}
	if err = n.start(ctx, true); err != nil {
		return err
	}
	n.at.Progress = restores(at.Progress)
	return nil
}

// restores returns progress as that of restoring.
func restores(progress func(bench.Progress)) func(bench.Progress) {
	return func(p bench.Progress) {
		if p.Phase = bench.PhaseRestore; progress != nil {
			progress(p)
		}
	}
}

// fillIn fills the variables of locbench into the texts of the service and its environment.
func (n *Need) fillIn() error {
	f := &compose.Filler{Getenv: n.at.Getenv, Hide: n.at.Hide}
	s, err := n.spec.Filled(f)
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.spec = s
	n.mu.Unlock()
	n.env, err = s.Environ(f)
	return err
}

var _ needs.Imaged = (*Need)(nil)

// Images returns the images of the service, and of the containers that run once.
func (n *Need) Images() []bench.NeedPart { return n.images }

// findImages finds the images of the containers that run once, before a seed begins.
func (n *Need) findImages(ctx context.Context) error {
	if n.spec.Image != "" && n.spec.Dockerfile == "" {
		n.images = append(n.images, bench.NeedPart{Key: "image", Image: n.spec.Image, Hash: n.image.ID})
	}
	for i, one := range n.spec.Seed {
		if one.Image == "" {
			continue
		}
		image, err := n.engine.Image(ctx, one.Image, n.at.Progress)
		if err != nil {
			return err
		}
		n.images = append(n.images, bench.NeedPart{Key: fmt.Sprintf("seed[%d].image", i), Image: one.Image, Hash: image.ID})
	}
	return nil
}

var _ needs.Copies = (*Need)(nil)

// Copy keeps the state after the seed, and returns a need for each place that starts from it.
func (n *Need) Copy(ctx context.Context, at []needs.Place) (all []needs.Need, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", n.name, err)
		}
	}()
	if n.engine == nil {
		return nil, errors.New("it is not open")
	}
	if !n.kept[shared] {
		if err := n.keepSeeded(ctx, shared); err != nil {
			n.broken = err
			return nil, fmt.Errorf("%w, or `interleave: off`", err)
		}
	}
	for _, place := range at {
		place.Progress = restores(place.Progress)
		if place.Warn == nil {
			place.Warn = func(bench.Warning) {}
		}
		c := &Need{
			from: n.from, pace: n.pace, service: n.service, took: n.took, unenforced: n.unenforced, version: n.version,
			copied: true, state: state{engine: place.Containers, kept: n.kept},
		}
		c.at = place
		for _, d := range n.data {
			c.data = append(c.data, &data{path: d.path, seeded: d.seeded})
		}
		all = append(all, c)
	}
	return all, nil
}
