package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/text/safe"
)

// attempts is how often a request is sent until its response is as expected: a service that fails
// one request in a hundred may still be measured.
const attempts = 3

// Ask sends each request and each session once, as the load will, and checks the responses.
// Its error has the first unexpected response, with the request.
func (t *traffic) Ask(ctx context.Context, at runner.Place) error {
	for _, name := range t.iterations() {
		var failed load.Asked
		var err error
		for range attempts {
			if err = t.once(ctx, at, name, func(a load.Asked) { failed = a }); err == nil || ctx.Err() != nil {
				break
			}
		}
		if runner.TimedOut(err) && ctx.Err() == nil {
			return fmt.Errorf("sent %s: %w", t.sentText(failed.Request), err)
		}
		if err != nil && failed.Err != nil && ctx.Err() == nil {
			return fmt.Errorf("not loaded: unexpected response to %q: sent %s; %w",
				failed.Request, t.sentText(failed.Request), failed.Err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Unanswered returns an error if none of the first requests and sessions has a response in time.
func (t *traffic) Unanswered(ctx context.Context, at runner.Place) (err error) {
	all := t.iterations()
	for _, name := range all[:min(len(all), attempts)] {
		if err = t.once(ctx, at, name, func(load.Asked) {}); !runner.TimedOut(err) {
			return nil
		}
	}
	return err
}

// iterations returns the names of the single requests and of the sessions.
func (t *traffic) iterations() (names []string) {
	for _, r := range t.requests {
		if r.Session == "" {
			names = append(names, r.Name)
		}
	}
	for _, session := range t.plan.Run.Profile.Sessions {
		names = append(names, session.Name)
	}
	return names
}

// once runs one iteration.
func (t *traffic) once(ctx context.Context, at runner.Place, name string, seen func(load.Asked)) error {
	plan := t.loadPlan(at, bench.Step{Name: name, Request: name})
	return t.engine.Once(ctx, plan, func(a load.Asked) {
		t.masks.hideAsked(a)
		seen(a)
	})
}

// inOrder sends the requests of setup or teardown, and keeps the values that they save, also those
// before an unexpected response.
func (t *traffic) inOrder(
	ctx context.Context, at runner.Place, name string, requests []bench.Request, then func(),
) error {
	if len(requests) == 0 {
		return nil
	}
	plan := t.loadPlan(at, bench.Step{Name: name, Request: name})
	plan.Requests, plan.Sessions = nil, []bench.Session{{Name: name}}
	for _, r := range requests {
		r.Session = name
		r.Success = r.Expected() // no expected response ends the setup or the teardown
		plan.Requests = append(plan.Requests, r)
	}
	var last load.Asked
	err := t.engine.Once(ctx, plan, func(a load.Asked) {
		last = a
		t.trialState(at).Keep(a.Saved)
		t.masks.hideAsked(a)
		t.asked(name, a)
		then()
	})
	if runner.TimedOut(err) && ctx.Err() == nil {
		return fmt.Errorf("sent %s: %w", t.sentText(last.Request), err)
	}
	if err != nil && last.Err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: unexpected response to %q: sent %s; %w",
			name, last.Request, t.sentText(last.Request), err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// noteUnread warns of a body of setup or teardown that was to be checked and was not looked at.
func (t *traffic) noteUnread(what string, a load.Asked) {
	if a.Unread != "" {
		t.warn(bench.Warning{Kind: bench.WarnNotLookedAt, Text: fmt.Sprintf("%s: the body of the response to %q was not looked at, "+
			"and is neither right nor wrong: %s", what, a.Request, a.Unread)})
	}
}

// sentText returns a request as the profile has it, without the values of its secrets.
func (t *traffic) sentText(name string) string {
	p := t.plan.Run.Profile
	for _, all := range [][]bench.Request{p.Requests, p.Setup, p.Teardown} {
		for _, r := range all {
			if r.Name == name {
				return strings.TrimSpace(r.Method + " " + safe.Line(r.Path, 200) + " " + safe.Line(r.Body, 200))
			}
		}
	}
	return name
}

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
