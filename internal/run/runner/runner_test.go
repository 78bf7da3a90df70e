package runner

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start runs a run and waits for all events; change may alter its configuration. Call it under
// synctest: then nothing waits in real time.
func start(t *testing.T, ctx context.Context, change func(*fakeRun)) (*fakeRun, error) {
	t.Helper()
	contenders := []bench.Selection{{Contender: "a"}, {Contender: "b"}}
	f := &fakeRun{launcher: &fakeLauncher{}, trials: map[string]*bench.TrialResult{}}
	f.cfg = Config{
		Run: bench.Run{
			Profile: bench.Profile{Contenders: contenders, Rounds: 2, Steps: []bench.Step{
				{Name: "one", Connections: 1}, {Name: "two", Connections: 2}, {Name: "four", Connections: 4},
			}},
			Trials: Order(contenders, 2, 42),
		},
		Stream:   event.New(time.Now),
		Stages:   []Stage{{Phase: bench.PhaseStore, Do: func(context.Context, func(bench.Progress)) (string, error) { return "up", nil }}},
		Services: map[bench.Selection]bench.Service{contenders[0]: {Name: "a"}, contenders[1]: {Name: "b"}},
		Build: func(_ context.Context, svc bench.Service, _ func(string)) (bench.Artifact, error) {
			return bench.Artifact{Image: svc.Name}, nil
		},
		Spec: func(name string, _ bench.Service, a bench.Artifact) (bench.LaunchSpec, error) {
			return bench.LaunchSpec{Name: name, Artifact: a}, nil
		},
		Launcher: f.launcher,
		Engine:   fakeEngine(good),
		Checks:   fakeChecks{},
		Stalls:   func() Stalls { return noStalls{} },
		Ready: func(context.Context, bench.Instance, bench.Service, func(level, text string)) (bench.InstanceReady, error) {
			return bench.InstanceReady{StartUp: time.Millisecond}, nil
		},
	}
	if change != nil {
		change(f)
	}
	f.cfg.Stream.Subscribe(f.handle)
	err := Run(ctx, f.cfg)
	f.cfg.Stream.Close()
	if left := f.launcher.leftRunning(); len(left) > 0 {
		t.Errorf("left running: %v", left)
	}
	if last := f.records[len(f.records)-1]; bench.EventName(last.Event) != "run_ended" {
		t.Errorf("the last event is %s", bench.EventName(last.Event))
	}
	return f, err
}

func TestCompleteRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := start(t, context.Background(), nil)
		testenv.OK(t, err)
		if got, want := f.phases(""), []string{"store", "build", "build"}; !slices.Equal(got, want) {
			t.Errorf("phases of the run %v, want %v", got, want)
		}
		if got, want := f.phases("a-1"), []string{"check", "launch", "ready", "check", "load", "stop"}; !slices.Equal(got, want) {
			t.Errorf("phases of a trial %v, want %v", got, want)
		}
		if len(f.trials) != 4 || f.ended().State != bench.RunComplete {
			t.Fatalf("%d trials, state %s", len(f.trials), f.ended().State)
		}
		for name, trial := range f.trials {
			if trial.State != bench.TrialComplete || len(trial.Steps) != 3 || trial.Stop == nil || trial.StartUp == nil || len(trial.Marks) != 2 {
				t.Errorf("%s: state %s, %d steps, stop %v, marks %v", name, trial.State, len(trial.Steps), trial.Stop, trial.Marks)
			}
			if want := 5 - trial.Trial.Round; len(trial.Checks) != want { // those that launch the contender are in round 1
				t.Errorf("%s: checks %+v", name, trial.Checks)
			}
			if cpu, ok := trial.Steps[1].CPU(); !ok || cpu <= 0 {
				t.Errorf("%s: counters not read at the start and the end of the step", name)
			}
			if len(trial.Warnings) == 0 || !strings.Contains(trial.Warnings[0].Text, "LIMITS NOT ENFORCED") {
				t.Errorf("%s: no warning that limits are not enforced: %q", name, trial.Warnings)
			}
		}
	})
}

