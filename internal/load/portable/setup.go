package portable

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/locbench/locbench/internal/load/workload"
)

// SetUp sends the iteration that each user has begun, as Once does, over the connections of the
// loop. An iteration with an unexpected response is sent again, in all a number of times. If that
// does not help, no more are begun; the error says which user it was.
func (l *Loop) SetUp(ctx context.Context, users []workload.User, times int, seen func(Asked)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, l.Cut)
	defer stop()
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, s := range l.slots {
		wg.Go(func() {
			defer s.close()
			for i := int(next.Add(1)) - 1; i < len(users) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := l.setUp(ctx, s, &users[i], times, seen); err != nil {
					cancel(fmt.Errorf("user %d of %d: %w", i+1, len(users), err)) // the first one counts
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// setUp sends the iteration that u has begun.
func (l *Loop) setUp(ctx context.Context, s *slot, u *workload.User, times int, seen func(Asked)) (err error) {
	begun, last := *u, ""
	for range times {
		s.user = begun
		if err = l.iterateOnce(ctx, s, func(a Asked) { last = a.Request; seen(a) }); err == nil || ctx.Err() != nil {
			*u = s.user
			return nil
		}
	}
	return fmt.Errorf("unexpected response to %q: %w", last, err)
}
