package runner

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// A measured step with a trend in its windows records a drift; a warm-up records none.
func TestDrift(t *testing.T) {
	f := start(t, func(f *fakeRun) {
		f.only(1)
		f.cfg.Run.Profile.Steps = []bench.Step{
			{Name: "warm", Connections: 1, WarmUp: true}, {Name: "one", Connections: 1}, {Name: "two", Connections: 2},
		}
		f.site.engine = &hookEngine{run: func(_ context.Context, step bench.Step, hooks Hooks) (bench.Load, error) {
			load := bench.Load{Started: time.Now(), Elapsed: 8 * time.Second}
			hooks.OnStart()
			hooks.OnEnd()
			for i := range 8 {
				rising := int64(1000)
				if step.Name != "two" {
					rising += 50 * int64(i)
				}
				start := time.Duration(i) * time.Second
				load.Windows = append(load.Windows, bench.Window{Start: start, Length: time.Second, Succeeded: rising})
				load.Succeeded += rising
			}
			return load, nil
		}}
	})
	testenv.OK(t, f.err)
	steps := f.trials["a-1"].Steps
	testenv.Need(t, len(steps) == 3, "%d steps", len(steps))
	const want = "still warming up: throughput rose by 41% over the step"
	if d := steps[1].Drift; steps[0].Drift != nil || steps[2].Drift != nil || d == nil || !strings.HasPrefix(d.String(), want) {
		t.Errorf("drifts %v, %v, %v", steps[0].Drift, d, steps[2].Drift)
	}
}

// A warm-up before a measured step continues while compilers of any of the interleaved contenders are at
// work, for all of them, at most a minute; one of a fixed length does not. What it did before is its lead-in.
func TestWarmUp(t *testing.T) {
	for _, test := range []struct {
		name     string
		compiles time.Duration // CPU time until which a compiles
		step     bench.Step
		apart    bool  // not interleaved
		before   bool  // a warm-up follows
		each     int64 // successes of a slice
		loads    [2]int
		drift    string
	}{
		{"idle", 0, bench.Step{UntilWarm: true, Duration: 4 * time.Second}, false, false, 10, [2]int{1, 1}, ""},
		{"of a fixed length", time.Hour, bench.Step{Duration: 4 * time.Second}, false, false, 10, [2]int{1, 1}, still50},
		{"for some time", 20 * time.Second, bench.Step{UntilWarm: true, Duration: 4 * time.Second}, false, false, 10, [2]int{5, 5}, ""},
		{"for some time, with many requests", 20 * time.Second, bench.Step{UntilWarm: true, Duration: 4 * time.Second}, false, false, 667, [2]int{3, 3}, ""},
		{"for some time, with half as many", 20 * time.Second, bench.Step{UntilWarm: true, Duration: 4 * time.Second}, false, false, 334, [2]int{4, 4}, ""},
		{"alone", 20 * time.Second, bench.Step{UntilWarm: true, Duration: 4 * time.Second}, true, false, 10, [2]int{12, 1}, ""},
		{"before another warm-up", 20 * time.Second, bench.Step{UntilWarm: true, Duration: 4 * time.Second}, false, true, 10, [2]int{1, 1}, ""},
		{"for ever", time.Hour, bench.Step{UntilWarm: true, Duration: 4 * time.Second}, false, false, 10, [2]int{15, 15}, still50},
		{"for ever, from a long one on", time.Hour, bench.Step{UntilWarm: true, Duration: 53 * time.Second}, false, false, 10, [2]int{2, 2}, still50},
		{"longer than a minute", time.Hour, bench.Step{UntilWarm: true, Duration: 57 * time.Second}, false, false, 10, [2]int{1, 1}, still50},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &slicing{each: test.each}
			begun := 0
			f := start(t, func(f *fakeRun) {
				interleave(e)(f)
				f.only(2)
				f.launcher.compiles = map[string]time.Duration{"a-1": test.compiles}
				if test.apart {
					f.cfg.Run.Profile.Interleave = 0
				}
				test.step.Name, test.step.Connections, test.step.WarmUp = "warm", 1, true
				second := bench.Step{Name: "two", Connections: 2, WarmUp: test.before}
				f.cfg.Run.Profile.Steps = []bench.Step{test.step, second}
				f.on = func(rec bench.Record) {
					if e, ok := rec.Event.(bench.StepStarted); ok && e.Index == 0 {
						begun++
					}
				}
			})
			testenv.OK(t, f.err)
			testenv.Equal(t, begun, 2)
			for i, name := range []string{"a-1", "b-1"} {
				loads := 0
				for _, entry := range e.log {
					if entry == name+" warm" {
						loads++
					}
				}
				slices := slicesOfStep
				if test.apart {
					slices = 1
				}
				warm, two := f.trials[name].Steps[0], f.trials[name].Steps[1]
				testenv.Equal(t, loads, test.loads[i]*slices, name)
				testenv.Equal(t, warm.Load.Lead, test.each*int64(slices*(test.loads[i]-1)), name, "lead-in")
				testenv.Equal(t, warm.Step, test.step, name)
				kinds := map[bench.WarningKind]int{}
				for _, w := range warm.Warnings {
					kinds[w.Kind]++
					testenv.Equal(t, kinds[w.Kind], 1, name, w.Kind)
				}
				if want := test.drift; i == 1 && two.Drift != nil || i == 0 && (two.Drift == nil) != (want == "") ||
					two.Drift != nil && two.Drift.String() != want {
					t.Errorf("%s: %v, want %q", name, two.Drift, want)
				}
			}
		})
	}
}

const still50 = "still warming up: compilers took 50% of its CPU time in the second half of the step"
