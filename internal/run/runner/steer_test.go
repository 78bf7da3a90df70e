package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// steer is a fakeRun with controls.
type steer struct {
	*fakeRun
	controls chan bench.Control
}

// send sends a control, which the run applies later.
func (s *steer) send(kind bench.ControlKind) { s.controls <- bench.Control{Kind: kind} }

// startSteered starts a run and calls on for every event, in order; on may send controls.
func startSteered(t *testing.T, ctx context.Context, change func(*fakeRun), on func(s *steer, rec bench.Record)) (*fakeRun, error) {
	t.Helper()
	s := &steer{controls: make(chan bench.Control, 100)}
	return start(t, ctx, func(f *fakeRun) {
		s.fakeRun = f
		f.cfg.Control = s.controls
		if change != nil {
			change(f)
		}
		f.cfg.Stream.Subscribe(func(rec bench.Record) { on(s, rec) })
	})
}

// inStep returns an engine whose first step of two connections runs until its context ends.
func inStep(held *sync.Map) fakeEngine {
	return func(ctx context.Context, step bench.Step) (bench.Load, error) {
		if step.Connections == 2 {
			if _, twice := held.LoadOrStore("two", true); !twice {
				<-ctx.Done()
				return bench.Load{Succeeded: 7}, ctx.Err()
			}
		}
		return good(ctx, step)
	}
}

func isStep(rec bench.Record, index int) bool {
	e, ok := rec.Event.(bench.StepStarted)
	return ok && e.Index == index
}

func names(records []bench.Record, want ...string) (out []string) {
	for _, rec := range records {
		if n := bench.EventName(rec.Event); slices.Contains(want, n) {
			out = append(out, n)
		}
	}
	return out
}

func notices(records []bench.Record) (out []string) {
	for _, rec := range records {
		if n, ok := rec.Event.(bench.Notice); ok && n.Level == "info" {
			out = append(out, n.Text)
		}
	}
	return out
}

func TestSkipStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held sync.Map
		f, err := startSteered(t, context.Background(), func(f *fakeRun) {
			f.cfg.Run.Trials = f.cfg.Run.Trials[:2]
			f.cfg.Engine = inStep(&held)
		}, func(s *steer, rec bench.Record) {
			if isStep(rec, 1) && rec.Trial.String() == s.cfg.Run.Trials[0].Trial.String() {
				s.send(bench.ControlSkipStep)
			}
		})
		if !errors.Is(err, ErrTrials) || errors.Is(err, ErrOnRequest) {
			t.Errorf("error %v", err)
		}
		trial := f.trials[f.order[0]]
		if trial.State != bench.TrialAborted || trial.Failure != "step 2 (two) was skipped by the user" {
			t.Errorf("trial %s, %q", trial.State, trial.Failure)
		}
		if len(trial.Steps) != 3 || trial.Steps[1].Aborted != "skipped by the user" || trial.Steps[1].Load.Succeeded != 7 || trial.Steps[2].Aborted != "" {
			t.Errorf("steps %+v", trial.Steps)
		}
		if i := trial.ManualChanges; len(i) != 1 || i[0].Control.Kind != bench.ControlSkipStep || i[0].Step == nil || *i[0].Step != 1 {
			t.Errorf("manual changes %+v", i)
		}
		if next := f.trials[f.order[1]]; next.State != bench.TrialComplete || f.ended().State != bench.RunFailed {
			t.Errorf("the next trial is %s, the run %s", next.State, f.ended().State)
		}
	})
}

func TestSkipEveryStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := startSteered(t, context.Background(), func(f *fakeRun) {
			f.cfg.Run.Trials = f.cfg.Run.Trials[:1]
			f.cfg.Engine = fakeEngine(func(ctx context.Context, _ bench.Step) (bench.Load, error) {
				<-ctx.Done()
				return bench.Load{}, ctx.Err()
			})
		}, func(s *steer, rec bench.Record) {
			if _, ok := rec.Event.(bench.StepStarted); ok {
				s.send(bench.ControlSkipStep)
			}
		})
		trial := f.trials[f.order[0]]
		if len(trial.Steps) != 3 || trial.State != bench.TrialAborted || trial.Failure != "steps 1 (one), 2 (two), 3 (four) were skipped by the user" {
			t.Errorf("%d steps, %s, %q, error %v", len(trial.Steps), trial.State, trial.Failure, err)
		}
	})
}

