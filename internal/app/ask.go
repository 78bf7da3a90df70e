package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load"
	"locbench/internal/text/safe"
)

// attempts are how often a kind of request is asked before it is given up: a service that fails one
// request in a hundred may still be measured.
const attempts = 3

// ask asks each kind of request once, as the load will, and compares the whole body where the
// answer is known. It returns what was sent and what came, of the first kind that is not answered
// as expected.
func (l *loader) ask(ctx context.Context, baseURL string) error {
	engine := l.engine
	engine.Keep = &load.Kept{}
	defer engine.Keep.Close()
	for i, r := range l.requests {
		var came string
		for range attempts {
			plan := l.loadPlan(baseURL, bench.Step{
				Name: r.Name, Request: r.Name, Connections: 1, MaxRequests: 1, Duration: l.run.Profile.Timeout + time.Second,
			})
			plan.CheckEvery = 1
			got, err := engine.Run(ctx, plan, nil)
			if err != nil {
				return err
			}
			if came = unexpected(got, r); came == "" {
				break
			}
		}
		if came != "" {
			return fmt.Errorf("no load: request %q is not answered as expected: sent %s; %s",
				r.Name, sentText(l.run.Profile.Requests[i]), came)
		}
	}
	return nil
}

// unexpected says what came in place of the expected answer; "" for that.
func unexpected(l bench.Load, r bench.Request) string {
	kinds := l.FailedKinds()
	switch {
	case len(kinds) == 0 && l.AllSucceeded() > 0:
		return ""
	case len(kinds) == 0:
		return "no answer came"
	}
	kind, got := kinds[0], l.Examples[kinds[0]]
	switch {
	case kind == bench.ErrWrong:
		return "got another body: " + got
	case strings.HasSuffix(string(kind), "xx"):
		return fmt.Sprintf("wanted status %d, got %s", r.ExpectStatus, got)
	case got == "":
		return "got: " + string(kind)
	}
	return fmt.Sprintf("got: %s (%s)", kind, got)
}

// sentText is a request as the profile has it: what its secrets are is not shown.
func sentText(r bench.Request) string {
	text := r.Method + " " + safe.Line(r.Path, 200)
	if r.Body != "" {
		text += " " + safe.Line(r.Body, 200)
	}
	return text
}
