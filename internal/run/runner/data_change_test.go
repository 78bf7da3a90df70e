package runner

import (
	"context"
	"errors"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestRun_DataChanges: documents removed during a trial, even a failed one, are an incident of it.
// Those removed between two trials are reported as a change before the second.
func TestRun_DataChanges(t *testing.T) {
	changes := []string{"", `index "city" held 9 documents before, and holds 0 now`, "another change", "", "", "", "", ""}
	counted := 0
	f := start(t, func(f *fakeRun) {
		f.cfg.RetryNotReady = true
		f.site.change = func(context.Context) (string, error) {
			counted++
			if counted == 6 {
				return "", errors.New("connection refused")
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
	if f.err == nil || counted != 8 {
		t.Fatalf("counted %d times, want 8: %v", counted, f.err)
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
