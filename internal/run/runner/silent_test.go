package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// TestSilentAfterTheLoad: a contender that does not respond after the load has failed its trial,
// although each step had successes.
func TestSilentAfterTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Run.Trials = f.cfg.Run.Trials[:1]
			f.cfg.Responds = func(context.Context, bench.Instance, bench.Service) error {
				return errors.New("GET /: i/o timeout")
			}
		})
		trial := f.trials[f.order[0]]
		want := "did not respond after the load: GET /: i/o timeout"
		if !errors.Is(err, ErrTrials) || trial.State != bench.TrialFailed || trial.Failure != want {
			t.Errorf("%v; trial %s, %q", err, trial.State, trial.Failure)
		}
		if c := trial.Cause; c == nil || c.Kind != bench.CauseSilent || c.Text != want {
			t.Errorf("cause %+v", c)
		}
	})
}

// TestExitAfterTheLoadIsNoSilence: a contender that has exited responds to nothing, which is not
// another incident.
func TestExitAfterTheLoadIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Run.Trials = f.cfg.Run.Trials[:1]
			f.cfg.Responds = func(context.Context, bench.Instance, bench.Service) error {
				f.launcher.last().die(bench.Exit{Code: 7})
				return errors.New("connection refused")
			}
		})
		trial := f.trials[f.order[0]]
		silent := func(i bench.Incident) bool { return i.Kind == bench.IncidentSilent }
		if c := trial.Cause; c == nil || c.Kind != bench.CauseExited || slices.ContainsFunc(trial.Incidents, silent) {
			t.Errorf("cause %+v, incidents %+v", c, trial.Incidents)
		}
	})
}

type timeoutError struct{ text string }

func (e timeoutError) Error() string { return e.text }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