func TestOrderAlternatesWithinRoundsAndIsRecorded(t *testing.T) {
	contenders := []bench.Selection{{Contender: "a"}, {Contender: "b", Variant: "x"}, {Contender: "c"}}
	trials := Order(contenders, 40, 7)
	if !reflect.DeepEqual(trials, Order(contenders, 40, 7)) {
		t.Error("the same seed gives another order")
	}
	if reflect.DeepEqual(trials, Order(contenders, 40, 8)) {
		t.Error("another seed gives the same order")
	}
	first := map[string]int{}
	for round := range 40 {
		seen := map[string]bool{}
		for _, e := range trials[3*round : 3*round+3] {
			if e.Trial.Round != round+1 {
				t.Fatalf("trial %s is in round %d", e.Trial, round+1)
			}
			seen[e.Trial.Contender] = true
		}
		if len(seen) != 3 {
			t.Fatalf("round %d lacks a contender: %v", round+1, seen)
		}
		first[trials[3*round].Trial.Contender]++
		if round%2 == 1 { // each place is shared alike by two rounds
			for i := range 3 {
				if a, b := trials[3*round+i].Trial, trials[3*round-1-i].Trial; a.Contender != b.Contender {
					t.Fatalf("round %d is not round %d in the opposite order", round+1, round)
				}
			}
		}
	}
	for c, n := range first {
		if n == 40 || n == 0 {
			t.Errorf("%s is first in %d of 40 rounds", c, n)
		}
	}
}

func TestExitOfAContenderEndsOnlyItsTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
				inst := f.launcher.last()
				if inst == f.launcher.instances[1] && step.Connections == 2 { // the first trial's main instance
					inst.die(bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true})
					<-ctx.Done() // the runner cuts the step short
					return bench.Load{Succeeded: 7}, ctx.Err()
				}
				return good(ctx, step)
			})
		})
		if !errors.Is(err, ErrTrials) || !strings.Contains(err.Error(), "out of memory") {
			t.Errorf("error %v", err)
		}
		dead := f.trials[f.order[0]]
		if dead.State != bench.TrialFailed || dead.Exit == nil || !dead.Exit.OOMKilled || len(dead.LastLog) == 0 {
			t.Errorf("state %s, exit %+v, log %v", dead.State, dead.Exit, dead.LastLog)
		}
		if len(dead.Steps) != 2 || dead.Steps[0].Load.Succeeded != 100 || dead.Steps[1].Load.Succeeded != 7 || !strings.Contains(dead.Steps[1].Aborted, "killed out of memory") {
			t.Errorf("steps %+v", dead.Steps)
		}
		for _, name := range f.order[1:] {
			if f.trials[name].State != bench.TrialComplete {
				t.Errorf("%s is %s because another contender died", name, f.trials[name].State)
			}
		}
	})
}

func TestExitAfterTheLastStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Run.Trials = f.cfg.Run.Trials[:1]
			f.cfg.Engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
				f.launcher.last().late = &bench.Exit{Code: 137, OOMKilled: true}
				return good(ctx, step)
			})
		})
		trial := f.trials[f.order[0]]
		if !errors.Is(err, ErrTrials) || trial.State != bench.TrialFailed || trial.Exit == nil || !trial.Exit.OOMKilled || len(trial.Steps) != 3 {
			t.Errorf("error %v, trial %s, exit %+v", err, trial.State, trial.Exit)
		}
	})
}

func TestTrialOfAHangingContenderEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Run.Trials = f.cfg.Run.Trials[:1]
			f.cfg.Engine = fakeEngine(func(context.Context, bench.Step) (bench.Load, error) {
				return bench.Load{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 4}, Examples: map[bench.ErrorKind]string{bench.ErrTimeout: "no response after 1s"}}, nil
			})
		})
		if !errors.Is(err, ErrTrials) || !strings.Contains(err.Error(), "no response after 1s") {
			t.Errorf("error %v", err)
		}
		if trial := f.trials[f.order[0]]; len(trial.Steps) != maxStepsWithoutSuccess {
			t.Errorf("%d steps with a contender that hangs", len(trial.Steps))
		}
	})
}

