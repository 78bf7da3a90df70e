package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// migrates makes the needs of a run ones whose state each contender completes.
func migrates(note string, err error) func(*fakeRun) {
	return func(f *fakeRun) {
		f.site.migrated = func(_ context.Context, of bench.Selection) (string, error) {
			return note, err
		}
	}
}

// TestRun_Migrates: a contender is started once before its first trial, before checks that launch
// it, and its needs are restored before and after that. The report has the time of that start.
func TestRun_Migrates(t *testing.T) {
	f := start(t, migrates("db: 1 command", nil))
	testenv.OK(t, f.err)
	testenv.Equal(t, f.launcher.names, []string{"a-1", "a-1-without-environment", "a-1", "b-1", "b-1-without-environment", "b-1", "b-2", "a-2"})
	testenv.Equal(t, f.site.restoredFor[:5], []string{"a", "a", "a", "b", "b"})
	var notes []string
	for _, rec := range f.records {
		if e, ok := rec.Event.(bench.PhaseEnded); ok && e.Phase == bench.PhaseMigrate {
			notes = append(notes, rec.Trial.String()+": "+e.Note+e.Err)
		}
	}
	want := ": first start with its migrations 1.00 ms; db: 1 command"
	testenv.Equal(t, notes, []string{"a-1" + want, "b-1" + want})
}

// TestRun_MigrationFails: the trial fails with its reason, and those of later rounds say so without
// another start, unless the user requests it.
func TestRun_MigrationFails(t *testing.T) {
	silent := func(f *fakeRun) {
		migrates("", nil)(f)
		f.ready(func(_ context.Context, inst bench.Instance, svc bench.Service) error {
			if svc.Name == "a" {
				return errors.New("not ready after 1m0s: connection refused")
			}
			return nil
		})
	}
	const skipped = "skipped: not migrated in round 1 (retry each round with --retry-not-ready)"
	for name, c := range map[string]struct {
		change func(*fakeRun)
		want   [2]string // failures of a
		starts int       // of a
		log    int
	}{
		"not ready": {silent, [2]string{"migration: not ready after 1m0s: connection refused; its log: java.lang.OutOfMemoryError", skipped}, 1, 1},
		"requested again": {func(f *fakeRun) { silent(f); f.cfg.RetryNotReady = true },
			[2]string{"migration: not ready after 1m0s: connection refused; its log: java.lang.OutOfMemoryError",
				"migration: not ready after 1m0s: connection refused; its log: java.lang.OutOfMemoryError"}, 2, 1},
		"it exits": {func(f *fakeRun) {
			migrates("", nil)(f)
			f.ready(func(_ context.Context, inst bench.Instance, svc bench.Service) error {
				if svc.Name == "a" {
					inst.(*fakeInstance).die(bench.Exit{Code: 3})
				}
				return nil
			})
		}, [2]string{"migration: the contender died: exit code 3: java.lang.OutOfMemoryError", skipped}, 1, 1},
		"the rest of the seed": {migrates("", errors.New("db: seed failed: command x: exit code 1")),
			[2]string{"migration: db: seed failed: command x: exit code 1", skipped}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, c.change)
			testenv.Equal(t, [2]string{f.trials["a-1"].Failure, f.trials["a-2"].Failure}, c.want)
			testenv.Equal(t, len(f.trials["a-1"].LastLog), c.log, "last log lines")
			starts := slices.DeleteFunc(slices.Clone(f.launcher.names), func(name string) bool { return name[0] != 'a' })
			testenv.Equal(t, len(starts), c.starts, starts)
			testenv.Equal(t, fmt.Sprint(f.trials["b-2"].State), map[bool]string{true: "failed", false: "complete"}[name == "the rest of the seed"])
		})
	}
}
