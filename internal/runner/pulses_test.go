package runner

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locbench/internal/bench"
)

// CPU time of a step in bursts is that of the bursts; the engine may ask for the contender's
// counter at any time, and a measured step whose windows do not stay level has the finding on
// record, while a warm-up has none.
func TestBurstsAndDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Duration
		f, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Run.Legs = f.cfg.Run.Legs[:1]
			f.cfg.Run.Profile.Steps = []bench.Step{{Name: "warm", Connections: 1, WarmUp: true, Settle: true}, {Name: "one", Connections: 1}, {Name: "two", Connections: 2}}
			f.cfg.Engine = &hookEngine{run: func(_ context.Context, step bench.Step, hooks Hooks) (bench.Load, error) {
				load := bench.Load{Started: time.Now(), Elapsed: 8 * time.Second}
				bursts := 1
				if step.Settle {
					bursts = 3
				}
				for range bursts {
					hooks.OnStart()
					hooks.OnEnd()
					if used, ok := hooks.CPU(); ok { // in a rest, or behind the step
						asked = append(asked, used)
					}
				}
				for i := range 8 {
					rising := int64(1000)
					if step.Name != "two" {
						rising += 50 * int64(i)
					}
					load.Windows = append(load.Windows, bench.Window{Start: time.Duration(i) * time.Second, Length: time.Second, Succeeded: rising})
					load.Succeeded += rising
				}
				return load, nil
			}}
		})
		if err != nil {
			t.Fatal(err)
		}
		steps := f.legs["a-1"].Steps
		if len(steps) != 3 {
			t.Fatalf("%d steps", len(steps))
		}
		// The fake uses a second of CPU time between any two readings: one in each burst, two in each
		// rest.
		if cpu, ok := steps[0].CPU(); !ok || cpu != 3*time.Second {
			t.Errorf("CPU time %s of three bursts, %v", cpu, ok)
		}
		if cpu, ok := steps[1].CPU(); !ok || cpu != time.Second {
			t.Errorf("CPU time %s of one", cpu)
		}
		if len(asked) != 5 || asked[1]-asked[0] != 3*time.Second {
			t.Errorf("the engine was asked for %v", asked)
		}
		if steps[0].Drift != nil || steps[2].Drift != nil || steps[1].Drift == nil || !strings.HasPrefix(steps[1].Drift.String(), "still warming: throughput rose by 41 % over the step") {
			t.Errorf("drifts %v, %v, %v", steps[0].Drift, steps[1].Drift, steps[2].Drift)
		}
	})
}
