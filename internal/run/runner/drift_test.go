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
	if len(steps) != 3 {
		t.Fatalf("%d steps", len(steps))
	}
	const want = "still warming up: throughput rose by 41% over the step"
	if d := steps[1].Drift; steps[0].Drift != nil || steps[2].Drift != nil || d == nil || !strings.HasPrefix(d.String(), want) {
		t.Errorf("drifts %v, %v, %v", steps[0].Drift, d, steps[2].Drift)
	}
}
