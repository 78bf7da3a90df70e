package runner

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"locbench/internal/bench"
)

// TestSilentAfterTheLoad: a contender that does not respond after the load has failed its trial,
// although each step had successes.
func TestSilentAfterTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.Run.Trials = f.cfg.Run.Trials[:1]
			f.cfg.Responds = func(context.Context, bench.Instance, bench.Service) error {
				return errors.New("GET /: i/o timeout")
			}
		})
		trial := f.trials[f.order[0]]
		want := "did not respond after the load: GET /: i/o timeout"
		if !errors.Is(err, ErrTrials) || trial.State != bench.TrialFailed || trial.Failure != want {
			t.Errorf("%v; trial %s, %q", err, trial.State, trial.Failure)
		}
		if c := trial.Cause(); c == nil || c.Kind != bench.CauseSilent || c.Text != want {
			t.Errorf("cause %+v", c)
		}
	})
}
