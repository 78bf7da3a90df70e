package runner

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

const (
	// warmUpPart is how long a warm-up continues before its compilers are looked at again, and maxWarmUp how
	// long it lasts at most.
	warmUpPart = 4 * time.Second
	maxWarmUp  = time.Minute
	// idleRequests is how many requests have to be served while compilers are idle, and idleParts how many
	// such parts are enough: what is rarely called is compiled later.
	idleRequests = 2000
	idleParts    = 3
)

// warmOn reports whether a warm-up is to continue, since compilers were at work in its last part, or may be again,
// in any of the contenders that are interleaved: all of them continue, or none.
func (l *trialRun) warmOn(index int, all []bench.StepResult) bool {
	last := all[len(all)-1].Step
	if !last.UntilWarm || l.warmed+last.Duration+warmUpPart > maxWarmUp {
		return false
	}
	if steps := l.cfg.Run.Profile.Steps; l.cfg.Next == nil && index+1 < len(steps) && steps[index+1].WarmUp {
		return false
	}
	served, compiles, cold := int64(math.MaxInt64), false, false
	for _, res := range all {
		if res.Aborted != "" {
			return false
		}
		share, known := res.Compiling(1 - float64(warmUpPart)/float64(max(warmUpPart, last.Duration)))
		if known {
			served, compiles, cold = min(served, res.Load.Succeeded), true, cold || share > bench.CompilingWithin
		}
	}
	if l.idle++; cold {
		l.idle, l.served = 0, 0
	} else {
		l.served += served
	}
	return compiles && (cold || l.served < idleRequests && l.idle < idleParts)
}

// exchange waits until the trials that are interleaved with this one have ended the load, too, and returns
// their results.
func (l *trialRun) exchange(ctx context.Context, res bench.StepResult, err error) []bench.StepResult {
	l.loads++
	if l.slot == nil || err != nil {
		return nil
	}
	return l.slot.exchange(ctx, l.loads-1, res)
}

// withEarlier adds the warnings of an earlier part whose kind the last one does not have.
func withEarlier(last, earlier bench.Warnings) bench.Warnings {
	for _, w := range earlier {
		if !slices.ContainsFunc(last, func(of bench.Warning) bool { return of.Kind == w.Kind }) {
			last = append(last, w)
		}
	}
	return last
}
