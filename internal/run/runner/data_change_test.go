package runner

import (
	"context"
	"errors"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestRun_DataChanges: documents removed during a trial, even a failed one, are an incident of it.
// Those removed between two trials are reported as a change before the second. A trial fails if
// what contenders need cannot be restored before it, which launches nothing, or after it.
func TestRun_DataChanges(t *testing.T) {
	changes := []string{"", `index "city" held 9 documents before, and holds 0 now`, "another change", "", "", ""}
	const refused = "restore needs: db: connection refused"
	counted := 0
	f := start(t, func(f *fakeRun) {
		f.cfg.RetryNotReady = true
		f.site.change = func(context.Context) (string, error) {
			counted++
			if counted == 6 || counted == 7 {
				return "", errors.New("db: connection refused")
			}
			return changes[counted-1], nil
		}
		f.ready(func(context.Context, bench.Instance, bench.Service) error {
			if counted == 1 {
				return errors.New("not ready")
			}
			return nil
		})
	})
	if f.err == nil || counted != 7 {
		t.Fatalf("counted %d times, want 7: %v", counted, f.err)
	}
	for i, measured := range []int{1: 3, 2: 3, 3: 0} {
		if i > 0 {
			trial := f.trials[f.order[i]]
			testenv.Equal(t, len(trial.Steps), measured, i+1)
			testenv.Equal(t, trial.Failure, []string{1: "", 2: refused, 3: refused}[i], i+1)
			testenv.Equal(t, trial.State == bench.TrialFailed, i > 1, i+1)
		}
	}
	for i, want := range [][]string{
		{`data changed during this trial: index "city" held 9 documents before, and holds 0 now`},
		{"data changed before this trial: another change"}, nil, nil,
	} {
		var got []string
		for _, in := range f.trials[f.order[i]].Incidents {
			if got = append(got, in.String()); in.Kind != bench.IncidentData {
				t.Errorf("kind %s", in.Kind)
			}
		}
		testenv.Equal(t, got, want, i+1)
	}
}
