package app

import (
	"context"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/hostusage"
	"github.com/locbench/locbench/internal/needs"
)

// NeedsAlive returns an error if a need of a trial does not respond, with its name; without a
// trial, if one that runs throughout does not. One that did not start again is started by the next
// RestoreNeeds.
func (s *site) NeedsAlive(ctx context.Context, of bench.Trial) (name string, err error) {
	all := s.needsOf(of)
	if of == (bench.Trial{}) {
		all = s.throughout()
	}
	_, unrestored := s.unrestored.Load(s.seatOf(of))
	for _, n := range all {
		if n.Restarts && unrestored {
			continue
		}
		if err := n.Need.Alive(ctx); err != nil {
			return n.Label(), err
		}
	}
	return "", nil
}

// RestoreNeeds restores each need for the next trial, and returns what had changed. If contenders
// have their needs for themselves, those of the others are left alone; otherwise needs that the
// next contender does not get rest. It calls starts for those that start again, unless no contender
// has got their addresses since, or no trial follows.
func (s *site) RestoreNeeds(ctx context.Context, ended, next bench.Trial, starts func(need string)) (string, error) {
	var all []string
	none, of := bench.Selection{}, selection(next)
	seat := s.seatOf(next)
	if of == none {
		seat = s.seatOf(ended)
	}
	s.unrestored.Store(seat, true)
	restore := func(n needs.Named, of bench.Selection) error {
		changed, err := n.Need.Restore(ctx, of)
		if changed != "" {
			all = append(all, n.Label()+": "+changed)
		}
		return withLabel(n, err)
	}
	here := s.needs
	if s.own != nil {
		here = s.own[seat].needs
		if before := s.seatOf(ended); before != seat {
			for _, n := range slices.Backward(s.own[before].needs) {
				if err := restore(n, none); err != nil {
					return "", err
				}
			}
		}
	}
	for _, n := range slices.Backward(here) {
		if of != none && n.Gets(of) {
			continue
		}
		if err := restore(n, none); err != nil {
			return "", err
		}
		if of == none {
			continue
		}
		s.restored.Delete(n.Need)
		if err := withLabel(n, n.Need.Rest(ctx)); err != nil {
			return "", err
		}
	}
	for _, n := range here {
		if of == none || !n.Gets(of) {
			continue
		}
		if _, restored := s.restored.Swap(n.Need, true); n.Restarts && !restored {
			starts(n.Name)
		}
		if err := restore(n, of); err != nil {
			s.restored.Delete(n.Need)
			return "", err
		}
	}
	s.unrestored.Delete(seat)
	return strings.Join(all, "; "), nil
}

// Unmigrated reports whether a contender has to be started for the state of a need.
func (s *site) Unmigrated(of bench.Trial) bool {
	return slices.ContainsFunc(s.needsOf(of), func(n needs.Named) bool { return n.Unmigrated(selection(of)) != nil })
}

// Migrated completes the states of the needs for which a contender was started.
func (s *site) Migrated(ctx context.Context, of bench.Trial, progress func(bench.Progress)) (string, error) {
	var all []string
	for _, n := range s.needsOf(of) {
		m := n.Unmigrated(selection(of))
		if m == nil {
			continue
		}
		note, err := m.Migrated(ctx, selection(of), progress)
		if err != nil {
			return "", withLabel(n, err)
		}
		if note != "" {
			all = append(all, n.Label()+": "+note)
		}
	}
	return strings.Join(all, "; "), nil
}

// ReadHost reads the counters of the host and of the needs of a trial.
func (s *site) ReadHost(_ context.Context, of bench.Trial) *bench.HostReading {
	return &bench.HostReading{Host: hostusage.Host(), Needs: usageOf(s.needsOf(of))}
}

func usageOf(all []needs.Named) (usage map[string]*bench.NeedUsage) {
	for _, n := range all {
		if u := n.Need.Read(); u != nil {
			if usage == nil {
				usage = map[string]*bench.NeedUsage{}
			}
			usage[n.Name] = u
		}
	}
	return usage
}
