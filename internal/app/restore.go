package app

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/host/hostusage"
	"github.com/locbench/locbench/internal/host/thread"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/run/runner"
)

// NeedsAlive returns an error if a need of a trial does not respond, with its name; without a
// trial, if one that runs throughout does not. One that did not start again is started by the next
// RestoreNeeds.
func (s *needset) NeedsAlive(ctx context.Context, of bench.Trial) (name string, err error) {
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

// RestoreTimeout returns how long RestoreNeeds may take: as the slowest need, since they are restored
// at the same time.
func (s *needset) RestoreTimeout() time.Duration {
	longest := needs.RestoreTimeout
	for _, n := range s.all {
		if slow, ok := n.Need.(needs.Slow); ok {
			longest = max(longest, slow.RestoreTimeout())
		}
	}
	return longest
}

// RestoreNeeds restores each need for the next trial, and returns what had changed. If contenders
// have needs for themselves, those of the others are left alone; otherwise needs that the next
// contender does not get rest. Those that start again are reported, unless no contender has got
// their addresses since, or no trial follows.
func (s *needset) RestoreNeeds(ctx context.Context, r runner.Restore) (string, error) {
	seat, before, of := s.seatOf(r.Next), s.seatOf(r.Ended), selection(r.Next)
	if of == (bench.Selection{}) {
		seat = before
	}
	s.unrestored.Store(seat, true)
	here := s.all
	var changes []string
	if s.own != nil {
		here = s.own[seat].needs
		if before != seat {
			changed, err := look(ctx, s.own[before].needs)
			if changes = append(changes, changed...); err != nil {
				return "", err
			}
		}
	}
	resting := slices.DeleteFunc(slices.Clone(here), func(n needs.Named) bool {
		return of != (bench.Selection{}) && n.Gets(of)
	})
	changed, err := look(ctx, resting)
	if changes = append(changes, changed...); err != nil {
		return "", err
	}
	if of != (bench.Selection{}) {
		for _, n := range slices.Backward(resting) {
			s.restored.Delete(n.Need)
			if err := withLabel(n, n.Need.Rest(ctx)); err != nil {
				return "", err
			}
		}
		changed, err := s.restoreFor(ctx, r)
		if changes = append(changes, changed...); err != nil {
			return "", err
		}
	}
	s.unrestored.Delete(seat)
	return strings.Join(changes, "; "), nil
}

// look returns how needs have changed, the last one first, and the error of one that has ended.
func look(ctx context.Context, all []needs.Named) (changes []string, err error) {
	for _, n := range slices.Backward(all) {
		changed, err := n.Need.Restore(ctx, bench.Selection{})
		if err != nil {
			return changes, withLabel(n, err)
		}
		if changed != "" {
			changes = append(changes, n.Label()+": "+changed)
		}
	}
	return changes, nil
}

// restoreFor restores the needs for the next trial, and those that the contenders of the trials
// soon after it have for themselves: all at the same time, since most of it is waiting.
func (s *needset) restoreFor(ctx context.Context, r runner.Restore) (changes []string, err error) {
	var others sync.WaitGroup
	defer others.Wait()
	next := s.needsOf(r.Next)
	for _, n := range next {
		if _, restored := s.restored.Load(n.Need); n.Restarts && !restored {
			r.Starts(n.Name)
		}
	}
	for _, trial := range r.Soon {
		if own := s.ownOf(trial); len(own) > 0 {
			others.Go(func() { _, _ = s.restoreEach(ctx, own, selection(trial)) }) // reported when it is the next one
		}
	}
	return s.restoreEach(ctx, next, selection(r.Next))
}

// restoreEach restores needs at the same time, each after those that it comes after, and returns
// how they had changed. Its error is that of the first one in their order.
func (s *needset) restoreEach(ctx context.Context, all []needs.Named, of bench.Selection) (changes []string, err error) {
	done := map[string]chan struct{}{}
	for _, n := range all {
		done[n.Name] = make(chan struct{})
	}
	changed, errs := make([]string, len(all)), make([]error, len(all))
	var failed atomic.Bool
	var restoring sync.WaitGroup
	for i, n := range all {
		restoring.Go(func() {
			defer close(done[n.Name])
			for _, before := range n.After {
				if ready := done[before]; ready != nil {
					<-ready
				}
			}
			if failed.Load() {
				return
			}
			s.restored.Store(n.Need, true)
			if changed[i], errs[i] = n.Need.Restore(ctx, of); errs[i] != nil {
				failed.Store(true)
				s.restored.Delete(n.Need)
			}
		})
	}
	restoring.Wait()
	for i, n := range all {
		if errs[i] != nil {
			return nil, withLabel(n, errs[i])
		}
		if changed[i] != "" {
			changes = append(changes, n.Label()+": "+changed[i])
		}
	}
	return changes, nil
}

// Unmigrated reports whether a contender has to be started for the state of a need.
func (s *needset) Unmigrated(of bench.Trial) bool {
	return slices.ContainsFunc(s.needsOf(of), func(n needs.Named) bool { return n.Unmigrated(selection(of)) != nil })
}

// Migrated completes the states of the needs for which a contender was started.
func (s *needset) Migrated(ctx context.Context, of bench.Trial, progress func(bench.Progress)) (string, error) {
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

// observer reads the host and the needs.
type observer struct {
	*needset
	traffic *traffic
}

// Judge returns warnings about what other than the contender may have limited a step.
func (observer) Judge(res bench.StepResult, inst bench.InstanceInfo) bench.Warnings {
	if inst.PID == 0 {
		return nil // not on this machine
	}
	return verdict.OnThisMachine(res, inst, runtime.NumCPU())
}

// WatchStalls starts to watch for machine stalls.
func (o observer) WatchStalls() runner.Stalls {
	if t := o.traffic; t != nil && t.process != nil && !t.checking() {
		return t.process.WatchStalls()
	}
	return thread.WatchStalls(thread.LookEvery)
}

// ReadHost reads the counters of the host and of the needs of a trial.
func (s *needset) ReadHost(_ context.Context, of bench.Trial) *bench.HostReading {
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
