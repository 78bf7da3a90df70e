package runner

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"locbench/internal/bench"
)

// windows are one second each, with so many successes and failures.
func windows(good, bad int64, n int) (all []bench.Window) {
	for i := range n {
		all = append(all, bench.Window{Start: time.Duration(i) * time.Second, Length: time.Second, Succeeded: good, Failed: map[bench.ErrorKind]int64{"5xx": bad}})
	}
	return all
}

// failing is an engine whose requests fail from step two on: it tells four windows, unless it is
// ended before.
type failing struct{ ran *[]string }

func (failing) Rest(string) {}

func (f failing) Run(ctx context.Context, _ string, step bench.Step, hooks Hooks) (bench.Load, error) {
	*f.ran = append(*f.ran, step.Name)
	hooks.OnStart()
	defer hooks.OnEnd()
	load := bench.Load{Succeeded: 100, Elapsed: time.Second, Failed: map[bench.ErrorKind]int64{}}
	bad := int64(0)
	if step.Name != "one" {
		bad, load.Failed["5xx"] = 50, 50
	}
	for _, w := range windows(100, bad, 4) {
		if ctx.Err() != nil {
			return load, ctx.Err()
		}
		load.Windows = append(load.Windows, w)
		hooks.OnWindow(w)
	}
	return load, ctx.Err()
}

func TestThresholds(t *testing.T) {
	for _, c := range []struct {
		name      string
		threshold bench.Threshold
		legs      int // that began
		state     bench.LegState
		steps     int // of the first leg
		windows   int // of its second step
		run       bench.RunState
		aborted   bool // its second step
		stopped   bench.Scope
		failed    bool
	}{
		{"none asked to stop", bench.Threshold{Objective: "errors<10%"}, 4, bench.LegComplete, 3, 4, bench.RunComplete, false, "", false},
		{"the leg, after the step", bench.Threshold{Objective: "errors<10%", Stop: bench.ScopeLeg}, 4, bench.LegAborted, 2, 4, bench.RunFailed, false, bench.ScopeLeg, true},
		{"the run, after the step", bench.Threshold{Objective: "errors<10%", Stop: bench.ScopeRun}, 1, bench.LegAborted, 2, 4, bench.RunFailed, false, bench.ScopeRun, true},
		{"the step, while it runs", bench.Threshold{Objective: "errors<10%", Window: 2 * time.Second, Stop: bench.ScopeStep}, 4, bench.LegAborted, 3, 2, bench.RunFailed, true, bench.ScopeStep, true},
		{"the leg, while the step runs", bench.Threshold{Objective: "errors<10%", Window: 3 * time.Second, Stop: bench.ScopeLeg}, 4, bench.LegAborted, 2, 3, bench.RunFailed, true, bench.ScopeLeg, true},
		{"windows without a stop", bench.Threshold{Objective: "errors<10%", Window: 2 * time.Second}, 4, bench.LegComplete, 3, 4, bench.RunComplete, false, "", false},
		{"only from the third step on", bench.Threshold{Objective: "errors<10%", Stop: bench.ScopeLeg, FromStep: 3}, 4, bench.LegComplete, 3, 4, bench.RunComplete, false, "", false},
		{"only for another contender", bench.Threshold{Objective: "errors<10%", Stop: bench.ScopeRun, Contender: "c"}, 4, bench.LegComplete, 3, 4, bench.RunComplete, false, "", false},
		{"nothing that is kept ends anything", bench.Threshold{Objective: "errors<50%", Stop: bench.ScopeRun, Window: time.Second}, 4, bench.LegComplete, 3, 4, bench.RunComplete, false, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ran []string
				f, err := start(t, context.Background(), func(f *fakeRun) {
					f.cfg.Engine = failing{&ran}
					f.cfg.Run.Profile.Thresholds = []bench.Threshold{c.threshold}
				})
				if c.failed != errors.Is(err, ErrThreshold) || errors.Is(err, ErrLegs) {
					t.Errorf("error %v", err)
				}
				first := f.legs[f.order[0]]
				if len(f.order) != c.legs || first.State != c.state || len(first.Steps) != c.steps || f.ended().State != c.run {
					t.Fatalf("%d legs; %s after %d steps (%s); run %s", len(f.order), first.State, len(first.Steps), first.Failure, f.ended().State)
				}
				two := first.Steps[1]
				if len(two.Load.Windows) != c.windows || (two.Aborted != "") != c.aborted {
					t.Errorf("%d windows, aborted %q", len(two.Load.Windows), two.Aborted)
				}
				concerns := c.threshold.FromStep < 3 && c.threshold.Contender == ""
				if (len(two.Thresholds) > 0) != concerns && !(c.aborted && c.threshold.Window == 0) {
					t.Fatalf("judged: %+v", two.Thresholds)
				}
				for _, j := range two.Thresholds {
					if j.Stopped != c.stopped || j.Passed != (c.threshold.Objective == "errors<50%") || j.Value == nil || *j.Value < .33 || *j.Value > .34 {
						t.Errorf("judged: %+v", j)
					}
				}
			})
		})
	}
}

// A threshold that ends the run at the last step of a leg has nothing of that leg to cut short.
func TestThresholdAtTheEndOfALeg(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran []string
		f, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Engine = failing{&ran}
			f.cfg.Run.Profile.Thresholds = []bench.Threshold{{Objective: "errors<10%", Stop: bench.ScopeRun, FromStep: 3}}
		})
		if !errors.Is(err, ErrThreshold) || len(f.order) != 1 {
			t.Fatalf("%d legs, %v", len(f.order), err)
		}
		leg := f.legs[f.order[0]]
		if leg.State != bench.LegComplete || leg.Steps[2].Thresholds[0].Stopped != bench.ScopeRun {
			t.Errorf("%s, %+v", leg.State, leg.Steps[2].Thresholds)
		}
	})
}

// A contender that fails is the worse news: the exit code tells it, whatever thresholds were missed
// besides.
func TestAFailureIsWorseThanAThreshold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran []string
		_, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Engine = failing{&ran}
			f.cfg.Run.Profile.Thresholds = []bench.Threshold{{Objective: "errors<10%", Stop: bench.ScopeLeg, Contender: "a"}}
			f.cfg.Build = func(_ context.Context, svc bench.Service, _ func(string)) (bench.Artifact, error) {
				if svc.Name == "b" {
					return bench.Artifact{}, errors.New("no compiler")
				}
				return bench.Artifact{}, nil
			}
		})
		if !errors.Is(err, ErrLegs) || !errors.Is(err, ErrThreshold) {
			t.Errorf("error %v", err)
		}
	})
}
