package runner

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestRun_Complete(t *testing.T) {
	f := start(t, nil)
	testenv.OK(t, f.err)
	testenv.Equal(t, f.phases(""), []string{"needs", "build", "build"}, "phases of the run")
	testenv.Equal(t, f.phases("a-1"), []string{"check", "launch", "ready", "check", "load", "stop"}, "phases of a trial")
	testenv.Need(t, len(f.trials) == 4 && f.ended().State == bench.RunComplete,
		"%d trials, state %s", len(f.trials), f.ended().State)
	for name, trial := range f.trials {
		if trial.State != bench.TrialComplete || len(trial.Steps) != 3 || trial.Stop == nil || trial.StartUp == nil ||
			len(trial.Marks) != 2 {
			t.Errorf("%s: %+v", name, trial)
		}
		if want := 5 - trial.Trial.Round; len(trial.Checks) != want { // those that launch the contender are in round 1
			t.Errorf("%s: checks %+v", name, trial.Checks)
		}
		cpu, ok := trial.Steps[1].CPU()
		testenv.Check(t, ok && cpu > 0, "%s: counters not read at the start and the end of the step", name)
		testenv.Check(t, len(trial.Warnings) != 0 && strings.Contains(trial.Warnings[0].Text, "LIMITS NOT ENFORCED"),
			"%s: no warning that limits are not enforced: %q", name, trial.Warnings)
	}
}

func TestOrder(t *testing.T) {
	contenders := []bench.Selection{{Contender: "a"}, {Contender: "b", Variant: "x"}, {Contender: "c"}}
	trials := Order(contenders, 40, 7)
	testenv.Equal(t, trials, Order(contenders, 40, 7), "the same seed gives another order")
	testenv.Check(t, !reflect.DeepEqual(trials, Order(contenders, 40, 8)), "another seed gives the same order")
	first := map[string]int{}
	for round := range 40 {
		seen := map[string]bool{}
		for _, e := range trials[3*round : 3*round+3] {
			testenv.Need(t, e.Trial.Round == round+1, "trial %s is in round %d", e.Trial, round+1)
			seen[e.Trial.Contender] = true
		}
		testenv.Need(t, len(seen) == 3, "round %d lacks a contender: %v", round+1, seen)
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
		testenv.Check(t, n != 40 && n != 0, "%s is first in %d of 40 rounds", c, n)
	}
}

// TestRun: what is left of a run in which something fails, in testdata/run.
func TestRun(t *testing.T) {
	interrupted := errors.New("interrupted by Ctrl-C")
	build := func(fails func(name string) bool) func(*fakeRun) {
		return func(f *fakeRun) {
			f.site.build = func(_ context.Context, svc bench.Service, _ func(string)) (bench.Artifact, error) {
				if fails(svc.Name) {
					return bench.Artifact{}, errors.New("failed; last lines:\n  cargo:\n  not found")
				}
				return bench.Artifact{}, nil
			}
		}
	}
	outcomes(t, "run", map[string]func(*fakeRun){
		"a contender exits in a step": func(f *fakeRun) {
			f.load(2, func(ctx context.Context) (bench.Load, error) {
				inst := f.launcher.last()
				if inst != f.launcher.instances[1] { // the first trial's main instance
					return good(ctx, bench.Step{})
				}
				inst.die(bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true})
				<-ctx.Done() // the runner cuts the step short
				return bench.Load{Outcomes: bench.Outcomes{Succeeded: 7}}, ctx.Err()
			})
		},
		"a contender exits after the last step": func(f *fakeRun) {
			f.only(1)
			f.load(4, func(ctx context.Context) (bench.Load, error) {
				f.launcher.last().late = &bench.Exit{Code: 137, OOMKilled: true}
				return good(ctx, bench.Step{})
			})
		},
		// The runtime reports the exit later than the kernel.
		"a contender has exited in a step without responses": func(f *fakeRun) {
			f.only(1)
			f.launcher.gone = true
			f.load(2, func(context.Context) (bench.Load, error) {
				inst := f.launcher.last()
				time.AfterFunc(10*time.Millisecond, func() {
					inst.die(bench.Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true})
				})
				return bench.Load{Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{"connect": 45}}}, nil
			})
		},
		"a contender hangs": func(f *fakeRun) {
			f.only(1)
			f.site.engine = fakeEngine(func(context.Context, bench.Step) (bench.Load, error) {
				return bench.Load{
					Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 4}, Examples: map[bench.ErrorKind]string{bench.ErrTimeout: "no response after 1s"}},
				}, nil
			})
		},
		"interrupted in the store": func(f *fakeRun) {
			f.site.stages[0].Do = func(ctx context.Context, _ func(bench.Progress)) (string, error) {
				f.interrupt(interrupted)
				return "", ctx.Err()
			}
		},
		"interrupted in a build": func(f *fakeRun) {
			f.site.build = func(ctx context.Context, _ bench.Service, _ func(string)) (bench.Artifact, error) {
				f.interrupt(interrupted)
				return bench.Artifact{}, ctx.Err()
			}
		},
		"interrupted in a start": func(f *fakeRun) {
			f.ready(func(ctx context.Context, _ bench.Instance, _ bench.Service) error {
				f.interrupt(interrupted)
				return ctx.Err()
			})
		},
		"interrupted in a step": func(f *fakeRun) {
			f.load(4, func(ctx context.Context) (bench.Load, error) {
				f.interrupt(interrupted)
				return bench.Load{Outcomes: bench.Outcomes{Succeeded: 3}}, ctx.Err()
			})
		},
		"one contender cannot be built": build(func(name string) bool { return name == "b" }),
		"no contender can be built":     build(func(string) bool { return true }),
		"the store is lost in a step": func(f *fakeRun) {
			f.only(1)
			var gone error
			f.site.alive = func(context.Context) error { return gone }
			f.load(2, func(context.Context) (bench.Load, error) {
				gone = errors.New("connection refused")
				return bench.Load{Outcomes: bench.Outcomes{Failed: map[bench.ErrorKind]int64{"5xx": 10}}}, nil
			})
		},
		"the store responds again": func(f *fakeRun) {
			f.only(1)
			calls := 0
			f.site.alive = func(context.Context) error {
				if calls++; calls <= 7 {
					return errors.New("connection refused")
				}
				return nil
			}
		},
		"complete trials are skipped": func(f *fakeRun) {
			for i := range f.cfg.Run.Trials[:3] {
				f.cfg.Run.Trials[i].State = bench.TrialComplete
			}
		},
		// At half of the highest rate so far.
		"a step at half peak": func(f *fakeRun) {
			f.only(1)
			f.cfg.Run.Profile.Steps = []bench.Step{{Name: "one", Connections: 1}, {Name: "half", PeakShare: 0.5}}
			f.site.engine = fakeEngine(func(ctx context.Context, step bench.Step) (bench.Load, error) {
				if step.Connections == 0 {
					return bench.Load{Outcomes: bench.Outcomes{Succeeded: int64(step.Rate)}}, nil
				}
				return good(ctx, step)
			})
			f.on = func(rec bench.Record) {
				if e, ok := rec.Event.(bench.StepStarted); ok && e.Index == 1 && e.Step.Rate != 50 {
					t.Errorf("the step starts with a rate of %v", e.Step.Rate)
				}
			}
		},
	})
}

