package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// slicing is an engine that runs each step in three slices, and logs which contender each one
// loads.
type slicing struct {
	mu     sync.Mutex
	log    []string
	rested []string
	loaded int                                                                     // contenders loaded now
	during func(ctx context.Context, url string, step bench.Step, slice int) error // may be nil
}

const (
	slicesOfStep = 3
	sliceLength  = 100 * time.Millisecond
)

func (e *slicing) Rest(at Place) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rested = append(e.rested, at.BaseURL)
}

func (e *slicing) Run(ctx context.Context, at Place, step bench.Step, hooks Hooks) (bench.Load, error) {
	var load bench.Load
	count := slicesOfStep
	url := at.BaseURL
	if hooks.Interleave == nil {
		count = 1
	}
	for slice := range count {
		if slice > 0 {
			hooks.Interleave.Next()
		}
		if ctx.Err() != nil {
			return load, context.Cause(ctx)
		}
		e.mu.Lock()
		e.loaded++
		if e.loaded > 1 {
			panic("two contenders are loaded at the same time")
		}
		e.log = append(e.log, strings.TrimPrefix(url, "http://")+" "+step.Name)
		e.mu.Unlock()
		hooks.OnStart()
		time.Sleep(sliceLength)
		var err error
		if e.during != nil {
			err = e.during(ctx, url, step, slice)
		}
		hooks.OnEnd()
		e.mu.Lock()
		e.loaded--
		e.mu.Unlock()
		load.Succeeded += 10
		load.Elapsed += time.Second
		load.Wall = load.Elapsed
		hooks.OnWindow(bench.Window{Start: load.Elapsed - time.Second, Length: time.Second, Succeeded: 10})
		if err != nil {
			return load, err
		}
	}
	return load, nil
}

// interleave makes a run interleaved.
func interleave(e *slicing) func(*fakeRun) {
	return func(f *fakeRun) {
		f.cfg.Run.Profile.Interleave = sliceLength
		f.cfg.Engine = e
	}
}

func TestContendersAreInterleaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &slicing{}
		f, err := start(t, context.Background(), interleave(e))
		testenv.OK(t, err)
		first, second := f.cfg.Run.Trials[0].Trial.String(), f.cfg.Run.Trials[1].Trial.String()
		got := e.log[:len(e.log)/2] // the first round
		for i, step := range []string{"one", "two", "four"} {
			part := got[2*slicesOfStep*i : 2*slicesOfStep*(i+1)]
			for _, trial := range []string{first, second} {
				own := 0
				for _, entry := range part {
					if entry == trial+" "+step {
						own++
					}
				}
				if own != slicesOfStep {
					t.Errorf("%s has %d slices in step %s: %v", trial, own, step, part)
				}
			}
		}
		if longest(got) > 2 {
			t.Errorf("more than two slices in a row: %v", got)
		}
		if len(e.rested) != 4 {
			t.Errorf("rested %v", e.rested)
		}
		a, b := f.trials["a-1"], f.trials["b-1"]
		for i := range a.Steps {
			for _, s := range []bench.StepResult{a.Steps[i], b.Steps[i]} {
				if s.Interleave == nil || s.Interleave.Count != slicesOfStep || s.Interleave.Length != sliceLength || len(s.Interleave.With) != 1 {
					t.Fatalf("step %d: interleaving %+v", i+1, s.Interleave)
				}
				// The fake uses a second of CPU time between any two readings: three in its slices,
				// and two between them, which are not in the results.
				if cpu, ok := s.CPU(); !ok || cpu != slicesOfStep*time.Second || s.Interleave.WaitedCPU != (slicesOfStep-1)*time.Second {
					t.Errorf("step %d: CPU %s, waiting %s", i+1, cpu, s.Interleave.WaitedCPU)
				}
				if !slices.ContainsFunc(s.Warnings, func(w bench.Warning) bool { return w.Kind == bench.WarnBusyOutOfTurn }) {
					t.Errorf("step %d: warnings %q", i+1, s.Warnings)
				}
				if len(s.Samples) != 0 { // the step takes less than a second
					t.Errorf("step %d: %d readings within the step", i+1, len(s.Samples))
				}
				if s.Hiccups == nil {
					t.Errorf("step %d: machine stalls not measured", i+1)
				}
			}
			if !a.Steps[i].Interleave.Since.Equal(b.Steps[i].Interleave.Since) || a.Steps[i].Interleave.Since.Equal(f.trials["a-2"].Steps[i].Interleave.Since) {
				t.Errorf("step %d: the same rotation is not recorded in both trials", i+1)
			}
		}
		// No contender is stopped before all have been loaded.
		loaded, stopped := 0, 0
		for _, rec := range f.records {
			if _, ok := rec.Event.(bench.StepEnded); ok && rec.Trial.Round == 1 {
				if loaded++; stopped > 0 {
					t.Error("a step ends after a contender of its round was stopped")
				}
			}
			if _, ok := rec.Event.(bench.InstanceStopped); ok && rec.Trial.Round == 1 {
				stopped++
			}
		}
		if loaded != 6 || stopped != 2 {
			t.Errorf("%d steps, %d stopped", loaded, stopped)
		}
	})
}

