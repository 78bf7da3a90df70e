package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// The bounds of a teardown, for all its requests together. "docker stop" waits 10 s before it kills
// a locbench in a container.
const (
	teardownAtMost = time.Minute
	teardownWithin = 5 * time.Second // once the run was interrupted, or of a contender that does not respond
)

// Unsent is an error of Loader.TearDown, whose context ended before its last response.
type Unsent struct {
	Requests []string // names of those without a response
	Of       int      // number of requests of the teardown
	Begun    bool     // one request was sent
	Why      error
}

// Error implements error.
func (e *Unsent) Error() string {
	names := make([]string, len(e.Requests))
	for i, name := range e.Requests {
		names[i] = fmt.Sprintf("%q", safe.Line(name, 60))
	}
	all := strings.Join(names, ", ")
	if !e.Begun {
		return fmt.Sprintf("teardown was not sent (%s): %v", all, e.Why)
	}
	return fmt.Sprintf("teardown was not finished, %d of %d requests without a response (%s): %v",
		len(e.Requests), e.Of, all, e.Why)
}

// Unwrap returns the reason.
func (e *Unsent) Unwrap() error { return e.Why }

var (
	errTeardownForced = errors.New("the end was forced")
	errTeardownLate   = errors.New("the teardown took too long")
)

// tearDown sends the requests of the teardown if the contender still runs, also when ctx has ended:
// what the setup made is removed however the trial ends. err is the failure of the trial.
func (l *trialRun) tearDown(ctx context.Context, err error) {
	if l.inst.Exit() != nil {
		return
	}
	_, failed := errors.AsType[causeError](err)
	own, done := teardownContext(ctx, failed)
	defer done()
	if err = l.cfg.Loader.TearDown(own, l.place()); err == nil {
		return
	}
	if TimedOut(err) {
		l.unanswered = err
		err = fmt.Errorf("no response to the teardown: %w", err)
	}
	l.notice("warning", oneLine(err)+"; what the setup made may be left at "+l.inst.Info().Address)
	l.awaitExit(ctx, err)
}

// teardownContext returns the context of a teardown in a trial with ctx. It ends after
// teardownAtMost; teardownWithin after the end of ctx, or if the contender does not respond; and at
// once when the user forces the end.
func teardownContext(ctx context.Context, silent bool) (own context.Context, done func()) {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	select {
	case <-bench.Forced(ctx):
		cancel(errTeardownForced)
		return own, func() {}
	default:
	}
	bound, interrupted := teardownAtMost, ctx.Done()
	if silent || ctx.Err() != nil {
		bound, interrupted = teardownWithin, nil
	}
	own, end := context.WithTimeoutCause(own, bound, errTeardownLate)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		var late <-chan time.Time
		for {
			select {
			case <-own.Done():
				return
			case <-bench.Forced(ctx):
				cancel(errTeardownForced)
			case <-late:
				cancel(errTeardownLate)
			case <-interrupted:
				interrupted, late = nil, time.After(teardownWithin)
			}
		}
	}()
	return own, func() {
		end()
		cancel(nil)
		<-watched
	}
}
