package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestRun_DataChanges: documents removed during a trial, even a failed one, are an incident of it.
// Those removed between two trials are reported as a change before the second, and those of checks
// that launch the contender before it is measured. A trial fails if
// what contenders need cannot be restored before it, which launches nothing, or after it.
func TestRun_DataChanges(t *testing.T) {
	changes := []string{"", "", `index "city" held 9 documents before, and holds 0 now`, "another change", "a third", "", "", ""}
	const refused = "restore needs: db: connection refused"
	counted := 0
	f := start(t, func(f *fakeRun) {
		f.cfg.RetryNotReady = true
		f.site.change = func(context.Context) (string, error) {
			counted++
			if counted == 8 || counted == 9 {
				return "", errors.New("db: connection refused")
			}
			return changes[counted-1], nil
		}
		f.ready(func(context.Context, bench.Instance, bench.Service) error {
			if counted == 2 {
				return errors.New("not ready")
			}
			return nil
		})
	})
	testenv.Need(t, f.err != nil && counted == 9, "counted %d times, want 9: %v", counted, f.err)
	for i, measured := range []int{1: 3, 2: 3, 3: 0} {
		if i > 0 {
			trial := f.trials[f.order[i]]
			testenv.Equal(t, len(trial.Steps), measured, i+1)
			testenv.Equal(t, trial.Failure, []string{1: "", 2: refused, 3: refused}[i], i+1)
			testenv.Equal(t, trial.State == bench.TrialFailed, i > 1, i+1)
		}
	}
	for i, want := range [][]string{
		{`data changed during this trial: index "city" held 9 documents before, and holds 0 now`},
		{"data changed before this trial: another change", "data changed by these checks: a third"}, nil, nil,
	} {
		var got []string
		for _, in := range f.trials[f.order[i]].Incidents {
			got = append(got, in.String())
			testenv.Check(t, in.Kind == bench.IncidentData, "kind %s", in.Kind)
		}
		testenv.Equal(t, got, want, i+1)
	}
}

// TestRun_Restores: needs that start again are a phase of the trial, before it and after it, with
// their names. A trial without their state fails with the reason, and the next one runs.
func TestRun_Restores(t *testing.T) {
	n := 0
	f := start(t, func(f *fakeRun) {
		f.site.restarting = []string{"db", "cache"}
		f.site.change = func(context.Context) (string, error) {
			if n++; n == 4 {
				return "", errors.New("db: its volume is full")
			}
			return "", nil
		}
	})
	var states []bench.TrialState
	for _, trial := range f.order {
		states = append(states, f.trials[trial].State)
	}
	testenv.Equal(t, states, []bench.TrialState{bench.TrialComplete, bench.TrialFailed, bench.TrialComplete, bench.TrialComplete})
	testenv.Equal(t, f.trials[f.order[1]].Failure, "restore needs: db: its volume is full")
	var seen []string
	for _, r := range f.records {
		switch e := r.Event.(type) {
		case bench.PhaseStarted:
			if e.Phase == bench.PhaseRestore {
				seen = append(seen, "started")
			}
		case bench.Progress:
			if e.Phase == bench.PhaseRestore {
				seen = append(seen, e.Text)
			}
		case bench.PhaseEnded:
			if e.Phase == bench.PhaseRestore {
				seen = append(seen, fmt.Sprint(e.Note, e.Err))
			}
		}
	}
	one := []string{"started", "restoring db", "restoring cache", "db, cache"}
	testenv.Equal(t, seen[:8], slices.Concat(one, one))
	testenv.Equal(t, seen[15], "db, cacherestore needs: db: its volume is full")
	testenv.Equal(t, len(seen), 9*len(one))
}

// TestRun_RestoresFor: needs are restored for the contender of a trial before it and, unless it is
// the last one, for that of the next one after it.
func TestRun_RestoresFor(t *testing.T) {
	f := start(t, nil)
	var want []string
	for i, e := range f.cfg.Run.Trials {
		if i > 0 {
			want = append(want, e.Trial.Contender)
		}
		want = append(want, e.Trial.Contender, e.Trial.Contender)
	}
	testenv.Equal(t, slices.Compact(f.site.restoredFor), slices.Compact(append(want, "")))
	testenv.Equal(t, len(f.site.restoredFor), 2*len(f.cfg.Run.Trials)+2, "two of them after checks that launch")

	f = start(t, func(f *fakeRun) { f.sendIn(1, bench.ControlStop) })
	first := f.cfg.Run.Trials[0].Trial.Contender
	testenv.Equal(t, f.site.restoredFor, []string{first, first, ""}, "stopped in the first trial")
}

