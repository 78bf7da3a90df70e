package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/run/runner"
)

// setupGrace is how long the request of a setup in flight may still take once the run was
// interrupted: the teardown needs the values that its response has.
const setupGrace = 2 * time.Second

// leastTeardown is the least time that a request of a teardown has, however many follow.
const leastTeardown = time.Second

// SetUp sends the setup requests of a new trial. Later requests use the values that these save.
// The end of ctx ends it after the request in flight.
func (t *traffic) SetUp(ctx context.Context, at runner.Place) error {
	delete(t.trials, at.Trial)
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	ended := make(chan struct{})
	defer close(ended)
	stop := context.AfterFunc(ctx, func() {
		late := time.NewTimer(setupGrace)
		defer late.Stop()
		select {
		case <-late.C:
		case <-bench.Forced(ctx):
		case <-ended:
		}
		cancel(context.Cause(ctx))
	})
	defer stop()
	return t.inOrder(own, at, "setup", t.setup, func() {
		if ctx.Err() != nil {
			cancel(context.Cause(ctx))
		}
	})
}

// TearDown sends each teardown request, whatever the responses to those before it, until ctx ends.
// Each has its share of the time that is left, and at most its timeout.
func (t *traffic) TearDown(ctx context.Context, at runner.Place) error {
	var errs []error
	unsent := &runner.Unsent{Of: len(t.teardown)}
	for i, r := range t.teardown {
		name := r.Name
		if ctx.Err() != nil {
			unsent.Requests = append(unsent.Requests, name)
			continue
		}
		unsent.Begun = true
		r.Timeout = cmp.Or(r.Timeout, max(t.plan.Run.Profile.Timeout, 0), wire.DefaultTimeout)
		if end, bounded := ctx.Deadline(); bounded {
			share := time.Until(end) / time.Duration(len(t.teardown)-i)
			r.Timeout = min(r.Timeout, max(share, leastTeardown))
		}
		sent := false
		err := t.inOrder(ctx, at, "teardown", []bench.Request{r}, func() { sent = true })
		switch {
		case err != nil && ctx.Err() != nil:
			unsent.Requests = append(unsent.Requests, name)
			continue
		case err != nil && !sent: // it needs a value that the setup did not save
			err = fmt.Errorf("teardown request %q was not sent: %w", name, err)
		}
		errs = append(errs, err)
	}
	if len(unsent.Requests) > 0 {
		unsent.Why = context.Cause(ctx)
		errs = append(errs, unsent)
	}
	return errors.Join(errs...)
}
