package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
	"locbench/internal/load"
	"locbench/internal/run/runner"
	"locbench/internal/text/console"
	"locbench/internal/text/safe"
)

// Try starts each contender of a profile, sends each request and session once, and prints requests
// and responses. It measures and saves nothing.
func Try(ctx context.Context, env console.Env, o RunOptions) error {
	o.Getenv = env.Getenv
	plan, err := NewPlan(o)
	if err != nil {
		return err
	}
	p := &plan.Run.Profile
	p.Rounds, p.Steps, p.FirstRequests, p.Interleave, p.Thresholds, p.Checks = 1, nil, nil, 0, nil, bench.CheckSpec{}
	plan.Run.Trials = nil
	for i := range p.Contenders { // the order cannot favour one: nothing is measured
		plan.Run.Trials = append(plan.Run.Trials, runner.Order(p.Contenders[i:i+1], 1, plan.Run.Seed)...)
	}
	plan.failuresShown = true
	c := &conductor{plan: plan, env: env}
	if err := c.open(); err != nil {
		return err
	}
	err = c.prepare(ctx)
	if err == nil {
		err = c.try(ctx)
	}
	return c.mask().Error(errors.Join(err, c.site.close(ctx)))
}

// try runs the plan without load and prints each exchange.
func (c *conductor) try(ctx context.Context) error {
	t := &attempt{conductor: c, out: c.env.Stdout}
	c.stream.Subscribe(t.event)
	config := c.config()
	config.FirstRequests = nil
	config.Next = func(context.Context, bench.Trial, []bench.StepResult) (step bench.Step, ok bool) { return step, false }
	inOrder := func(ctx context.Context, baseURL, what string, requests []bench.Request) error {
		return c.loader.inOrder(ctx, baseURL, what, requests, func(a load.Asked) { t.exchange(what+": "+a.Request, a) })
	}
	config.SetUp = func(ctx context.Context, baseURL string) error {
		delete(c.loader.trials, baseURL)
		return inOrder(ctx, baseURL, "setup", c.loader.setup)
	}
	config.TearDown = func(ctx context.Context, baseURL string) error {
		return inOrder(ctx, baseURL, "teardown", c.loader.teardown)
	}
	config.Ask = func(ctx context.Context, baseURL string) error {
		var wrong []string
		for _, name := range c.loader.iterations() {
			err := c.loader.once(ctx, baseURL, name, func(a load.Asked) { t.exchange(c.loader.titleOf(a.Request), a) })
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				wrong = append(wrong, fmt.Sprintf("%q", name))
			}
		}
		if len(wrong) > 0 {
			return fmt.Errorf("unexpected response: %s", strings.Join(wrong, ", "))
		}
		return nil
	}
	err := runner.Run(ctx, config)
	c.stream.Close()
	return outcome(ctx, withoutFailures(err), nil)
}

// titleOf returns the name of a request, with that of its session.
func (l *loader) titleOf(request string) string {
	for _, r := range l.requests {
		if r.Name == request && r.Session != "" {
			return fmt.Sprintf("session %q: %s", r.Session, strings.TrimPrefix(request, r.Session+": "))
		}
	}
	return request
}

// attempt prints the events of a try, and each exchange in its place among them.
type attempt struct {
	conductor *conductor
	mu        sync.Mutex
	out       io.Writer
	trial     string
}

// The most lines and characters that are shown of a request or a response.
const (
	triedLines = 40
	triedWidth = 500
)

// event prints starts, failures and warnings.
func (t *attempt) event(r bench.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.Trial != nil {
		t.trial = r.Trial.Label()
	}
	switch e := r.Event.(type) {
	case bench.Progress: // of a build, which may take minutes
		fmt.Fprintf(t.conductor.env.Stderr, "%s: %s\n", e.Phase, safe.Line(e.Text, 200))
	case bench.InstanceStarted:
		how := "started (" + string(e.Info.Runtime) + ")"
		if e.Info.Runtime.Traits().AlreadyRunning {
			how = "already running"
		}
		fmt.Fprintf(t.out, "%s: %s, at %s\n", safe.Line(t.trial, 60), safe.Line(how, 60), safe.Line(e.Info.Address, 100))
	case bench.InstanceReady:
		if e.StartUp > 0 {
			fmt.Fprintf(t.out, "%s: ready after %s\n", safe.Line(t.trial, 60), units.Duration(e.StartUp))
		}
	case bench.TrialEnded:
		text := "all as expected"
		if e.State != bench.TrialComplete {
			text = string(e.State) + ": " + e.Failure
		}
		fmt.Fprintf(t.out, "\n%s: %s\n", safe.Line(t.trial, 60), safe.Line(text, 1000))
		if len(e.LastLog) > 0 && e.State == bench.TrialFailed {
			fmt.Fprintln(t.out, "  its log:")
			for _, l := range e.LastLog {
				fmt.Fprintln(t.out, "    | "+safe.Line(l.Text, 300))
			}
		}
	case bench.Notice:
		if e.Level == "info" || e.Kind == bench.WarnMachineState { // only measurements are affected
			return
		}
		fmt.Fprintf(t.out, "%s: %s\n", safe.Line(e.Level, 20), safe.Line(e.Text, 1000))
	}
}

// exchange prints a request and its response.
func (t *attempt) exchange(title string, a load.Asked) {
	t.conductor.hideSaved(a.Saved.Values)
	t.conductor.stream.Settle()
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, "\n%s: %s\n", safe.Line(t.trial, 60), safe.Line(t.conductor.mask().Text(title), 200))
	t.message("→", string(a.Sent))
	if a.Response.Status > 0 {
		t.message("←", fmt.Sprintf("HTTP %d\n%s\n%s", a.Response.Status, a.Response.Head, a.Response.Body))
	}
	switch {
	case a.Err != nil:
		fmt.Fprintf(t.out, "  FAILED: %s\n", safe.Line(t.conductor.mask().Text(a.Err.Error()), 1000))
	case a.Followed:
		fmt.Fprintln(t.out, "  a redirect, followed")
	default:
		fmt.Fprintln(t.out, "  as expected")
	}
}

// message prints one direction of an exchange, line by line, up to triedLines.
func (t *attempt) message(arrow, text string) {
	lines := strings.Split(strings.TrimRight(t.conductor.mask().Text(text), "\r\n"), "\n")
	for i, line := range lines {
		if i == triedLines {
			fmt.Fprintf(t.out, "    … and %s\n", units.Plural(len(lines)-i, "more line"))
			break
		}
		mark := " "
		if i == 0 {
			mark = arrow
		}
		fmt.Fprintln(t.out, strings.TrimRight("  "+mark+" "+safe.Line(strings.TrimRight(line, "\r"), triedWidth), " "))
	}
}
