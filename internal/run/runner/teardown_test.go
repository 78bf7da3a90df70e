package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestRun_BoundsOfTheTeardown: a teardown without responses ends within a minute; within five seconds
// once the run was interrupted; and at once when the user forces the end.
func TestRun_BoundsOfTheTeardown(t *testing.T) {
	responding := func(context.Context, Place) error { return nil }
	for name, c := range map[string]struct {
		interrupt time.Duration // after the teardown began; negative: before it; 0: never
		force     time.Duration // after the interruption; 0: never
		silent    bool          // the contender does not respond
		want      time.Duration
		says      string
	}{
		"of a whole trial":       {0, 0, false, time.Minute, "took too long"},
		"of a silent contender":  {0, 0, true, 5 * time.Second, "took too long"},
		"of an interrupted run":  {-1, 0, false, 5 * time.Second, "took too long"},
		"interrupted meanwhile":  {20 * time.Second, 0, false, 25 * time.Second, "took too long"},
		"interrupted at the end": {59 * time.Second, 0, false, time.Minute, "took too long"},
		"forced":                 {-1, 2 * time.Second, false, 2 * time.Second, "the end was forced"},
		"forced before it":       {-1, -1, false, 0, "the end was forced"},
	} {
		t.Run(name, func(t *testing.T) {
			var took time.Duration
			f := start(t, func(f *fakeRun) {
				f.only(1)
				force := make(chan struct{})
				f.ctx = bench.WithForce(f.ctx, force)
				f.site.setUp = responding
				f.site.ask = func(context.Context, Place) error {
					if c.silent {
						return timeoutError{"i/o timeout"}
					}
					if c.interrupt < 0 {
						f.interrupt(errors.New("interrupted"))
					}
					if c.force < 0 {
						close(force)
					}
					return nil
				}
				f.site.tearDown = func(ctx context.Context, at Place) error {
					testenv.Check(t, at.Trial.Contender != "" && strings.HasSuffix(at.BaseURL, at.Trial.String()),
						"sent to %+v", at)
					if c.interrupt > 0 {
						time.AfterFunc(c.interrupt, func() { f.interrupt(errors.New("interrupted")) })
					}
					if c.force > 0 {
						time.AfterFunc(c.force, func() { close(force) })
					}
					took = f.ends(ctx)
					return &Unsent{Requests: []string{"b"}, Of: 2, Begun: true, Why: context.Cause(ctx)}
				}
			})
			testenv.Equal(t, took, c.want, "ended after")
			var said string
			for _, r := range f.records {
				if e, ok := r.Event.(bench.Notice); ok {
					said += e.Text + "\n"
				}
			}
			testenv.Contains(t, said, c.says, "1 of 2 requests", "may be left at")
		})
	}
}