// TestRun_GrowingSeconds are reported in steps of at most ten seconds.
func TestRun_GrowingSeconds(t *testing.T) {
	for length, want := range map[time.Duration]int{10 * time.Second: 1, 11 * time.Second: 0} {
		grew := 0
		start(t, func(f *fakeRun) {
			f.only(1)
			f.cfg.Run.Profile.Steps = []bench.Step{{Name: "one", Connections: 1, Duration: length}}
			f.on = func(rec bench.Record) {
				if _, ok := rec.Event.(bench.WindowGrew); ok {
					grew++
				}
			}
		})
		testenv.Equal(t, grew, want, length.String())
	}
}

func TestRun_LostContainerEngine(t *testing.T) {
	calls := 0
	f := start(t, func(f *fakeRun) {
		f.site.engineAlive = func(context.Context) error {
			if calls++; calls > 1 {
				return errors.New("cannot connect")
			}
			return nil
		}
	})
	testenv.Fails(t, f.err, "no response from the container engine for 30s; run stopped", "--resume")
	if calls != 33 { // before the first trial, then once a second from 0 to more than 30 s
		t.Errorf("%d calls", calls)
	}
	testenv.Check(t, len(f.trials) == 1 && f.first().State == bench.TrialComplete && f.ended().State == bench.RunFailed,
		"%d trials, run %s", len(f.trials), f.ended().State)
}

// TestRun_CountersOnceASecond: a step records the readings within its measured interval.
func TestRun_CountersOnceASecond(t *testing.T) {
	f := start(t, func(f *fakeRun) {
		f.only(1)
		f.site.engine = &hookEngine{run: func(ctx context.Context, step bench.Step, hooks Hooks) (bench.Load, error) {
			time.Sleep(200 * time.Millisecond) // the lead-in
			hooks.OnStart()
			time.Sleep(time.Duration(step.Connections) * 2 * time.Second)
			hooks.OnEnd()
			time.Sleep(1500 * time.Millisecond) // the drain
			return good(ctx, step)
		}}
	})
	testenv.OK(t, f.err)
	for i, s := range f.trials[f.order[0]].Steps {
		took := time.Duration(s.Step.Connections) * 2 * time.Second
		testenv.Check(t, len(s.Samples) == s.Step.Connections*2 && s.After.At.Sub(s.Before.At) == took,
			"step %d: %d readings in %v", i+1, len(s.Samples), s.After.At.Sub(s.Before.At))
		for n := 1; n < len(s.Samples); n++ {
			testenv.Equal(t, s.Samples[n].At.Sub(s.Samples[n-1].At), time.Second, i+1)
		}
	}
}
