package runner

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestRun_LostNeed: a need that has ended is the cause of a failed trial, whatever its contender
// did then, and it does not exclude the contender.
func TestRun_LostNeed(t *testing.T) {
	refused := func(context.Context) (bench.Load, error) {
		return bench.Load{Failed: map[bench.ErrorKind]int64{bench.ErrRefused: 100}}, nil
	}
	for name, c := range map[string]struct {
		load    func(f *fakeRun) (bench.Load, error)
		failure string
	}{
		"errors": {func(*fakeRun) (bench.Load, error) { return refused(context.Background()) }, "lost db: it has ended"},
		"the contender ends too": {func(f *fakeRun) (bench.Load, error) {
			f.launcher.last().die(bench.Exit{Code: 1})
			return refused(context.Background())
		}, "lost db: it has ended; the contender died: exit code 1"},
		"some success": {func(*fakeRun) (bench.Load, error) {
			return bench.Load{Succeeded: 10, Failed: map[bench.ErrorKind]int64{bench.ErrRefused: 90}}, nil
		}, "lost db: it has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, func(f *fakeRun) {
				f.rounds(2)
				ended, loads := false, 0
				f.load(4, func(context.Context) (bench.Load, error) {
					if loads++; loads > 1 { // in the second trial
						return good(context.Background(), bench.Step{})
					}
					ended = true
					return c.load(f)
				})
				f.site.alive = func(context.Context) error {
					if ended {
						return errors.New("it has ended")
					}
					return nil
				}
				f.site.change = func(context.Context) (string, error) { // it starts again
					ended = false
					return "", nil
				}
			})
			lost := f.trials["a-1"]
			testenv.Check(t, strings.HasPrefix(lost.Failure, c.failure), "%s", lost.Failure)
			testenv.Check(t, lost.Cause != nil && lost.Cause.Kind == bench.CauseNeed, "%+v", lost.Cause)
			for _, rec := range f.records {
				if e, ok := rec.Event.(bench.TrialEnded); ok && e.Excluded != nil && rec.Trial.Round == 1 {
					t.Errorf("%s is excluded: %s", rec.Trial, e.Excluded)
				}
			}
			testenv.Equal(t, f.trials["a-2"].State, bench.TrialComplete, f.trials["a-2"].Failure)
		})
	}
}
