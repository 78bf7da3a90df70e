package runner

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// TestThresholds: what is left of a run with thresholds, in testdata/thresholds. A third of the
// requests fail from the second step on.
func TestThresholds(t *testing.T) {
	with := func(th bench.Threshold, changes ...func(*fakeRun)) func(*fakeRun) {
		return func(f *fakeRun) {
			f.cfg.Run.Profile.Thresholds = []bench.Threshold{th}
			f.site.engine = fakeEngine(func(_ context.Context, step bench.Step) (bench.Load, error) {
				load := bench.Load{Succeeded: 100, Elapsed: time.Second, Failed: map[bench.ErrorKind]int64{}}
				if step.Name != "one" {
					load.Failed["5xx"] = 50
				}
				return load, nil
			})
			for _, change := range changes {
				change(f)
			}
		}
	}
	outcomes(t, "thresholds", map[string]func(*fakeRun){
		"nothing stops":                    with(bench.Threshold{Condition: "errors<10%"}),
		"the trial stops":                  with(bench.Threshold{Condition: "errors<10%", Stop: bench.ScopeTrial}),
		"the run stops":                    with(bench.Threshold{Condition: "errors<10%", Stop: bench.ScopeRun}),
		"the trial, from the third step":   with(bench.Threshold{Condition: "errors<10%", Stop: bench.ScopeTrial, FromStep: 3}),
		"the run, from the third step":     with(bench.Threshold{Condition: "errors<10%", Stop: bench.ScopeRun, FromStep: 3}),
		"a passed threshold stops nothing": with(bench.Threshold{Condition: "errors<50%", Stop: bench.ScopeRun}),
		"a failed contender comes before missed thresholds": with(
			bench.Threshold{Condition: "errors<10%", Stop: bench.ScopeTrial},
			func(f *fakeRun) {
				f.site.build = func(_ context.Context, svc bench.Service, _ func(string)) (bench.Artifact, error) {
					if svc.Name == "b" {
						return bench.Artifact{}, errors.New("no compiler")
					}
					return bench.Artifact{}, nil
				}
			}),
		"an exit after a missed threshold": with(
			bench.Threshold{Condition: "errors<10%", Stop: bench.ScopeTrial},
			func(f *fakeRun) {
				f.only(1)
				f.site.setUp = func(context.Context, Place) error { return nil }
				f.site.tearDown = func(context.Context, Place) error {
					f.launcher.last().die(bench.Exit{Code: 7})
					return nil
				}
			}),
		"all interleaved trials stop": func(f *fakeRun) {
			interleave(&slicing{})(f)
			f.cfg.Run.Profile.Thresholds = []bench.Threshold{
				{Condition: "throughput>1000000", Stop: bench.ScopeRun, FromStep: 2},
			}
		},
	})
}
