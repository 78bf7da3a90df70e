package runner

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"locbench/internal/bench"
	"locbench/internal/units"
)

// plan are the steps of the leg: the profile's, or those that Config.Next chooses one by one.
func (l *life) plan(ctx context.Context) iter.Seq2[int, bench.Step] {
	if l.Next == nil {
		return slices.All(l.Run.Profile.Steps)
	}
	return func(yield func(int, bench.Step) bool) {
		for i := 0; ; i++ {
			if step, ok := l.Next(ctx, *l.leg, l.steps); !ok || !yield(i, step) {
				return
			}
		}
	}
}

// firstRequests times the first requests of the leg one by one, where the profile wants that.
func (l *life) firstRequests(ctx context.Context) error {
	if l.FirstRequests == nil || l.Run.Profile.Phases == nil {
		return nil
	}
	return l.phase(l.leg, bench.PhaseTiming, func() (string, error) {
		p, err := l.FirstRequests(ctx, l.inst.BaseURL())
		if err != nil {
			return "", l.orDeath(fmt.Errorf("time the first requests: %w", err))
		}
		l.Stream.Publish(l.leg, bench.RequestsTimed{Phases: p})
		return fmt.Sprintf("the first took %s, %d later ones %s in the median", units.Duration(p.First.Total), len(p.Kept), units.Duration(p.Typical().Total)), nil
	})
}
