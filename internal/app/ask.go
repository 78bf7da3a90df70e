package app

import (
	"context"
	"fmt"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/load"
	"locbench/internal/text/safe"
)

// attempts are how often a kind of request is asked before it is given up: a service that fails one
// request in a hundred may still be measured.
const attempts = 3

// ask asks each kind of request and each session once, as the load will, and checks all responses. It returns what was
// sent and what came, of the first kind that is not answered as expected.
func (l *loader) ask(ctx context.Context, baseURL string) error {
	for _, unit := range l.units() {
		var failed load.Asked
		var err error
		for range attempts {
			if err = l.once(ctx, baseURL, unit, func(a load.Asked) { failed = a }); err == nil || ctx.Err() != nil {
				break
			}
		}
		if err != nil && failed.Err != nil && ctx.Err() == nil {
			return fmt.Errorf("not loaded: unexpected response to %q: sent %s; %w",
				failed.Request, l.sentText(failed.Request), failed.Err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// units returns the names of the requests that stand alone, and of the sessions.
func (l *loader) units() (names []string) {
	for _, r := range l.requests {
		if r.Session == "" {
			names = append(names, r.Name)
		}
	}
	for _, s := range l.run.Profile.Sessions {
		names = append(names, s.Name)
	}
	return names
}

// once asks a request or a session a single time.
func (l *loader) once(ctx context.Context, baseURL, unit string, seen func(load.Asked)) error {
	plan := l.loadPlan(baseURL, bench.Step{Name: unit, Request: unit})
	return l.engine.Once(ctx, plan, seen)
}

// setUp makes the requests of the setup, whose values those after it use.
func (l *loader) setUp(ctx context.Context, baseURL string) error {
	delete(l.lives, baseURL) // another one begins
	return l.aside(ctx, baseURL, "setup", l.setup, func(load.Asked) {})
}

// tearDown makes those of the teardown.
func (l *loader) tearDown(ctx context.Context, baseURL string) error {
	return l.aside(ctx, baseURL, "teardown", l.teardown, func(load.Asked) {})
}

// aside makes requests that are not those of the load, in order, and keeps what they save.
func (l *loader) aside(
	ctx context.Context, baseURL, name string, requests []bench.Request, seen func(load.Asked),
) error {
	if len(requests) == 0 {
		return nil
	}
	plan := l.loadPlan(baseURL, bench.Step{Name: name, Request: name})
	plan.Requests, plan.Sessions = nil, []bench.Session{{Name: name}}
	for _, r := range requests {
		r.Session = name
		plan.Requests = append(plan.Requests, r)
	}
	var last load.Asked
	err := l.engine.Once(ctx, plan, func(a load.Asked) {
		last = a
		seen(a)
	})
	if err != nil && last.Err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: unexpected response to %q: sent %s; %w",
			name, last.Request, l.sentText(last.Request), err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	l.life(baseURL).Values = last.Saved
	return nil
}

// sentText returns a request as the profile has it: what its secrets are is not shown.
func (l *loader) sentText(name string) string {
	p := l.run.Profile
	for _, all := range [][]bench.Request{p.Requests, p.Setup, p.Teardown} {
		for _, r := range all {
			if r.Name == name {
				return strings.TrimSpace(r.Method + " " + safe.Line(r.Path, 200) + " " + safe.Line(r.Body, 200))
			}
		}
	}
	return name
}
