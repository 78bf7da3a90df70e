package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// oneTrial reduces the run to a's first trial.
func oneTrial(f *fakeRun) {
	f.cfg.Run.Trials = []bench.TrialEntry{{Trial: bench.Trial{Contender: "a", Round: 1}, State: bench.TrialPending}}
}

// Steps chosen by Config.Next end when it returns false; two steps without success do not end them.
func TestStepsChosenByNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var connections []int
		f, err := start(t, t.Context(), func(f *fakeRun) {
			oneTrial(f)
			f.cfg.Engine = fakeEngine(func(_ context.Context, s bench.Step) (bench.Load, error) {
				connections = append(connections, s.Connections)
				return bench.Load{Elapsed: time.Second}, nil
			})
			f.cfg.Next = func(_ context.Context, trial bench.Trial, done []bench.StepResult) (bench.Step, bool) {
				for i, r := range done {
					if r.Index != i || trial.Contender != "a" {
						t.Errorf("%s: step %d has index %d", trial, i, r.Index)
					}
				}
				return bench.Step{Connections: 10 * (len(done) + 1)}, len(done) < 4
			}
		})
		testenv.OK(t, err)
		if !slices.Equal(connections, []int{10, 20, 30, 40}) || len(f.trials["a-1"].Steps) != 4 {
			t.Errorf("steps %v, %d in the result", connections, len(f.trials["a-1"].Steps))
		}
		for _, r := range f.records {
			if e, ok := r.Event.(bench.StepStarted); ok && e.Of < e.Index+1 {
				t.Errorf("step %d of %d", e.Index+1, e.Of)
			}
		}
	})
}

// The first requests are timed once, between the ready response and the checks, and only if the
// profile has first_requests.
func TestFirstRequestsAreTimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, timed := range []bool{true, false} {
			f, err := start(t, t.Context(), func(f *fakeRun) {
				oneTrial(f)
				if timed {
					f.cfg.Run.Profile.FirstRequests = &bench.FirstRequestsSpec{Requests: 3}
				}
				f.cfg.FirstRequests = func(context.Context, Place) (bench.FirstRequests, error) {
					return bench.FirstRequests{First: bench.RequestPhases{Total: time.Second}}, nil
				}
			})
			testenv.OK(t, err)
			order := strings.Join(f.phases("a-1"), " ")
			if kept := f.trials["a-1"].FirstRequests; timed != (kept != nil) || timed && kept.First.Total != time.Second {
				t.Errorf("want timed: %t, kept %+v", timed, kept)
			}
			if timed != strings.Contains(order, "ready timing check load") {
				t.Errorf("want timed: %t, phases %s", timed, order)
			}
		}
	})
}

func TestFirstRequestsThatCannotBeTimedFailTheTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := start(t, t.Context(), func(f *fakeRun) {
			oneTrial(f)
			f.cfg.Run.Profile.FirstRequests = &bench.FirstRequestsSpec{Requests: 3}
			f.cfg.FirstRequests = func(context.Context, Place) (bench.FirstRequests, error) {
				return bench.FirstRequests{}, errors.New("no request")
			}
		})
		if err == nil || !strings.Contains(err.Error(), "time the first requests: no request") || f.trials["a-1"].State != bench.TrialFailed {
			t.Errorf("%v, trial %s", err, f.trials["a-1"].State)
		}
	})
}
