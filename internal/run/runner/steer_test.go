package runner

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// pausedBefore pauses a run before a step of its first trial; then is called after five minutes, at
// the end of every pause.
func (f *fakeRun) pausedBefore(index int, then func()) {
	f.sendIn(index-1, bench.ControlPause)
	steer := f.on
	f.on = func(rec bench.Record) {
		if steer(rec); bench.EventName(rec.Event) == "paused" {
			time.Sleep(5 * time.Minute)
			then()
		}
	}
}

// TestControls: what is left of a run that the user has controlled, in testdata/controls.
func TestControls(t *testing.T) {
	untilDone := func(ctx context.Context, _ bench.Step) (bench.Load, error) {
		<-ctx.Done()
		return bench.Load{}, ctx.Err()
	}
	sendIn := func(trials, index int, kind bench.ControlKind) func(*fakeRun) {
		return func(f *fakeRun) {
			f.cfg.Dir = "out"
			f.only(trials)
			f.sendIn(index, kind)
		}
	}
	// The pause before the third step of the first trial ends with then. It holds before the next trial.
	endOfPause := func(then func(f *fakeRun)) func(*fakeRun) {
		return func(f *fakeRun) {
			f.only(2)
			first := true
			f.pausedBefore(2, func() {
				if first {
					first = false
					then(f)
					return
				}
				f.send(bench.ControlResume)
			})
		}
	}
	beforeTheLoad := func(kind bench.ControlKind) func(*fakeRun) {
		return func(f *fakeRun) {
			f.site.stages[0].Do = func(ctx context.Context, _ func(bench.Progress)) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			}
			f.on = func(rec bench.Record) {
				if bench.EventName(rec.Event) == "phase_started" {
					f.send(kind)
				}
			}
		}
	}
	// A control during the stop of a contender that has exited does not hide why the trial failed.
	whileATrialEnds := func(kind bench.ControlKind) func(*fakeRun) {
		return func(f *fakeRun) {
			f.only(2)
			taken := make(chan struct{})
			f.site.checks = slowEnd{fakeChecks{}, taken}
			f.site.engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
				f.launcher.last().die(bench.Exit{Code: 137})
				return untilDone(ctx, step)
			})
			f.on = func(rec bench.Record) {
				switch e := rec.Event.(type) {
				case bench.PhaseStarted:
					if e.Phase == bench.PhaseStop && *rec.Trial == f.cfg.Run.Trials[0].Trial {
						f.send(kind)
					}
				case bench.ChangedManually:
					close(taken)
				}
			}
		}
	}
	outcomes(t, "controls", map[string]func(*fakeRun){
		"a step is skipped":      sendIn(2, 1, bench.ControlSkipStep),
		"a contender is skipped": sendIn(4, 1, bench.ControlSkipContender),
		"every step is skipped": func(f *fakeRun) {
			f.only(1)
			f.site.engine = fakeEngine(untilDone)
			f.on = func(rec bench.Record) {
				if bench.EventName(rec.Event) == "step_started" {
					f.send(bench.ControlSkipStep)
				}
			}
		},
		"a starting contender is skipped": func(f *fakeRun) {
			f.only(1)
			f.ready(func(ctx context.Context, _ bench.Instance, _ bench.Service) error {
				<-ctx.Done()
				return ctx.Err()
			})
			f.on = func(rec bench.Record) {
				if e, ok := rec.Event.(bench.PhaseStarted); ok && e.Phase == bench.PhaseReady {
					f.send(bench.ControlSkipContender)
				}
			}
		},
		"stop in a step":                        sendIn(4, 1, bench.ControlStop),
		"stop in the last step of the run":      sendIn(1, 2, bench.ControlStop),
		"stop in the last step of a trial":      sendIn(2, 2, bench.ControlStop),
		"stop before anything is measured":      beforeTheLoad(bench.ControlStop),
		"abort before anything is measured":     beforeTheLoad(bench.ControlAbort),
		"stop while a trial ends":               whileATrialEnds(bench.ControlStop),
		"a contender skipped while it ends":     whileATrialEnds(bench.ControlSkipContender),
		"a pause ends with an exit":             endOfPause(func(f *fakeRun) { f.launcher.last().die(bench.Exit{Code: 7}) }),
		"a pause ends with stop":                endOfPause(func(f *fakeRun) { f.send(bench.ControlStop) }),
		"a pause ends with abort":               endOfPause(func(f *fakeRun) { f.send(bench.ControlAbort) }),
		"a pause ends with a skipped contender": endOfPause(func(f *fakeRun) { f.send(bench.ControlSkipContender) }),
		"an interruption ends a pause": func(f *fakeRun) {
			f.ready(func(context.Context, bench.Instance, bench.Service) error {
				f.send(bench.ControlPause)
				time.Sleep(time.Millisecond) // of virtual time: the pause is requested before it is over
				return nil
			})
			f.on = func(rec bench.Record) {
				if _, ok := rec.Event.(bench.Paused); ok {
					f.interrupt(errors.New("the screen is gone"))
				}
			}
		},
		"controls in a pause": func(f *fakeRun) {
			f.only(1)
			f.pausedBefore(1, func() {
				f.send(bench.ControlPause)
				f.send(bench.ControlSkipStep)
				f.controls <- bench.Control{Kind: "rate"}
				f.send(bench.ControlResume)
				f.send(bench.ControlResume)
			})
		},
	})
}

// hookEngine is an engine that passes the hooks to run.
type hookEngine struct {
	run func(ctx context.Context, step bench.Step, hooks Hooks) (bench.Load, error)
}

func (e *hookEngine) Rest(Place) {}

func (e *hookEngine) Run(ctx context.Context, _ Place, step bench.Step, hooks Hooks) (bench.Load, error) {
	return e.run(ctx, step, hooks)
}

// slowEnd are checks; those after the stop wait until taken is closed.
type slowEnd struct {
	fakeChecks
	taken <-chan struct{}
}

func (s slowEnd) Stopped(stop bench.StopResult) []bench.CheckResult {
	<-s.taken
	return s.fakeChecks.Stopped(stop)
}
