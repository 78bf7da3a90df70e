package runner

import (
	"context"
	"slices"
	"time"

	"locbench/internal/bench"
)

// buildAll builds each contender once. A failed build fails the contender's trials, not the run.
func (r *runner) buildAll(ctx context.Context) error {
	if r.cfg.Run.Profile.Runtime.Traits().AlreadyRunning {
		return nil
	}
	for _, sel := range r.cfg.Run.Profile.Contenders {
		needed := slices.ContainsFunc(r.cfg.Run.Trials, func(e bench.TrialEntry) bool {
			return selection(e.Trial) == sel && e.State != bench.TrialComplete
		})
		if _, done := r.artifacts[sel]; done || r.broken[sel] != nil || !needed {
			continue
		}
		err := phase(r.publish, bench.PhaseBuild, func() (string, error) {
			var last time.Time
			a, err := r.cfg.Build(ctx, r.cfg.Services[sel], func(text string) {
				if now := time.Now(); now.Sub(last) >= time.Second {
					last = now
					r.publish(bench.Progress{Phase: bench.PhaseBuild, Text: clip(text, progressBytes)})
				}
			})
			r.artifacts[sel] = a
			return describeBuild(sel, a), err
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.broken[sel] = err
		}
	}
	return nil
}

func describeBuild(sel bench.Selection, a bench.Artifact) string {
	switch {
	case a.BuildCached:
		return sel.String() + ": unchanged, not rebuilt"
	case a.BuildTime > 0:
		return sel.String() + ": built in " + a.BuildTime.Round(10*time.Millisecond).String()
	}
	return sel.String() + ": ready"
}
