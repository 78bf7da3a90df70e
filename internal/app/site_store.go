package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/cpuset"
	"locbench/internal/elastic/store"
	"locbench/internal/hostusage"
	"locbench/internal/locations/oracle"
)

// openStore opens the store and gives it an address that contenders can reach.
func (s *site) openStore(ctx context.Context, progress func(bench.Progress)) (string, error) {
	s.warnUnrest()
	var err error
	if slices.ContainsFunc(s.plan.Profile.Requests, func(r bench.Request) bool { return strings.Contains(r.Path, "{id}") }) {
		if s.ids, err = s.data.IDs(ctx); err != nil {
			return "", fmt.Errorf("read the ids of the data set: %w", err)
		}
	}
	if s.plan.Profile.Validate > 0 {
		if s.known, err = oracle.New(s.data, s.plan.Profile.Requests); err != nil {
			return "", err
		}
	}
	s.platform.Allow(s.apart.all)
	opts := store.Options{Seed: s.plan.Seed, RunID: s.plan.ID}
	if s.containers != nil {
		opts.Containers = s.containers.Containers(s.apart.store, progress)
	}
	if s.store, err = store.Open(ctx, s.plan.Profile.Store, opts); err != nil {
		return "", err
	}
	if s.plan.Profile.Store.Kind.Traits().None {
		s.prepared()
		if !s.platform.Capabilities().Store {
			return "", nil // whether a service of somebody else has one is not known
		}
		return "none", nil
	}
	if s.elastic, err = s.platform.Reach(s.store); err != nil {
		return "", err
	}
	s.readStoreUsage()
	for _, w := range s.store.Warnings() {
		s.warn(bench.Finding{Text: w})
	}
	s.prepared()
	info := s.store.Info()
	return fmt.Sprintf("%s, Elasticsearch %s", info.Kind, info.Version), nil
}

// readStoreUsage finds a way to read what the store uses. Without one a step that the store has
// bound may not be reported as such.
func (s *site) readStoreUsage() {
	var err error
	if work, ok := s.store.Work(); ok {
		s.usage = hostusage.Embedded(work)
	} else if s.store.Info().Kind.Traits().Container {
		if s.usage, err = hostusage.Container(s.store.PID()); err == nil {
			cpus, _ := cpuset.Parse(s.apart.store)
			s.usage.KeptTo(len(cpus))
		}
	} else {
		s.usage, err = hostusage.Address(s.store.URL())
	}
	if err != nil {
		s.usage = nil
	}
}

func (s *site) prepared() {
	s.plan.Store = s.store.Info()
	s.plan.Software.Elasticsearch = s.plan.Store.Version
	s.stream.Publish(nil, bench.Prepared{Store: s.plan.Store, Software: s.plan.Software})
}

// storeAlive asks the store for a sign of life.
func (s *site) storeAlive(ctx context.Context) error {
	if s.store == nil {
		return nil
	}
	return s.store.Alive(ctx)
}
