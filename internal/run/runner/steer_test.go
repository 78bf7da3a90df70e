package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
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

type timeoutError struct{ text string }

func (e timeoutError) Error() string { return e.text }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

// TestCause: in each phase, what the contender did is the cause of its failure, in the
// trial, in the reason for its exclusion, and nothing else is.
func TestCause(t *testing.T) {
	killed := bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}
	exited := bench.Exit{Code: 7}
	timeout := timeoutError{"GET /x: i/o timeout"}
	stuck := bench.Load{Outcomes: bench.Outcomes{Succeeded: 900, Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 14}}, Counts: bench.Counts{Sent: 916, Drain: 2}, Elapsed: time.Second, Backlog: 16, Windows: []bench.Window{{Succeeded: 900}}}
	responding := func(context.Context, Place) error { return nil }
	hangs := func(context.Context, Place) error { return timeout }
	notLoaded := func(context.Context, Place) error { return errors.New("not loaded: got 404") }
	steps := func(load bench.Load) fakeEngine {
		return func(context.Context, bench.Step) (bench.Load, error) { return load, nil }
	}
	ends := func(e bench.Exit, late time.Duration) map[string]func(*fakeRun) {
		die := func(f *fakeRun) error {
			if late == 0 {
				f.launcher.last().die(e)
				return errors.New("connection refused")
			}
			time.AfterFunc(late, func() { f.launcher.last().die(e) })
			return fmt.Errorf("GET /x: %w", io.ErrUnexpectedEOF)
		}
		return map[string]func(*fakeRun){
			"ready": func(f *fakeRun) {
				f.ready(func(context.Context, bench.Instance, bench.Service) error { return die(f) })
			},
			"setup": func(f *fakeRun) { f.site.setUp = func(context.Context, Place) error { return die(f) } },
			"first requests": func(f *fakeRun) {
				f.cfg.Run.Profile.FirstRequests = &bench.FirstRequestsSpec{}
				f.site.first = func(context.Context, Place) (bench.FirstRequests, error) {
					return bench.FirstRequests{}, die(f)
				}
			},
			"checks": func(f *fakeRun) { f.site.ask = func(context.Context, Place) error { return die(f) } },
			"load": func(f *fakeRun) {
				f.site.engine = fakeEngine(func(ctx context.Context, _ bench.Step) (bench.Load, error) {
					_ = die(f)
					<-ctx.Done()
					return bench.Load{}, ctx.Err()
				})
			},
			"after the load": func(f *fakeRun) {
				f.site.responds = func(context.Context, bench.Instance, bench.Service) error { return die(f) }
			},
			"teardown": func(f *fakeRun) {
				f.site.setUp, f.site.tearDown = responding, func(context.Context, Place) error { return die(f) }
			},
		}
	}
	type test struct {
		change func(*fakeRun)
		kind   bench.CauseKind
		text   string // at the beginning
	}
	tests := map[string]test{
		"stuck in the last step": {func(f *fakeRun) {
			f.site.engine = steps(stuck)
			f.site.unanswered = hangs
		}, bench.CauseSilent, "did not respond after the load: GET /x: i/o timeout"},
		"busy in the last step": {func(f *fakeRun) {
			f.site.engine = steps(stuck)
			f.site.unanswered = responding
		}, "", ""},
		"no response in two steps": {func(f *fakeRun) {
			f.site.engine = steps(bench.Load{Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 9}}})
		}, bench.CauseSilent, "had no success in 2 consecutive steps"},
		"only errors in two steps": {func(f *fakeRun) {
			f.site.engine = steps(bench.Load{Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{"5xx": 9}}})
		}, "", "had no success in 2 consecutive steps"},
		"teardown without response, killed on stop": {func(f *fakeRun) {
			f.launcher.killed = true
			f.site.setUp, f.site.tearDown = responding, hangs
		}, bench.CauseSilent, "did not respond to the teardown, did not stop on SIGTERM and was killed (SIGKILL): GET /x"},
		"teardown without response": {func(f *fakeRun) {
			f.site.setUp, f.site.tearDown = responding, hangs
		}, "", ""},
		"ignores SIGTERM, but responds": {func(f *fakeRun) {
			f.launcher.killed = true
			f.site.setUp, f.site.tearDown = responding, responding
		}, "", ""},
		"handles SIGTERM, does not stop": {func(f *fakeRun) {
			f.launcher.killed, f.launcher.handles = true, true
			f.site.setUp, f.site.tearDown = responding, responding
		}, bench.CauseHung, "did not stop within 15s of SIGTERM, which it handles, and was killed (SIGKILL)"},
		"earlier failure, then does not stop": {func(f *fakeRun) {
			f.launcher.killed, f.launcher.handles = true, true
			f.site.ask = notLoaded
		}, "", "not loaded: got 404"},
		"killed process": {func(f *fakeRun) { f.launcher.oomKills = 2 }, bench.CauseKilled,
			"lost 2 processes, killed out of memory, first in step 1"},
		"earlier silence, then another failure": {func(f *fakeRun) {
			f.site.checks = reports{f: f}
			f.site.setUp = responding
			f.site.ask = notLoaded
		}, "", "not loaded: got 404"},
		"hung: ready": {func(f *fakeRun) {
			f.ready(func(context.Context, bench.Instance, bench.Service) error {
				return timeoutError{"not ready after 10s: GET /: timeout after 5s"}
			})
		}, bench.CauseNotReady, "not ready after 10s: GET /: timeout"},
		"hung: setup": {func(f *fakeRun) { f.site.setUp = hangs }, bench.CauseSilent,
			"did not respond during the setup: GET /x: i/o timeout"},
		"hung: before the load": {func(f *fakeRun) { f.site.ask = hangs }, bench.CauseSilent,
			"did not respond before the load: GET /x: i/o timeout"},
		"hung: before the load, killed on stop": {func(f *fakeRun) {
			f.launcher.killed = true
			f.site.ask = hangs
		}, bench.CauseSilent, "did not respond before the load: GET /x: i/o timeout"},
		// Although each step had successes.
		"hung: after the load": {func(f *fakeRun) {
			f.site.responds = func(context.Context, bench.Instance, bench.Service) error { return timeout }
		}, bench.CauseSilent, "did not respond after the load: GET /x: i/o timeout"},
		"refused: setup": {func(f *fakeRun) { f.site.setUp = notLoaded }, "", "not loaded: got 404"},
	}
	for phase, change := range ends(killed, 0) {
		tests["killed: "+phase] = test{change, bench.CauseKilled, "killed out of memory"}
	}
	for phase, change := range ends(exited, 0) {
		tests["exited: "+phase] = test{change, bench.CauseExited, "the contender died: exit code 7"}
	}
	// The connections of a contender end before its runtime reports the exit.
	for phase, change := range ends(exited, 2*time.Second) {
		if phase != "ready" { // that waits longer itself
			tests["exited, reported late: "+phase] = test{change, bench.CauseExited, "the contender died: exit code 7"}
		}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := start(t, func(f *fakeRun) {
				f.only(1)
				test.change(f)
			})
			trial := f.first()
			var excluded *bench.Exclusion
			for _, r := range f.records {
				if e, ok := r.Event.(bench.TrialEnded); ok {
					excluded = e.Excluded
				}
			}
			if failed := test.text != ""; (trial.State == bench.TrialFailed) != failed || errors.Is(f.err, ErrTrials) != failed {
				t.Fatalf("%v; trial %s, %q", f.err, trial.State, trial.Failure)
			}
			testenv.Check(t, strings.HasPrefix(trial.Failure, test.text),
				"failure %q, want %q", trial.Failure, test.text)
			var got bench.Cause
			if trial.Cause != nil {
				got = *trial.Cause
			}
			testenv.Equal(t, got.Kind, test.kind, "cause")
			silent := func(i bench.Incident) bool { return i.Kind == bench.IncidentSilent }
			testenv.Check(t, test.kind != bench.CauseExited || !slices.ContainsFunc(trial.Incidents, silent),
				"an exit is not silence as well: %+v", trial.Incidents)
			testenv.Check(t, test.kind == "" || excluded != nil && excluded.Brief() == got.Predicate(),
				"excluded: %v, want %q", excluded, got.Predicate())
			hung := slices.ContainsFunc(trial.Warnings, func(w bench.Warning) bool { return w.Kind == bench.WarnHung })
			testenv.Equal(t, hung, (f.launcher.killed && test.kind != bench.CauseHung), trial.Warnings)
			n := strings.Count(trial.Failure, "SIGTERM")
			testenv.Check(t, n <= 1, "the failure says it %d times: %q", n, trial.Failure)
		})
	}
}

// reports are checks during which the contender does not respond once.
type reports struct {
	noChecks
	f *fakeRun
}

func (r reports) Running(
	context.Context, bench.Instance, bench.LaunchSpec, bench.Service, func(bench.CheckResult),
) error {
	r.f.launcher.onIncident(bench.Incident{Kind: bench.IncidentSilent, Text: "no response: frozen"})
	return nil
}