// TestFirstSentence: in each phase, what the contender did is the cause of its failure, in the
// trial, in the reason for its exclusion, and nothing else is.
func TestFirstSentence(t *testing.T) {
	killed := bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}
	exited := bench.Exit{Code: 7}
	timeout := timeoutError{"GET /x: i/o timeout"}
	stuck := bench.Load{Succeeded: 900, Sent: 916, Elapsed: time.Second, Backlog: 16, Drain: 2,
		Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 14}, Windows: []bench.Window{{Succeeded: 900}}}
	responding := func(context.Context, Place) error { return nil }
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
				f.cfg.Ready = func(context.Context, bench.Instance, bench.Service, func(string, string)) (bench.InstanceReady, error) {
					return bench.InstanceReady{}, die(f)
				}
			},
			"setup": func(f *fakeRun) { f.cfg.SetUp = func(context.Context, Place) error { return die(f) } },
			"first requests": func(f *fakeRun) {
				f.cfg.Run.Profile.FirstRequests = &bench.FirstRequestsSpec{}
				f.cfg.FirstRequests = func(context.Context, Place) (bench.FirstRequests, error) { return bench.FirstRequests{}, die(f) }
			},
			"checks": func(f *fakeRun) { f.cfg.Ask = func(context.Context, Place) error { return die(f) } },
			"load": func(f *fakeRun) {
				f.cfg.Engine = fakeEngine(func(ctx context.Context, _ bench.Step) (bench.Load, error) {
					_ = die(f)
					<-ctx.Done()
					return bench.Load{}, ctx.Err()
				})
			},
			"after the load": func(f *fakeRun) {
				f.cfg.Responds = func(context.Context, bench.Instance, bench.Service) error { return die(f) }
			},
			"teardown": func(f *fakeRun) {
				f.cfg.SetUp, f.cfg.TearDown = responding, func(context.Context, Place) error { return die(f) }
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
			f.cfg.Engine = fakeEngine(func(context.Context, bench.Step) (bench.Load, error) { return stuck, nil })
			f.cfg.Unanswered = func(context.Context, Place) error { return timeout }
		}, bench.CauseSilent, "did not respond after the load: GET /x: i/o timeout"},
		"busy in the last step": {func(f *fakeRun) {
			f.cfg.Engine = fakeEngine(func(context.Context, bench.Step) (bench.Load, error) { return stuck, nil })
			f.cfg.Unanswered = responding
		}, "", ""},
		"no response in two steps": {func(f *fakeRun) {
			f.cfg.Engine = fakeEngine(func(context.Context, bench.Step) (bench.Load, error) {
				return bench.Load{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 9}}, nil
			})
		}, bench.CauseSilent, "had no success in 2 consecutive steps"},
		"only errors in two steps": {func(f *fakeRun) {
			f.cfg.Engine = fakeEngine(func(context.Context, bench.Step) (bench.Load, error) {
				return bench.Load{Failed: map[bench.ErrorKind]int64{"5xx": 9}}, nil
			})
		}, "", "had no success in 2 consecutive steps"},
		"teardown without response, killed on stop": {func(f *fakeRun) {
			f.launcher.killed = true
			f.cfg.SetUp, f.cfg.TearDown = responding, func(context.Context, Place) error { return timeout }
		}, bench.CauseSilent, "did not respond to the teardown, did not stop on SIGTERM and was killed (SIGKILL): GET /x"},
		"teardown without response": {func(f *fakeRun) {
			f.cfg.SetUp, f.cfg.TearDown = responding, func(context.Context, Place) error { return timeout }
		}, "", ""},
		"ignores SIGTERM, but responds": {func(f *fakeRun) {
			f.launcher.killed = true
			f.cfg.SetUp, f.cfg.TearDown = responding, responding
		}, "", ""},
		"handles SIGTERM, does not stop": {func(f *fakeRun) {
			f.launcher.killed, f.launcher.handles = true, true
			f.cfg.SetUp, f.cfg.TearDown = responding, responding
		}, bench.CauseHung, "did not stop within 15s of SIGTERM, which it handles, and was killed (SIGKILL)"},
		"earlier failure, then does not stop": {func(f *fakeRun) {
			f.launcher.killed, f.launcher.handles = true, true
			f.cfg.Ask = func(context.Context, Place) error { return errors.New("not loaded: got 404") }
		}, "", "not loaded: got 404"},
		"killed process": {func(f *fakeRun) { f.launcher.oomKills = 2 }, bench.CauseKilled,
			"lost 2 processes, killed out of memory, first in step 1"},
		"earlier silence, then another failure": {func(f *fakeRun) {
			f.cfg.Checks = reports{f}
			f.cfg.SetUp = responding
			f.cfg.Ask = func(context.Context, Place) error { return errors.New("not loaded: got 404") }
		}, "", "not loaded: got 404"},
	}
	notReady := timeoutError{"not ready after 10s: GET /: timeout after 5s"}
	tests["hung: ready"] = test{func(f *fakeRun) {
		f.cfg.Ready = func(context.Context, bench.Instance, bench.Service, func(string, string)) (bench.InstanceReady, error) {
			return bench.InstanceReady{}, notReady
		}
	}, bench.CauseNotReady, "not ready after 10s: GET /: timeout"}
	tests["hung: setup"] = test{func(f *fakeRun) {
		f.cfg.SetUp = func(context.Context, Place) error { return timeout }
	}, bench.CauseSilent, "did not respond during the setup: GET /x: i/o timeout"}
	tests["hung: before the load"] = test{func(f *fakeRun) {
		f.cfg.Ask = func(context.Context, Place) error { return timeout }
	}, bench.CauseSilent, "did not respond before the load: GET /x: i/o timeout"}
	tests["hung: before the load, killed on stop"] = test{func(f *fakeRun) {
		f.launcher.killed = true
		f.cfg.Ask = func(context.Context, Place) error { return timeout }
	}, bench.CauseSilent, "did not respond before the load: GET /x: i/o timeout"}
	tests["refused: setup"] = test{func(f *fakeRun) {
		f.cfg.SetUp = func(context.Context, Place) error { return errors.New("got 404") }
	}, "", "got 404"}
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
			synctest.Test(t, func(t *testing.T) {
				f, err := start(t, context.Background(), func(f *fakeRun) {
					f.cfg.Run.Trials = f.cfg.Run.Trials[:1]
					test.change(f)
				})
				trial := f.trials[f.order[0]]
				var excluded *bench.Exclusion
				for _, r := range f.records {
					if e, ok := r.Event.(bench.TrialEnded); ok {
						excluded = e.Excluded
					}
				}
				if failed := test.text != ""; (trial.State == bench.TrialFailed) != failed || errors.Is(err, ErrTrials) != failed {
					t.Fatalf("%v; trial %s, %q", err, trial.State, trial.Failure)
				}
				if !strings.HasPrefix(trial.Failure, test.text) {
					t.Errorf("failure %q, want %q", trial.Failure, test.text)
				}
				var got bench.Cause
				if trial.Cause != nil {
					got = *trial.Cause
				}
				if got.Kind != test.kind {
					t.Errorf("cause %+v", got)
				}
				if test.kind != "" && (excluded == nil || excluded.Brief() != got.Predicate()) {
					t.Errorf("excluded: %v, want %q", excluded, got.Predicate())
				}
				hung := slices.ContainsFunc(trial.Warnings, func(w bench.Warning) bool { return w.Kind == bench.WarnHung })
				if hung != (f.launcher.killed && test.kind != bench.CauseHung) {
					t.Errorf("warned of SIGTERM: %v", trial.Warnings)
				}
				if n := strings.Count(trial.Failure, "SIGTERM"); n > 1 {
					t.Errorf("the failure says it %d times: %q", n, trial.Failure)
				}
			})
		})
	}
}

// reports are checks during which the contender does not respond once.
type reports struct{ f *fakeRun }

func (reports) Launching(context.Context, Launcher, bench.LaunchSpec, bench.Service, func(bench.CheckResult)) error {
	return nil
}

func (r reports) Running(context.Context, bench.Instance, bench.LaunchSpec, bench.Service, func(bench.CheckResult)) error {
	r.f.launcher.onIncident(bench.Incident{Kind: bench.IncidentSilent, Text: "no response: frozen"})
	return nil
}

func (reports) Alive(context.Context, bench.Instance, bench.Service) []bench.CheckResult { return nil }
func (reports) Stopped(bench.StopResult) []bench.CheckResult                             { return nil }
