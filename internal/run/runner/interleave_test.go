package runner

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
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
	each   int64                                                                   // successes of a slice; 0: 10
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
		load.Succeeded += cmp.Or(e.each, 10)
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
		f.site.engine = e
	}
}

func TestContendersAreInterleaved(t *testing.T) {
	e := &slicing{}
	f := start(t, interleave(e))
	testenv.OK(t, f.err)
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
			testenv.Equal(t, own, slicesOfStep, trial, step, part)
		}
	}
	testenv.Check(t, longest(got) <= 2, "more than two slices in a row: %v", got)
	testenv.Equal(t, len(e.rested), 4, e.rested)
	a, b := f.trials["a-1"], f.trials["b-1"]
	for i := range a.Steps {
		for _, s := range []bench.StepResult{a.Steps[i], b.Steps[i]} {
			if s.Interleave == nil || s.Interleave.Count != slicesOfStep || s.Interleave.Length != sliceLength || len(s.Interleave.With) != 1 {
				t.Fatalf("step %d: interleaving %+v", i+1, s.Interleave)
			}
			// The fake uses a second of CPU time between any two readings: three in its slices,
			// and two between them, which are its requests', too, but not of the readings.
			if cpu, ok := s.CPU(); !ok || cpu != (2*slicesOfStep-1)*time.Second || s.Interleave.WaitedCPU != (slicesOfStep-1)*time.Second {
				t.Errorf("step %d: CPU %s, waiting %s", i+1, cpu, s.Interleave.WaitedCPU)
			}
			testenv.Equal(t, s.After.CPU-s.Before.CPU, slicesOfStep*time.Second)
			if !slices.ContainsFunc(s.Warnings, func(w bench.Warning) bool { return w.Kind == bench.WarnBusyOutOfTurn }) {
				t.Errorf("step %d: warnings %q", i+1, s.Warnings)
			}
			if len(s.Samples) != 0 { // the step takes less than a second
				t.Errorf("step %d: %d readings within the step", i+1, len(s.Samples))
			}
			testenv.Check(t, s.Hiccups != nil, "step %d: machine stalls not measured", i+1)
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
	testenv.Check(t, loaded == 6 && stopped == 2, "%d steps, %d stopped", loaded, stopped)
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

// TestInterleaved: what is left of an interleaved run that something ends, in testdata/interleaved.
func TestInterleaved(t *testing.T) {
	// In the last slice of step two, when the step of both trials has begun.
	inStepTwo := func(do func(ctx context.Context, f *fakeRun, url string) error) func(*fakeRun) {
		return func(f *fakeRun) {
			interleave(&slicing{during: func(ctx context.Context, url string, step bench.Step, slice int) error {
				if step.Name != "two" || slice < slicesOfStep-1 {
					return nil
				}
				return do(ctx, f, url)
			}})(f)
		}
	}
	untilDone := func(ctx context.Context) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	outcomes(t, "interleaved", map[string]func(*fakeRun){
		"an only contender with itself, without the odd round": func(f *fakeRun) {
			interleave(&slicing{})(f)
			f.rounds(3)
		},
		"one of two contenders exits": func(f *fakeRun) {
			f.only(2)
			inStepTwo(func(ctx context.Context, f *fakeRun, url string) error {
				if url != "http://a-1" {
					return nil
				}
				for _, i := range f.launcher.instances {
					if i.name == "a-1" {
						i.die(bench.Exit{At: time.Now(), Code: 3})
					}
				}
				return untilDone(ctx)
			})(f)
		},
		"interrupted": inStepTwo(func(ctx context.Context, f *fakeRun, _ string) error {
			f.interrupt(errors.New("interrupted (SIGINT)"))
			return untilDone(ctx)
		}),
		"a step is skipped in all trials, a contender is not": func(f *fakeRun) {
			f.only(2)
			inStepTwo(func(ctx context.Context, _ *fakeRun, _ string) error { return untilDone(ctx) })(f)
			begun := 0
			f.on = func(rec bench.Record) {
				if e, ok := rec.Event.(bench.StepStarted); !ok || e.Index != 1 {
					return
				}
				if begun++; begun == 1 {
					f.send(bench.ControlSkipContender)
				} else {
					f.send(bench.ControlSkipStep)
				}
			}
		},
		"stopped": func(f *fakeRun) {
			taken := make(chan struct{})
			inStepTwo(func(context.Context, *fakeRun, string) error {
				<-taken
				return nil
			})(f)
			f.on = func(rec bench.Record) {
				if f.inFirst(rec, 1) {
					f.send(bench.ControlStop)
				}
				if bench.EventName(rec.Event) == "changed_manually" {
					close(taken)
				}
			}
		},
	})
}

// TestInterleaved_Needs: the needs of all contenders of a round are restored before the first one
// starts, and those of none after a trial, since the next one is loaded. What a contender's own
// needs use between its slices is on record, and a warning names them.
func TestInterleaved_Needs(t *testing.T) {
	reads := map[bench.Trial]time.Duration{}
	f := start(t, func(f *fakeRun) {
		interleave(&slicing{})(f)
		f.site.own = func(of bench.Trial) map[string]*bench.NeedUsage {
			reads[of] += time.Second
			return map[string]*bench.NeedUsage{"db": {Source: "cgroup v2", CPU: reads[of]}}
		}
	})
	testenv.OK(t, f.err)
	first, second := f.cfg.Run.Trials[0].Trial, f.cfg.Run.Trials[1].Trial
	round := f.site.restores[:6] // each contender: before it, after the checks that launch it, at its end
	testenv.Equal(t, round[0].Next, first)
	testenv.Equal(t, round[0].Soon, []bench.Trial{second})
	for _, r := range round {
		testenv.Check(t, r.Next == bench.Trial{} || r.Ended == bench.Trial{}, "%+v", r)
	}
	for _, trial := range []bench.Trial{first, second} {
		s := f.trials[trial.String()].Steps[0]
		testenv.Equal(t, s.Interleave.WaitedNeeds["db"], (slicesOfStep-1)*time.Second)
		testenv.Contains(t, s.Warnings.Join("; "), "db of "+trial.Label()+" used ")
	}
}