func TestSkipContender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held sync.Map
		f, err := startSteered(t, context.Background(), func(f *fakeRun) {
			f.cfg.Dir = "out"
			f.cfg.Engine = inStep(&held)
		}, func(s *steer, rec bench.Record) {
			if isStep(rec, 1) && rec.Trial.String() == s.cfg.Run.Trials[0].Trial.String() {
				s.send(bench.ControlSkipContender)
			}
		})
		gone := f.cfg.Run.Trials[0].Trial
		if !errors.Is(err, ErrTrials) || !strings.Contains(err.Error(), gone.Contender+"-2: skipped: its contender was skipped by the user; run: ") || !strings.Contains(err.Error(), "--resume out") {
			t.Errorf("error %v", err)
		}
		trial := f.trials[gone.String()]
		if trial.State != bench.TrialAborted || trial.Failure != "skipped by the user" || len(trial.Steps) != 2 || trial.Steps[1].Aborted != "skipped by the user" || trial.Stop == nil {
			t.Errorf("trial %s, %q, steps %+v", trial.State, trial.Failure, trial.Steps)
		}
		if len(f.order) != 3 || f.trials[gone.Contender+"-2"] != nil {
			t.Errorf("trials run: %v", f.order)
		}
		for _, name := range f.order[1:] {
			if f.trials[name].State != bench.TrialComplete {
				t.Errorf("%s is %s", name, f.trials[name].State)
			}
		}
		if got := notices(f.records); len(got) != 1 || !strings.Contains(got[0], gone.Contender+"-2: skipped: its contender was skipped by the user") {
			t.Errorf("notices %q", got)
		}
	})
}

func TestSkipContenderWhileItStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := startSteered(t, context.Background(), func(f *fakeRun) {
			f.cfg.Run.Trials = f.cfg.Run.Trials[:1]
			f.cfg.Ready = func(ctx context.Context, _ bench.Instance, _ bench.Service, _ func(level, text string)) (bench.InstanceReady, error) {
				<-ctx.Done()
				return bench.InstanceReady{}, ctx.Err()
			}
		}, func(s *steer, rec bench.Record) {
			if e, ok := rec.Event.(bench.PhaseStarted); ok && e.Phase == bench.PhaseReady {
				s.send(bench.ControlSkipContender)
			}
		})
		if trial := f.trials[f.order[0]]; !errors.Is(err, ErrTrials) || trial.State != bench.TrialAborted || trial.Failure != "skipped by the user" {
			t.Errorf("%s, %q, error %v", trial.State, trial.Failure, err)
		}
	})
}

func TestStopAfterStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		f, err := startSteered(t, context.Background(), func(f *fakeRun) {
			f.cfg.Engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
				if step.Connections == 2 {
					<-release
				}
				return good(ctx, step)
			})
		}, func(s *steer, rec bench.Record) {
			if isStep(rec, 1) {
				s.send(bench.ControlStop)
			}
			if e, ok := rec.Event.(bench.ChangedManually); ok && e.Control.Kind == bench.ControlStop {
				close(release)
			}
		})
		if !errors.Is(err, ErrOnRequest) || errors.Is(err, ErrTrials) || f.ended().State != bench.RunInterrupted {
			t.Errorf("error %v, run %s", err, f.ended().State)
		}
		trial := f.trials[f.order[0]]
		if len(f.order) != 1 || trial.State != bench.TrialAborted || trial.Failure != "stopped by the user after step 2" {
			t.Errorf("trials %v, %s, %q", f.order, trial.State, trial.Failure)
		}
		if len(trial.Steps) != 2 || trial.Steps[1].Aborted != "" || trial.Steps[1].Load.Succeeded != 100 {
			t.Errorf("steps %+v", trial.Steps)
		}
	})
}

func TestStopInTheLastStepLeavesACompleteTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, trials := range []int{1, 2} {
			release := make(chan struct{})
			f, err := startSteered(t, context.Background(), func(f *fakeRun) {
				f.cfg.Run.Trials = f.cfg.Run.Trials[:trials]
				f.cfg.Engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
					if step.Connections == 4 {
						<-release
					}
					return good(ctx, step)
				})
			}, func(s *steer, rec bench.Record) {
				if isStep(rec, 2) {
					s.send(bench.ControlStop)
				}
				if _, ok := rec.Event.(bench.ChangedManually); ok {
					close(release)
				}
			})
			if trial := f.trials[f.order[0]]; len(f.order) != 1 || trial.State != bench.TrialComplete {
				t.Errorf("of %d trials: %v, %s", trials, f.order, trial.State)
			}
			if trials == 1 && (err != nil || f.ended().State != bench.RunComplete) {
				t.Errorf("nothing was left to stop, but: %v, run %s", err, f.ended().State)
			}
			if trials == 2 && (!errors.Is(err, ErrOnRequest) || f.ended().State != bench.RunInterrupted) {
				t.Errorf("error %v, run %s", err, f.ended().State)
			}
		}
	})
}

func TestStopAndAbortBeforeAnythingIsMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, kind := range []bench.ControlKind{bench.ControlStop, bench.ControlAbort} {
			f, err := startSteered(t, context.Background(), func(f *fakeRun) {
				f.cfg.Stages[0].Do = func(ctx context.Context, _ func(bench.Progress)) (string, error) {
					<-ctx.Done()
					return "", ctx.Err()
				}
			}, func(s *steer, rec bench.Record) {
				if _, ok := rec.Event.(bench.PhaseStarted); ok {
					s.send(kind)
				}
			})
			if !errors.Is(err, ErrOnRequest) || f.ended().State != bench.RunInterrupted || len(f.order) != 0 {
				t.Errorf("%s: error %v, run %s, trials %v", kind, err, f.ended().State, f.order)
			}
		}
	})
}

// pauseTook is the length of the pauses of pausedBefore.
const pauseTook = 5 * time.Minute

// pausedBefore starts a run that is paused before step index of its first trial; then is called at
// the end of every pause.
func pausedBefore(t *testing.T, index int, change func(f *fakeRun), then func(s *steer)) (*fakeRun, error) {
	t.Helper()
	taken := make(chan struct{})
	return startSteered(t, context.Background(), func(f *fakeRun) {
		f.cfg.Engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
			if step.Connections == 1<<(index-1) {
				<-taken // the control comes while the step before it runs
			}
			return good(ctx, step)
		})
		if change != nil {
			change(f)
		}
	}, func(s *steer, rec bench.Record) {
		switch e := rec.Event.(type) {
		case bench.StepStarted:
			if e.Index == index-1 && rec.Trial.String() == s.cfg.Run.Trials[0].Trial.String() {
				s.send(bench.ControlPause)
			}
		case bench.ChangedManually:
			if e.Control.Kind == bench.ControlPause {
				close(taken)
			}
		case bench.Paused:
			time.Sleep(pauseTook)
			then(s)
		}
	})
}

func TestPauseAndResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := pausedBefore(t, 1, nil, func(s *steer) {
			s.send(bench.ControlPause)
			s.send(bench.ControlSkipStep)
			s.controls <- bench.Control{Kind: bench.ControlNote, Text: "the fan is loud"}
			s.send(bench.ControlResume)
			s.send(bench.ControlResume)
		})
		testenv.OK(t, err)
		trial := f.trials[f.order[0]]
		if trial.State != bench.TrialComplete || len(trial.Steps) != 3 {
			t.Fatalf("trial %s, %d steps", trial.State, len(trial.Steps))
		}
		for i, s := range trial.Steps {
			if got := strings.Contains(s.Warnings.Join("\n"), "run was paused for 300 s"); got != (i == 1) {
				t.Errorf("step %d: warnings %q", i, s.Warnings)
			}
		}
		var kinds []bench.ControlKind
		for _, i := range trial.ManualChanges {
			kinds = append(kinds, i.Control.Kind)
		}
		if want := []bench.ControlKind{bench.ControlPause, bench.ControlNote, bench.ControlResume}; !slices.Equal(kinds, want) {
			t.Errorf("manual changes %v, want %v", kinds, want)
		}
		if trial.ManualChanges[0].Step == nil || trial.ManualChanges[1].Step != nil {
			t.Errorf("steps of the manual changes: %+v", trial.ManualChanges)
		}
		if got := notices(f.records); len(got) != 3 || !strings.Contains(got[0], "already paused") || !strings.Contains(got[1], "cannot skip: no step is running") || !strings.Contains(got[2], "cannot resume: the run is not paused") {
			t.Errorf("notices %q", got)
		}
		if got, want := names(f.records, "paused", "resumed", "step_started")[:4], []string{"step_started", "paused", "resumed", "step_started"}; !slices.Equal(got, want) {
			t.Errorf("events %v, want %v", got, want)
		}
	})
}