func TestInterruptionInEveryPhase(t *testing.T) {
	stopped := errors.New("interrupted by Ctrl-C")
	for _, c := range []struct {
		name   string
		change func(f *fakeRun, interrupt func())
		trials int
	}{
		{"store", func(f *fakeRun, interrupt func()) {
			f.cfg.Stages[0].Do = func(ctx context.Context, _ func(bench.Progress)) (string, error) {
				interrupt()
				return "", ctx.Err()
			}
		}, 0},
		{"build", func(f *fakeRun, interrupt func()) {
			f.cfg.Build = func(ctx context.Context, _ bench.Service, _ func(string)) (bench.Artifact, error) {
				interrupt()
				return bench.Artifact{}, ctx.Err()
			}
		}, 0},
		{"ready", func(f *fakeRun, interrupt func()) {
			f.cfg.Ready = func(ctx context.Context, _ bench.Instance, _ bench.Service, _ func(level, text string)) (bench.InstanceReady, error) {
				interrupt()
				return bench.InstanceReady{}, ctx.Err()
			}
		}, 1},
		{"load", func(f *fakeRun, interrupt func()) {
			f.cfg.Engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
				if step.Connections == 4 {
					interrupt()
					return bench.Load{Succeeded: 3}, ctx.Err()
				}
				return good(ctx, step)
			})
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(context.Background())
				defer cancel(nil)
				f, err := start(t, ctx, func(f *fakeRun) { c.change(f, func() { cancel(stopped) }) })
				if !errors.Is(err, stopped) {
					t.Errorf("error %v", err)
				}
				if f.ended().State != bench.RunInterrupted || len(f.trials) != c.trials {
					t.Errorf("state %s, %d trials", f.ended().State, len(f.trials))
				}
				for name, trial := range f.trials {
					if trial.State != bench.TrialAborted {
						t.Errorf("%s is %s", name, trial.State)
					}
					if c.name == "load" && (len(trial.Steps) != 3 || trial.Steps[2].Aborted == "") {
						t.Errorf("finished steps were lost: %+v", trial.Steps)
					}
				}
			})
		})
	}
}

// A failed build does not end the run; its text is the failure of one trial. If no contender could
// be built, no trial starts.
func TestFailedBuildDoesNotEndTheRun(t *testing.T) {
	for _, all := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f, err := start(t, context.Background(), func(f *fakeRun) {
				build := f.cfg.Build
				f.cfg.Build = func(ctx context.Context, svc bench.Service, p func(string)) (bench.Artifact, error) {
					if svc.Name == "b" || all {
						return bench.Artifact{}, errors.New("failed; last lines:\n  cargo:\n  not found")
					}
					return build(ctx, svc, p)
				}
			})
			if !errors.Is(err, ErrTrials) || !strings.Contains(err.Error(), "cargo:\n  not found") {
				t.Errorf("error %v", err)
			}
			if all {
				if failures := err.(*Incomplete).Failures; len(f.trials) > 0 || len(failures) != len(f.cfg.Run.Profile.Contenders) {
					t.Errorf("%d trials, failures %v", len(f.trials), failures)
				}
				return
			}
			var failures []string
			for _, name := range f.order {
				trial := f.trials[name]
				want := bench.TrialComplete
				if trial.Trial.Contender == "b" {
					want, failures = bench.TrialFailed, append(failures, trial.Failure)
				}
				if trial.State != want {
					t.Errorf("%s is %s, want %s", name, trial.State, want)
				}
			}
			if want := []string{"build: failed; last lines: cargo: not found", "skipped: not built"}; !slices.Equal(failures, want) {
				t.Errorf("%q, want %q", failures, want)
			}
		})
	}
}

func TestLostStoreEndsTheTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := false
		f, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Run.Trials = f.cfg.Run.Trials[:1]
			f.cfg.StoreAlive = func(context.Context) error {
				if gone {
					return errors.New("connection refused")
				}
				return nil
			}
			f.cfg.Engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
				if step.Connections == 2 {
					gone = true
					return bench.Load{Failed: map[bench.ErrorKind]int64{"5xx": 10}}, nil
				}
				return good(ctx, step)
			})
		})
		if err == nil || !strings.Contains(err.Error(), "lost the store: connection refused") {
			t.Errorf("error %v", err)
		}
		if trial := f.trials[f.order[0]]; len(trial.Steps) != 2 {
			t.Errorf("%d steps", len(trial.Steps))
		}
	})
}

func TestLostContainerEngineEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		f, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.EngineAlive = func(context.Context) error {
				if calls++; calls > 1 {
					return errors.New("cannot connect")
				}
				return nil
			}
		})
		if !errors.Is(err, ErrTrials) || !strings.Contains(err.Error(), "no response from the container engine for 30s; run stopped") || !strings.Contains(err.Error(), "--resume") {
			t.Errorf("error %v", err)
		}
		if calls != 33 { // before the first trial, then once a second from 0 to more than 30 s
			t.Errorf("%d calls", calls)
		}
		if len(f.trials) != 1 || f.trials[f.order[0]].State != bench.TrialComplete || f.ended().State != bench.RunFailed {
			t.Errorf("%d trials, run %s", len(f.trials), f.ended().State)
		}
	})
}

func TestStoreThatRespondsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		f, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Run.Trials = f.cfg.Run.Trials[:1]
			f.cfg.StoreAlive = func(context.Context) error {
				if calls++; calls <= 7 {
					return errors.New("connection refused")
				}
				return nil
			}
		})
		if err != nil || len(f.trials) != 1 {
			t.Errorf("%d trials, error %v", len(f.trials), err)
		}
		if got := notices(f.records); len(got) != 2 || got[0] != "waiting up to 30s for the store: connection refused" || got[1] != "the store responds again after 7.00 s" {
			t.Errorf("notices %q", got)
		}
	})
}

func TestResumeSkipsCompleteTrials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := start(t, context.Background(), func(f *fakeRun) {
			for i := range f.cfg.Run.Trials[:3] {
				f.cfg.Run.Trials[i].State = bench.TrialComplete
			}
		})
		testenv.OK(t, err)
		if len(f.trials) != 1 || f.order[0] != f.cfg.Run.Trials[3].Trial.String() {
			t.Errorf("trials run: %v", f.order)
		}
		if builds := f.phases(""); len(builds) != 2 { // store, and the one contender that is still to run
			t.Errorf("phases %v", builds)
		}
	})
}

// TestCountersAreReadOnceASecond: a step records the readings within its measured interval.
func TestCountersAreReadOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Run.Trials = f.cfg.Run.Trials[:1]
			f.cfg.Engine = &hookEngine{run: func(ctx context.Context, step bench.Step, hooks Hooks) (bench.Load, error) {
				time.Sleep(200 * time.Millisecond) // the lead-in
				hooks.OnStart()
				time.Sleep(time.Duration(step.Connections) * 2 * time.Second)
				hooks.OnEnd()
				time.Sleep(1500 * time.Millisecond) // the drain
				return good(ctx, step)
			}}
		})
		testenv.OK(t, err)
		for i, s := range f.trials[f.order[0]].Steps {
			took := time.Duration(s.Step.Connections) * 2 * time.Second
			if len(s.Samples) != s.Step.Connections*2 || s.After.At.Sub(s.Before.At) != took {
				t.Errorf("step %d: %d readings in %v", i+1, len(s.Samples), s.After.At.Sub(s.Before.At))
			}
			for n := 1; n < len(s.Samples); n++ {
				if apart := s.Samples[n].At.Sub(s.Samples[n-1].At); apart != time.Second {
					t.Errorf("step %d: readings %v apart", i+1, apart)
				}
			}
		}
	})
}

// TestLogRelay_OnceASecond: lines are published within a second, at most one event per second.
func TestLogRelay_OnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var published []time.Duration
		var lines []int
		began := time.Now()
		r := &logRelay{publish: func(e bench.LogLines) {
			published, lines = append(published, time.Since(began)), append(lines, len(e.Lines))
		}}
		for range 5 {
			r.add(bench.LogLine{Text: "x"})
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		r.add(bench.LogLine{Text: "x"})
		r.flush(true)
		r.add(bench.LogLine{Text: "late"})
		time.Sleep(2 * time.Second) // for the timer of the last event
		if !slices.Equal(published, []time.Duration{time.Second, 2200 * time.Millisecond, 61500 * time.Millisecond}) || !slices.Equal(lines, []int{4, 1, 1}) {
			t.Errorf("published at %v, with lines %v", published, lines)
		}
	})
}

func TestLogRelayIsBounded(t *testing.T) {
	var got []bench.LogLines
	r := &logRelay{publish: func(e bench.LogLines) { got = append(got, e) }}
	for range 5000 {
		r.add(bench.LogLine{Text: strings.Repeat("é", 5000)})
	}
	r.flush(true)
	var lines int
	var dropped int64
	for _, e := range got {
		lines += len(e.Lines)
		dropped += e.Dropped
		for _, l := range e.Lines {
			if len(l.Text) > relayBytes+4 || strings.ContainsRune(l.Text, '\ufffd') {
				t.Fatalf("line of %d bytes", len(l.Text))
			}
		}
	}
	if int64(lines)+dropped != 5000 || lines == 0 || lines > 10*relayLines {
		t.Errorf("%d lines and %d dropped of 5000", lines, dropped)
	}
}