// longest returns the length of the longest row of equal entries.
func longest(log []string) (n int) {
	run := 0
	for i := range log {
		if i == 0 || log[i] != log[i-1] {
			run = 0
		}
		run++
		n = max(n, run)
	}
	return n
}

func TestOnlyContenderIsInterleavedWithItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &slicing{}
		f, err := start(t, context.Background(), func(f *fakeRun) {
			interleave(e)(f)
			only := []bench.Selection{{Contender: "a"}}
			f.cfg.Run.Profile.Contenders, f.cfg.Run.Profile.Rounds, f.cfg.Run.Trials = only, 3, Order(only, 3, 1)
		})
		testenv.OK(t, err)
		one, two, three := f.trials["a-1"], f.trials["a-2"], f.trials["a-3"]
		if three.State != bench.TrialComplete || three.Steps[0].Interleave != nil {
			t.Errorf("round 3 has no other trial, but is interleaved: %+v", three.Steps[0].Interleave)
		}
		if one.Steps[0].Interleave == nil || !one.Steps[0].Interleave.Since.Equal(two.Steps[0].Interleave.Since) || one.Steps[0].Interleave.With[0] != "a" {
			t.Fatalf("rounds 1 and 2: %+v, %+v", one, two)
		}
	})
}

// One of two contenders exits in the last slice of a step: its trial fails, the other continues.
func TestExitOfAnInterleavedContender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &slicing{}
		f, err := start(t, context.Background(), func(f *fakeRun) {
			interleave(e)(f)
			f.cfg.Run.Trials = f.cfg.Run.Trials[:2]
			e.during = func(ctx context.Context, url string, step bench.Step, slice int) error {
				if url != "http://a-1" || step.Name != "two" || slice != slicesOfStep-1 {
					return nil
				}
				for _, i := range f.launcher.instances {
					if i.name == "a-1" {
						i.die(bench.Exit{At: time.Now(), Code: 3})
					}
				}
				<-ctx.Done()
				return context.Cause(ctx)
			}
		})
		if !errors.Is(err, ErrTrials) || !strings.Contains(err.Error(), "a-1: ") || strings.Contains(err.Error(), "b-1: ") {
			t.Errorf("error %v", err)
		}
		a, b := f.trials["a-1"], f.trials["b-1"]
		if a.State != bench.TrialFailed || len(a.Steps) != 2 || !strings.Contains(a.Steps[1].Aborted, "exit code 3") {
			t.Errorf("a is %s: %q, %d steps", a.State, a.Failure, len(a.Steps))
		}
		if b.State != bench.TrialComplete || len(b.Steps) != 3 || len(b.Steps[1].Interleave.With) != 1 || len(b.Steps[2].Interleave.With) != 0 || b.Steps[2].Load.Succeeded != 30 {
			t.Errorf("b is %s, %d steps", b.State, len(b.Steps))
		}
	})
}

func TestInterruptedInterleaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancelCause(context.Background())
		defer end(nil)
		e := &slicing{during: func(ctx context.Context, _ string, step bench.Step, slice int) error {
			if step.Name == "two" && slice == slicesOfStep-1 {
				end(errors.New("interrupted (SIGINT)"))
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return nil
		}}
		f, err := start(t, ctx, interleave(e))
		if err == nil || f.ended().State != bench.RunInterrupted || len(f.trials) != 2 {
			t.Fatalf("%v, state %s, %d trials", err, f.ended().State, len(f.trials))
		}
		for name, trial := range f.trials {
			if trial.State != bench.TrialAborted || len(trial.Steps) != 2 || trial.Steps[0].Aborted != "" || trial.Steps[1].Aborted == "" || trial.Stop == nil {
				t.Errorf("%s is %s, %d steps", name, trial.State, len(trial.Steps))
			}
		}
	})
}

// A control of a step applies to all interleaved trials, and no single contender can be skipped.
func TestControlsOfInterleavedTrials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &slicing{during: func(ctx context.Context, _ string, step bench.Step, slice int) error {
			if step.Name != "two" || slice < slicesOfStep-1 { // the step of both trials has begun by then
				return nil
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}}
		f, err := startSteered(t, context.Background(), func(f *fakeRun) {
			interleave(e)(f)
			f.cfg.Run.Trials = f.cfg.Run.Trials[:2]
		}, func(s *steer, rec bench.Record) {
			if isStep(rec, 1) && len(s.controls) == 0 && rec.Trial.String() == s.cfg.Run.Trials[0].Trial.String() {
				s.send(bench.ControlSkipContender)
			}
			if isStep(rec, 1) && rec.Trial.String() == s.cfg.Run.Trials[1].Trial.String() {
				s.send(bench.ControlSkipStep)
			}
		})
		if !errors.Is(err, ErrTrials) {
			t.Errorf("error %v", err)
		}
		if got := fmt.Sprint(notices(f.records)); !strings.Contains(got, "cannot skip: contenders are interleaved") {
			t.Errorf("notices: %s", got)
		}
		for name, trial := range f.trials {
			if len(trial.Steps) != 3 || trial.Steps[1].Aborted != bench.AbortedSkipped || trial.Steps[2].Aborted != "" {
				t.Errorf("%s: %d steps, the second %q", name, len(trial.Steps), trial.Steps[1].Aborted)
			}
		}
	})
}

func TestStopOfInterleavedTrials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		taken := make(chan struct{})
		e := &slicing{during: func(_ context.Context, _ string, step bench.Step, slice int) error {
			if step.Name == "two" && slice == slicesOfStep-1 {
				<-taken
			}
			return nil
		}}
		f, err := startSteered(t, context.Background(), interleave(e), func(s *steer, rec bench.Record) {
			if isStep(rec, 1) && rec.Trial.String() == s.cfg.Run.Trials[0].Trial.String() {
				s.send(bench.ControlStop)
			}
			if _, ok := rec.Event.(bench.ChangedManually); ok {
				close(taken)
			}
		})
		if !errors.Is(err, ErrOnRequest) || len(f.trials) != 2 {
			t.Errorf("error %v, %d trials", err, len(f.trials))
		}
		for name, trial := range f.trials {
			if trial.State != bench.TrialAborted || trial.Stop == nil || len(trial.Steps) != 2 {
				t.Errorf("%s is %s, %d steps", name, trial.State, len(trial.Steps))
			}
		}
	})
}

// A threshold that stops the run stops all interleaved trials.
func TestThresholdOfInterleavedTrials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := start(t, context.Background(), func(f *fakeRun) {
			interleave(&slicing{})(f)
			f.cfg.Run.Profile.Thresholds = []bench.Threshold{{Condition: "throughput>1000000", Stop: bench.ScopeRun, FromStep: 2}}
		})
		if !errors.Is(err, ErrThreshold) || len(f.trials) != 2 {
			t.Fatalf("%v, %d trials", err, len(f.trials))
		}
		for name, trial := range f.trials {
			if trial.State != bench.TrialAborted || len(trial.Steps) != 2 || !strings.Contains(trial.Failure, "threshold missed") || trial.Stop == nil {
				t.Errorf("%s is %s after %d steps: %q", name, trial.State, len(trial.Steps), trial.Failure)
			}
		}
	})
}
