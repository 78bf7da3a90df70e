package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/host/hostusage"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/store"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/seed"
	"github.com/locbench/locbench/internal/text/safe"
)

// openStore opens the store and gives it an address that contenders can reach.
func (s *site) openStore(ctx context.Context, progress func(bench.Progress)) (string, error) {
	if phrases := machine.LoadWarnings(s.plan.Run.Machine); len(phrases) > 0 {
		text := "results may be off: " + strings.Join(phrases, "; ") + "; see 'locbench doctor'"
		s.warn(bench.Warning{Kind: bench.WarnMachineState, Text: text})
	}
	var err error
	if s.plan.Run.Profile.DrawsIDs() {
		if s.responses.ids, err = s.data.IDs(ctx); err != nil {
			return "", fmt.Errorf("read the ids of the data set: %w", err)
		}
	}
	if s.plan.Run.Profile.CompareBodies > 0 {
		if s.responses.known, err = dataset.NewResponses(s.data, s.plan.Run.Profile.Requests); err != nil {
			return "", err
		}
	}
	s.platform.Allow(s.isolation.all)
	opts := store.Options{Seed: s.plan.Run.Seed, RunID: s.plan.Run.ID}
	if s.containers != nil {
		opts.Containers = s.containers.Containers(s.isolation.sets.Store, progress)
	}
	spec := s.plan.Run.Profile.Store
	spec.URL = s.plan.storeURL
	if s.store, err = store.Open(ctx, spec, opts); err != nil {
		return "", err
	}
	if s.plan.Run.Profile.Store.Kind.Traits().None {
		s.prepared()
		if !s.platform.Capabilities().Store {
			return "", nil // a target may have a store that locbench does not know
		}
		return "none", nil
	}
	if s.elastic, err = s.platform.Reach(s.store); err != nil {
		return "", err
	}
	s.readStoreUsage()
	for _, w := range s.store.Warnings() {
		s.warn(w)
	}
	s.prepared()
	info := s.store.Info()
	return fmt.Sprintf("%s, Elasticsearch %s", info.Kind, info.Version), nil
}

// readStoreUsage opens the counters of the store, if it can.
func (s *site) readStoreUsage() {
	var err error
	if work, ok := s.store.Work(); ok {
		s.usage = hostusage.Embedded(work)
	} else if s.store.Info().Kind.Traits().Container {
		if s.usage, err = hostusage.Container(s.store.PID()); err == nil {
			s.usage.KeptTo(len(s.isolation.sets.Store))
		}
	} else {
		s.usage, err = hostusage.Address(s.store.URL())
	}
	if err != nil {
		s.usage = nil
	}
}

func (s *site) prepared() {
	s.plan.Run.Store = s.store.Info()
	s.plan.Run.Software.Elasticsearch = s.plan.Run.Store.Version
	s.stream.Publish(nil, bench.Prepared{Store: s.plan.Run.Store, Software: s.plan.Run.Software})
}

// NeedsAlive returns an error if the store does not respond.
func (s *site) NeedsAlive(ctx context.Context) error {
	if s.store == nil {
		return nil
	}
	return s.store.Alive(ctx)
}

// fillStore seeds this run's own store. It only verifies the data of an external store: only
// 'locbench seed' writes to that.
func (s *site) fillStore(ctx context.Context, progress func(bench.Progress)) (string, error) {
	traits := s.store.Info().Kind.Traits()
	if traits.ByURL {
		return s.verifyData(ctx)
	}
	var total int64
	for _, i := range s.data.Indices() {
		total += i.Count
	}
	report := func(done int64) { progress(bench.Progress{Done: done, Total: total, Unit: "documents"}) }
	fill := s.seedStore
	if traits.InClient {
		fill = s.fillEmbedded
	}
	if err := fill(ctx, report); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s data, %s documents", s.data.Info().Name, units.Count(total)), nil
}

func (s *site) fillEmbedded(ctx context.Context, report func(done int64)) error {
	for _, i := range s.data.Indices() {
		for _, note := range i.Notes {
			s.warn(note)
		}
	}
	return s.store.Fill(ctx, s.data, report)
}

// seedStore seeds this run's own store over HTTP, and makes it read-only.
func (s *site) seedStore(ctx context.Context, report func(done int64)) error {
	if err := s.store.Unseal(ctx); err != nil { // --resume finds it read-only
		return err
	}
	onProgress := func(p seed.Progress) { report(p.Done) }
	res, err := seed.Run(ctx, seed.Options{URL: s.store.URL(), Set: s.data, OnProgress: onProgress})
	if err != nil {
		return err
	}
	for _, w := range res.Warnings {
		s.warn(w)
	}
	return s.store.Seal(ctx)
}

// NeedsChange counts the documents of the store and returns a phrase for the indices whose number
// has changed since the last call; "" if none has. An embedded store cannot be changed from
// outside.
func (s *site) NeedsChange(ctx context.Context) (string, error) {
	if s.store == nil {
		return "", nil
	}
	if t := s.store.Info().Kind.Traits(); t.None || t.InClient {
		return "", nil
	}
	var changed []string
	counts := map[string]int64{}
	for _, index := range s.data.Indices() {
		n, err := s.store.Count(ctx, index.Name)
		if err != nil && !errors.Is(err, store.ErrNoIndex) {
			return "", err
		}
		counts[index.Name] = n
		if before, ok := s.counts[index.Name]; ok && before != n {
			changed = append(changed, fmt.Sprintf("index %q had %s documents, now %s",
				index.Name, units.Count(before), units.Count(n)))
		}
	}
	s.counts = counts
	return strings.Join(changed, "; "), nil
}

// verifyData compares the number of documents of each index with the data set's. Other numbers are
// a warning, since the user may intend them; an empty index is an error.
func (s *site) verifyData(ctx context.Context) (string, error) {
	var total int64
	for _, index := range s.data.Indices() {
		n, err := s.store.Count(ctx, index.Name)
		if errors.Is(err, store.ErrNoIndex) || err == nil && n == 0 {
			return "", fmt.Errorf("the store's index %q is empty; seed it with: %s", index.Name, s.seedCommand())
		}
		if err != nil {
			return "", err
		}
		if n != index.Count {
			s.warn(bench.Warning{Text: fmt.Sprintf(
				"index %q has %s documents, data set %s has %s: requests may miss ids and checks may fail (fix: %s)",
				index.Name, units.Count(n), s.data.Info().Name, units.Count(index.Count), s.seedCommand())})
		}
		total += n
	}
	return fmt.Sprintf("found %s documents", units.Count(total)), nil
}

// seedCommand returns the command that seeds the store.
func (s *site) seedCommand() string {
	return safe.Shell([]string{"locbench", "seed", "--elastic", s.store.Info().URL})
}
