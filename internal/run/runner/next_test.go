package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// Steps chosen by Config.Next end when it returns false; two steps without success do not end them.
func TestRun_StepsChosenByNext(t *testing.T) {
	var connections []int
	f := start(t, func(f *fakeRun) {
		f.rounds(1)
		f.site.engine = fakeEngine(func(_ context.Context, s bench.Step) (bench.Load, error) {
			connections = append(connections, s.Connections)
			return bench.Load{Elapsed: time.Second}, nil
		})
		f.cfg.Next = func(_ context.Context, trial bench.Trial, done []bench.StepResult) (bench.Step, bool) {
			for i, r := range done {
				testenv.Check(t, r.Index == i && trial.Contender == "a", "%s: step %d has index %d", trial, i, r.Index)
			}
			return bench.Step{Connections: 10 * (len(done) + 1)}, len(done) < 4
		}
	})
	testenv.OK(t, f.err)
	if !slices.Equal(connections, []int{10, 20, 30, 40}) || len(f.trials["a-1"].Steps) != 4 {
		t.Errorf("steps %v, %d in the result", connections, len(f.trials["a-1"].Steps))
	}
	for _, r := range f.records {
		if e, ok := r.Event.(bench.StepStarted); ok && e.Of < e.Index+1 {
			t.Errorf("step %d of %d", e.Index+1, e.Of)
		}
	}
}

// The first requests are timed once, between the ready response and the checks, and only if the
// profile has first_requests.
func TestRun_FirstRequests(t *testing.T) {
	for _, c := range []struct {
		spec *bench.FirstRequestsSpec
		err  error
	}{
		{nil, nil},
		{&bench.FirstRequestsSpec{Requests: 3}, nil},
		{&bench.FirstRequestsSpec{Requests: 3}, errors.New("no request")},
	} {
		f := start(t, func(f *fakeRun) {
			f.rounds(1)
			f.cfg.Run.Profile.FirstRequests = c.spec
			f.site.first = func(context.Context, Place) (bench.FirstRequests, error) {
				return bench.FirstRequests{First: bench.RequestPhases{Total: time.Second}}, c.err
			}
		})
		trial, order := f.trials["a-1"], strings.Join(f.phases("a-1"), " ")
		if c.err != nil {
			testenv.Fails(t, f.err, "time the first requests: no request")
			testenv.Equal(t, trial.State, bench.TrialFailed)
			continue
		}
		testenv.OK(t, f.err)
		timed, kept := c.spec != nil, trial.FirstRequests
		if timed != (kept != nil) || timed && kept.First.Total != time.Second ||
			timed != strings.Contains(order, "ready timing check load") {
			t.Errorf("want timed: %t, kept %+v, phases %s", timed, kept, order)
		}
	}
}