func TestEndOfAPause(t *testing.T) {
	for _, c := range []struct {
		name    string
		then    func(s *steer)
		failure string
		state   bench.TrialState
		run     bench.RunState
		trials  int
	}{
		{"exit", func(s *steer) { s.launcher.last().die(bench.Exit{Code: 7}) }, "the contender died", bench.TrialFailed, bench.RunComplete, 1},
		{"stop", func(s *steer) { s.send(bench.ControlStop) }, "stopped by the user after step 2", bench.TrialAborted, bench.RunInterrupted, 1},
		{"abort", func(s *steer) { s.send(bench.ControlAbort) }, "aborted by the user", bench.TrialAborted, bench.RunInterrupted, 1},
		{"skip", func(s *steer) { s.send(bench.ControlSkipContender) }, "skipped by the user", bench.TrialAborted, bench.RunFailed, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := true
				f, err := pausedBefore(t, 2, func(f *fakeRun) { f.cfg.Run.Trials = f.cfg.Run.Trials[:2] }, func(s *steer) {
					if first {
						first = false
						c.then(s)
						return
					}
					s.send(bench.ControlResume) // before the next trial: the pause still holds
				})
				trial := f.trials[f.order[0]]
				if err == nil || trial.State != c.state || !strings.Contains(trial.Failure, c.failure) || len(trial.Steps) != 2 {
					t.Errorf("trial %s, %q, %d steps, error %v", trial.State, trial.Failure, len(trial.Steps), err)
				}
				if f.ended().State != c.run {
					t.Errorf("run %s, want %s", f.ended().State, c.run)
				}
				if paused := names(f.records, "paused", "resumed"); len(paused)%2 != 0 {
					t.Errorf("a pause has no end: %v", paused)
				}
			})
		})
	}
}

func TestInterruptionEndsAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		f, err := startSteered(t, ctx, func(f *fakeRun) {
			f.cfg.Stages[0].Do = func(context.Context, func(bench.Progress)) (string, error) { return "", nil }
		}, func(s *steer, rec bench.Record) {
			switch rec.Event.(type) {
			case bench.RunStarted:
				s.send(bench.ControlPause)
			case bench.Paused:
				cancel(errors.New("the screen is gone"))
			}
		})
		if err == nil || err.Error() != "the screen is gone" || f.ended().State != bench.RunInterrupted {
			t.Errorf("error %v, run %s", err, f.ended().State)
		}
	})
}

func TestRateOfAnOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []float64
		engine := &hookEngine{run: func(ctx context.Context, step bench.Step, hooks Hooks) (bench.Load, error) {
			hooks.OnStart()
			defer hooks.OnEnd()
			if step.Rate == 0 {
				return good(ctx, step)
			}
			seen = append(seen, hooks.Rate())
			for hooks.Rate() != 250 {
				select {
				case <-ctx.Done():
					return bench.Load{}, ctx.Err()
				case <-time.After(time.Second):
				}
			}
			seen = append(seen, hooks.Rate())
			return good(ctx, step)
		}}
		f, err := startSteered(t, context.Background(), func(f *fakeRun) {
			f.cfg.Run.Trials = f.cfg.Run.Trials[:1]
			f.cfg.Run.Profile.Steps = []bench.Step{{Name: "100/s", Rate: 100}, {Name: "one", Connections: 1}}
			f.cfg.Engine = engine
		}, func(s *steer, rec bench.Record) {
			if isStep(rec, 0) {
				for _, rate := range []float64{-1, 200, 250} {
					s.controls <- bench.Control{Kind: bench.ControlRate, Rate: rate}
				}
			}
		})
		testenv.OK(t, err)
		trial := f.trials[f.order[0]]
		warned := trial.Steps[0].Warnings.Join("\n")
		if len(seen) != 2 || seen[0] != 0 && seen[0] != 200 && seen[0] != 250 || seen[1] != 250 {
			t.Errorf("the engine saw %v", seen)
		}
		if !strings.Contains(warned, "from 100/s to 200/s after") || !strings.Contains(warned, "to 250/s after") || len(trial.Steps[1].Warnings) > 0 {
			t.Errorf("warnings %q, %q", warned, trial.Steps[1].Warnings)
		}
		if len(trial.ManualChanges) != 2 {
			t.Errorf("manual changes %+v", trial.ManualChanges)
		}
	})
}

func TestShareOfPeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []float64
		f, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Run.Trials = f.cfg.Run.Trials[:1]
			f.cfg.Run.Profile.Steps = []bench.Step{{Name: "one", Connections: 1}, {Name: "half", PeakShare: 0.5}}
			f.cfg.Engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
				seen = append(seen, step.Rate)
				return good(ctx, step)
			})
		})
		if err != nil || !slices.Equal(seen, []float64{0, 50}) {
			t.Errorf("rates %v, error %v", seen, err)
		}
		for _, rec := range f.records {
			if e, ok := rec.Event.(bench.StepStarted); ok && e.Index == 1 && e.Step.Rate != 50 {
				t.Errorf("the step starts with a rate of %v", e.Step.Rate)
			}
		}
	})
}

func TestRateOfAClosedLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := make(chan struct{})
		f, err := startSteered(t, context.Background(), func(f *fakeRun) {
			f.cfg.Run.Trials = f.cfg.Run.Trials[:1]
			f.cfg.Run.Profile.Steps = f.cfg.Run.Profile.Steps[:1]
			f.cfg.Engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
				<-got
				return good(ctx, step)
			})
		}, func(s *steer, rec bench.Record) {
			switch e := rec.Event.(type) {
			case bench.StepStarted:
				s.controls <- bench.Control{Kind: bench.ControlRate, Rate: 100}
			case bench.Notice:
				if strings.Contains(e.Text, "rate unchanged: step 1 (one) has no rate") {
					close(got)
				}
			}
		})
		if trial := f.trials[f.order[0]]; err != nil || len(trial.ManualChanges) > 0 || len(trial.Steps[0].Warnings) > 0 {
			t.Errorf("error %v, manual changes %+v, warnings %q", err, trial.ManualChanges, trial.Steps[0].Warnings)
		}
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

// TestControlWhileATrialEnds: a control during the stop of a contender that has exited does not
// hide why the trial failed.
func TestControlWhileATrialEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, kind := range []bench.ControlKind{bench.ControlStop, bench.ControlSkipContender} {
			taken := make(chan struct{})
			f, err := startSteered(t, context.Background(), func(f *fakeRun) {
				f.cfg.Engine = fakeEngine(func(ctx context.Context, _ bench.Step) (bench.Load, error) {
					f.launcher.last().die(bench.Exit{Code: 137})
					<-ctx.Done()
					return bench.Load{}, ctx.Err()
				})
				f.cfg.Checks = slowEnd{fakeChecks{}, taken}
				f.cfg.Run.Trials = f.cfg.Run.Trials[:2]
			}, func(s *steer, rec bench.Record) {
				switch e := rec.Event.(type) {
				case bench.PhaseStarted:
					if e.Phase == bench.PhaseStop && rec.Trial.String() == s.cfg.Run.Trials[0].Trial.String() {
						s.send(kind)
					}
				case bench.ChangedManually:
					close(taken)
				}
			})
			trial := f.trials[f.order[0]]
			if trial.State != bench.TrialFailed || !strings.Contains(trial.Failure, "137") {
				t.Errorf("%s: trial %s, %q, error %v", kind, trial.State, trial.Failure, err)
			}
			if kind == bench.ControlStop && (!errors.Is(err, ErrOnRequest) || len(f.order) != 1) {
				t.Errorf("%s: error %v, trials %v", kind, err, f.order)
			}
		}
	})
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
