package container

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
)

var _ needs.Copies = (*Need)(nil)

// traits returns what a run knows of a service. Interleaved contenders would share an external one,
// which locbench does not start, and what is in memory, which cannot be copied.
func traits(n bench.NeedSpec) needs.Traits {
	s := specOf(n)
	t := needs.Traits{After: s.After, Hosts: append(slices.Clone(s.Aliases), s.Hostname),
		Restarts: n.From.Traits().Container && !s.Keep}
	lasts := func(t needs.TmpfsPath) bool { return !passes(t.Path()) }
	switch {
	case n.From.Traits().ByURL:
		t.Shared = "is external, and interleaved contenders would share its connections"
	case s.Keep && s.Seed != nil && (slices.ContainsFunc(s.Tmpfs, lasts) || s.inMemory(s.Environment) != ""):
		t.Shared = "keeps its data in memory (keep), which cannot be copied, and interleaved contenders would share it"
	default:
		t.Own, t.Memory = true, int64(s.Limits.Memory)
	}
	return t
}

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
	if !n.state.kept[shared] {
		if err := n.keepSeeded(ctx, shared); err != nil {
			n.state.broken = err
			return nil, fmt.Errorf("%w, or `interleave: off`", err)
		}
	}
	if _, err := n.room(ctx, shared, len(at)); err != nil {
		return nil, err
	}
	for _, place := range at {
		c := &Need{
			name: n.name, from: n.from, spec: n.spec, preset: n.preset, pace: n.pace,
			image: n.image, ports: n.ports, env: n.env, took: n.took, unenforced: n.unenforced, version: n.version,
			engine: place.Containers, copied: true, state: state{kept: n.state.kept},
		}
		for _, d := range n.state.data {
			c.state.data = append(c.state.data, &data{path: d.path, seeded: d.seeded})
		}
		progress := place.Progress
		place.Progress = func(p bench.Progress) {
			if p.Phase = bench.PhaseRestore; progress != nil {
				progress(p)
			}
		}
		if place.Warn == nil {
			place.Warn = func(bench.Warning) {}
		}
		c.at = place
		all = append(all, c)
	}
	return all, nil
}

// label is the name of the need in the engine: "db", or "db-bookings" of one that a contender has
// for itself.
func (n *Need) label() string {
	if n.at.Of == "" {
		return n.name
	}
	return n.name + "-" + n.at.Of
}
