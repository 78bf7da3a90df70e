package runner

import (
	"context"
	"time"

	"locbench/internal/bench"
)

// pause stands still for as long as somebody wants it, and returns how long that was; 0 when nobody
// does. It ends early when ctx does, or when died is closed; whoever calls it asks for either. leg
// is nil between two legs.
func (r *runner) pause(ctx context.Context, leg *bench.Leg, died <-chan struct{}) time.Duration {
	hold, changed := r.steering.held()
	if !hold || ctx.Err() != nil {
		return 0
	}
	r.Stream.Publish(leg, bench.Paused{})
	began := time.Now()
	for waiting := true; waiting && hold; {
		select {
		case <-ctx.Done():
			waiting = false
		case <-died:
			waiting = false
		case <-changed:
			hold, changed = r.steering.held()
		}
	}
	took := time.Since(began)
	r.Stream.Publish(leg, bench.Resumed{Took: took})
	return took
}
