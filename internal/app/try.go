package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/show/plain"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/unpack"
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
	for i := range p.Contenders { // the order cannot favor one: nothing is measured
		plan.Run.Trials = append(plan.Run.Trials, runner.Order(p.Contenders[i:i+1], 1, plan.Run.Seed)...)
	}
	s, err := newSite(plan, env)
	if err != nil {
		return err
	}
	if err = s.prepare(ctx); err == nil {
		if s.launcher.fallback != "" {
			fmt.Fprintln(env.Stderr, "warning: "+safe.Line(s.launcher.fallback, 2000))
		}
		err = s.try(ctx)
	}
	return s.masks.mask().Error(errors.Join(err, s.close(ctx)))
}

// try runs the plan without load, and prints each exchange.
func (s *site) try(ctx context.Context) error {
	t := &attempt{traffic: s.traffic, out: s.env.Stdout}
	t.asked = func(what string, a load.Asked) { t.exchange(what+": "+a.Request, a) }
	s.stream.Subscribe(t.event)
	config := s.config()
	config.Loader = t
	config.Next = func(context.Context, bench.Trial, []bench.StepResult) (step bench.Step, ok bool) { return step, false }
	err := runner.Run(ctx, config)
	s.stream.Close()
	return outcome(ctx, withoutFailures(err), nil)
}

// Ask sends and prints each request and session.
func (t *attempt) Ask(ctx context.Context, at runner.Place) error {
	var wrong []string
	for _, name := range t.iterations() {
		var failed error // that of the last request
		err := t.once(ctx, at, name, func(a load.Asked) {
			failed = a.Err
			t.exchange(t.titleOf(a.Request), a)
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && failed == nil {
			t.unsent(name, err)
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

// unsent prints why a request or session was not sent.
func (t *attempt) unsent(name string, err error) {
	t.stream.Settle()
	t.printing.Lock()
	defer t.printing.Unlock()
	fmt.Fprintf(t.out, "\n%s: %s\n  FAILED: not sent: %s\n", safe.Line(t.trial, 60),
		safe.Line(t.masks.mask().Text(name), 200), safe.Line(t.masks.mask().Text(err.Error()), 1000))
}

// titleOf returns the name of a request, with that of its session.
func (t *traffic) titleOf(request string) string {
	for _, r := range t.requests {
		if r.Name == request && r.Session != "" {
			title := fmt.Sprintf("session %q", r.Session)
			if r.SetUp {
				title += ", setup"
			}
			return title + ": " + strings.TrimPrefix(request, r.Session+": ")
		}
	}
	return request
}

// attempt prints the events of a try, and each exchange in its place among them.
type attempt struct {
	*traffic
	printing sync.Mutex
	out      io.Writer
	trial    string
	unread   int // responses of the trial whose bodies were to be checked, and were not looked at
}

// The most lines and characters that are shown of a request or a response.
const (
	triedLines = 40
	triedWidth = 500
)

// event prints starts, failures and warnings.
func (t *attempt) event(r bench.Record) {
	t.printing.Lock()
	defer t.printing.Unlock()
	if r.Trial != nil {
		t.trial = r.Trial.Label()
	}
	switch e := r.Event.(type) {
	case bench.Progress: // of a build, which may take minutes
		fmt.Fprintf(t.env.Stderr, "%s: %s\n", e.Phase, safe.Line(e.Text, 200))
	case bench.PhaseEnded: // the failures of other phases end a trial, or the run
		if e.Err != "" && e.Phase == bench.PhaseBuild {
			fmt.Fprintf(t.out, "%s failed: %s\n", e.Phase, strings.Join(plain.Reason(e.Err), "\n"))
		}
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
		switch {
		case e.State != bench.TrialComplete:
			text = string(e.State) + ": " + e.Failure
		case t.unread > 0:
			text = units.Plural(t.unread, "response") + " not looked at; the others as expected"
		}
		t.unread = 0
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
	t.stream.Settle()
	t.printing.Lock()
	defer t.printing.Unlock()
	fmt.Fprintf(t.out, "\n%s: %s\n", safe.Line(t.trial, 60), safe.Line(t.masks.mask().Text(title), 200))
	head, body, hasBody := bytes.Cut(a.Sent, []byte("\r\n\r\n"))
	if hasBody && !safe.IsText(body) {
		body = []byte("(" + unpack.Describe(nil, "", int64(len(body))) + ")")
	}
	t.message("→", string(head)+"\r\n\r\n"+string(body))
	if a.Response.Status > 0 {
		t.message("←", fmt.Sprintf("HTTP %d\n%s\n%s", a.Response.Status, a.Response.Head, shownBody(a.Response)))
	}
	switch {
	case a.Err != nil:
		fmt.Fprintf(t.out, "  FAILED: %s\n", safe.Line(t.masks.mask().Text(a.Err.Error()), 1000))
	case a.Unread != "":
		t.unread++
		fmt.Fprintf(t.out, "  not looked at: %s\n", safe.Line(a.Unread, 300))
	case a.Followed:
		fmt.Fprintln(t.out, "  a redirect, followed")
	default:
		fmt.Fprintln(t.out, "  as expected")
	}
}

// shownBody returns the unpacked body, or what it is if it is not a text.
func shownBody(a load.Response) string {
	encodings := unpack.Encoding(a.Head)
	body, err := unpack.New(load.MaxChecked).Body(encodings, a.Body)
	switch {
	case len(body) > 0 && safe.IsText(body), len(body) == 0 && err == nil:
		return string(body)
	case err == nil:
		encodings = nil
	}
	kind, size := a.Header().Get("Content-Type"), int64(len(a.Body))
	if err == nil {
		size = int64(len(body))
	}
	return "(" + unpack.Describe(encodings, kind, size) + ")"
}

// message prints one direction of an exchange, line by line, up to triedLines.
func (t *attempt) message(arrow, text string) {
	lines := strings.Split(strings.TrimRight(t.masks.mask().Keyed(text), "\r\n"), "\n")
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
