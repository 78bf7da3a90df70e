package runner

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"locbench/internal/bench"
)

// TestStoreChanges: documents that went away in a trial are an incident of that trial, also where
// it failed; those that went away between two lives are said to be of neither.
func TestStoreChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changes := []string{"", `index "city" held 9 documents before, and holds 0 now`, "somebody", "", "", "", "", ""}
		asked := 0
		f, err := start(t, context.Background(), func(f *fakeRun) {
			f.cfg.RetryNotReady = true
			f.cfg.StoreChange = func(context.Context) (string, error) {
				asked++
				if asked == 6 {
					return "", errors.New("it is away")
				}
				return changes[asked-1], nil
			}
			ready := f.cfg.Ready
			f.cfg.Ready = func(ctx context.Context, i bench.Instance, s bench.Service, tell func(level, text string)) (bench.InstanceReady, error) {
				if asked == 1 {
					return bench.InstanceReady{}, errors.New("not ready")
				}
				return ready(ctx, i, s, tell)
			}
		})
		if err == nil || asked != 8 {
			t.Fatalf("asked %d times, want 8: %v", asked, err)
		}
		for i, want := range [][]string{
			{`the store's documents have changed in the course of this trial: index "city" held 9 documents before, and holds 0 now`},
			{"the store's documents have changed before this trial: somebody"}, nil, nil,
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
