package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
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
			a, err := r.cfg.Launcher.Build(ctx, r.cfg.Services[sel], func(text string) {
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

// noneBuilt returns a failure for each contender that a trial is left for, if none could be built:
// there is nothing to try in one round after the other.
func (r *runner) noneBuilt() (failures []error) {
	seen := map[bench.Selection]bool{}
	for _, e := range r.cfg.Run.Trials {
		sel := selection(e.Trial)
		switch {
		case e.State == bench.TrialComplete || seen[sel]:
		case r.broken[sel] == nil:
			return nil
		default:
			seen[sel] = true
			failures = append(failures, &TrialError{e.Trial, fmt.Errorf("build: %w", r.broken[sel])})
		}
	}
	return failures
}

func describeBuild(sel bench.Selection, a bench.Artifact) string {
	text := "ready"
	switch {
	case a.BuildCached:
		text = "unchanged, not rebuilt"
	case a.BuildTime > 0:
		text = "built in " + a.BuildTime.Round(10*time.Millisecond).String()
	}
	if a.Healthcheck {
		text += "; the health check of its image is off"
	}
	return sel.String() + ": " + text
}
