package runner

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/locbench/locbench/internal/bench"
)

// TestStoreChanges: documents removed during a trial, even a failed one, are an incident of it.
// Those removed between two trials are reported as a change before the second.
func TestStoreChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changes := []string{"", `index "city" held 9 documents before, and holds 0 now`, "another change", "", "", "", "", ""}
		counted := 0
		f, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.RetryNotReady = true
			f.cfg.StoreChange = func(context.Context) (string, error) {
				counted++
				if counted == 6 {
					return "", errors.New("connection refused")
				}
				return changes[counted-1], nil
			}
			ready := f.cfg.Ready
			f.cfg.Ready = func(ctx context.Context, i bench.Instance, s bench.Service, report func(level, text string)) (bench.InstanceReady, error) {
				if counted == 1 {
					return bench.InstanceReady{}, errors.New("not ready")
				}
				return ready(ctx, i, s, report)
			}
		})
		if err == nil || counted != 8 {
			t.Fatalf("counted %d times, want 8: %v", counted, err)
		}
		for i, want := range [][]string{
			{`the store's data changed during this trial: index "city" held 9 documents before, and holds 0 now`},
			{"the store's data changed before this trial: another change"}, nil, nil,
		} {
			var got []string
			for _, in := range f.trials[f.order[i]].Incidents {
				if got = append(got, in.String()); in.Kind != bench.IncidentData {
					t.Errorf("kind %s", in.Kind)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("trial %d: %q, want %q", i+1, got, want)
			}
		}
	})
}