// TestRestoreNeeds_Ends: a restore has 3 minutes, and 5 seconds once the run was interrupted.
func TestRestoreNeeds_Ends(t *testing.T) {
	for name, test := range map[string]struct {
		interrupted, want time.Duration
		text              string
	}{
		"too long":    {time.Hour, 3 * time.Minute, "restore needs: not done after 3m; a longer one needs `restore_timeout`: db: context deadline exceeded"},
		"interrupted": {time.Second, 6 * time.Second, "restore needs: db: context canceled"},
		"before":      {0, 5 * time.Second, "restore needs: db: context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				site := &fakeSite{change: func(ctx context.Context) (string, error) {
					<-ctx.Done()
					return "", fmt.Errorf("db: %w", ctx.Err())
				}}
				run, end := context.WithTimeout(t.Context(), test.interrupted)
				defer end()
				l := &trialRun{cfg: &Config{Needs: site}}
				began := time.Now()
				testenv.Fails(t, l.restoreNeeds(run, Restore{}, "before this trial"), test.text)
				testenv.Equal(t, time.Since(began), test.want)
			})
		})
	}
}

// TestNeedIncidents: what others do to a need in a trial is an incident of the trial, and it is
// watched only as long as the trial lasts.
func TestNeedIncidents(t *testing.T) {
	ended := 0
	f := start(t, func(f *fakeRun) {
		f.rounds(1)
		f.site.watch = func(report func(bench.Incident)) func() {
			report(bench.Incident{Kind: bench.IncidentNeedPaused, Text: "db: paused externally"})
			return func() { ended++ }
		}
	})
	trial := f.trials[f.order[0]]
	testenv.Equal(t, len(trial.Incidents), 1)
	testenv.Equal(t, trial.Incidents[0].Text, "db: paused externally")
	testenv.Equal(t, ended, len(f.order))
}

// TestRun_LostNeed: a need that has ended is the cause of a failed trial, whatever its contender
// did then, and it does not exclude the contender.
func TestRun_LostNeed(t *testing.T) {
	refused := func(context.Context) (bench.Load, error) {
		return bench.Load{Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{bench.ErrRefused: 100}}}, nil
	}
	for name, c := range map[string]struct {
		load    func(f *fakeRun) (bench.Load, error)
		failure string
	}{
		"errors": {func(*fakeRun) (bench.Load, error) { return refused(context.Background()) }, "lost db: it has ended"},
		"the contender ends too": {func(f *fakeRun) (bench.Load, error) {
			f.launcher.last().die(bench.Exit{Code: 1})
			return refused(context.Background())
		}, "lost db: it has ended; the contender died: exit code 1"},
		"some success": {func(*fakeRun) (bench.Load, error) {
			return bench.Load{Outcomes: bench.Outcomes{Succeeded: 10, Failed: map[bench.ErrorKind]int64{bench.ErrRefused: 90}}}, nil
		}, "lost db: it has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, func(f *fakeRun) {
				f.rounds(2)
				ended, loads := false, 0
				f.load(4, func(context.Context) (bench.Load, error) {
					if loads++; loads > 1 { // in the second trial
						return good(context.Background(), bench.Step{})
					}
					ended = true
					return c.load(f)
				})
				f.site.alive = func(context.Context) error {
					if ended {
						return errors.New("it has ended")
					}
					return nil
				}
				f.site.change = func(context.Context) (string, error) { // it starts again
					ended = false
					return "", nil
				}
			})
			lost := f.trials["a-1"]
			testenv.Check(t, strings.HasPrefix(lost.Failure, c.failure), "%s", lost.Failure)
			testenv.Check(t, lost.Cause != nil && lost.Cause.Kind == bench.CauseNeed, "%+v", lost.Cause)
			for _, rec := range f.records {
				if e, ok := rec.Event.(bench.TrialEnded); ok && e.Excluded != nil && rec.Trial.Round == 1 {
					t.Errorf("%s is excluded: %s", rec.Trial, e.Excluded)
				}
			}
			testenv.Equal(t, f.trials["a-2"].State, bench.TrialComplete, f.trials["a-2"].Failure)
		})
	}
}

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

// needObserver reads one need.
type needObserver struct{ noObserver }

func (needObserver) ReadHost(context.Context, bench.Trial) *bench.HostReading {
	return &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: time.Now(), Source: "cgroup v2"}}}
}

// Each reading of the contender in a step has those of its needs.
func TestNeedsAreReadInASecond(t *testing.T) {
	f := start(t, func(f *fakeRun) {
		f.rounds(1)
		f.cfg.Observer = needObserver{}
		f.site.engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
			time.Sleep(3500 * time.Millisecond)
			return good(ctx, step)
		})
	})
	readings := 0
	for _, rec := range f.records {
		if read, ok := rec.Event.(bench.UsageRead); ok {
			readings++
			testenv.Check(t, read.Needs["db"] != nil, "a reading without the need: %+v", read)
		}
	}
	testenv.Check(t, readings >= 9, "%d readings in three steps of 3.5 s", readings)
}
