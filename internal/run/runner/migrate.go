package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// migrate starts the contender once, before its first trial, if that completes the seeded state of
// a need: until it is ready, then it is stopped. So its trials begin with that state, and their
// start-up time is not that of a migration.
func (l *trialRun) migrate(ctx context.Context) error {
	if !l.cfg.Needs.Unmigrated(*l.trial) {
		return nil
	}
	if err := l.restoreNeeds(ctx, Restore{Next: *l.trial}, "before this trial"); err != nil {
		return err
	}
	return l.phase(bench.PhaseMigrate, func() (string, error) {
		began := time.Now()
		up, err := l.startOnce(ctx)
		if err != nil {
			return "", fmt.Errorf("migration: %w", err)
		}
		note, err := l.cfg.Needs.Migrated(ctx, *l.trial, func(p bench.Progress) {
			p.Phase = bench.PhaseMigrate
			l.publish(p)
		})
		if err != nil {
			return "", fmt.Errorf("migration: %w", err)
		}
		all := []string{"first start with its migrations " + units.Duration(cmp.Or(up.StartUp, time.Since(began)))}
		if note != "" {
			all = append(all, note)
		}
		return strings.Join(all, "; "), nil
	})
}

// startOnce starts the contender, waits until it is ready, and stops it. It remains the instance
// of the trial only if it failed: then its log says why.
func (l *trialRun) startOnce(ctx context.Context) (up bench.InstanceReady, err error) {
	spec, err := l.cfg.Launcher.Spec(*l.trial, l.svc, l.artifact)
	if err != nil {
		return up, err
	}
	l.relayLog()
	spec.OnLog = l.logs.add
	inst, err := l.cfg.Launcher.Launch(ctx, spec)
	if err != nil {
		return up, err
	}
	l.inst = inst
	up, err = l.cfg.Launcher.Ready(ctx, inst, l.svc, func(level, text string) {
		if level == "" {
			l.publish(bench.Progress{Phase: bench.PhaseMigrate, Text: clip(text, progressBytes)})
		}
	})
	if TimedOut(err) && ctx.Err() == nil {
		err = causeError{bench.Cause{Kind: bench.CauseNotReady, Text: clip(err.Error(), progressBytes)}}
	}
	if exit := inst.Exit(); exit != nil {
		l.died = l.explained(exit)
		err = l.exitError(exit)
	}
	stop, stopErr := inst.Stop(context.WithoutCancel(ctx), l.cfg.Grace)
	l.logs.flush(true)
	switch {
	case err != nil || stopErr != nil:
		return up, errors.Join(err, stopErr)
	case stop.Exit.OOMKilled:
		l.died = l.explained(&stop.Exit)
		return up, l.exitError(&stop.Exit)
	}
	l.inst = nil
	return up, nil
}
