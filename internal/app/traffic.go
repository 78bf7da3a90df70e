package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/load/apart"
	"github.com/locbench/locbench/internal/load/portable"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/contact"
	"github.com/locbench/locbench/internal/values"
)

// traffic sends all requests of the trials: setup, load and teardown.
type traffic struct {
	*record
	sends
	data    needs.Data      // that requests use; nil: none
	ids     []int64         // of the data, if requests draw them
	known   needs.Responses // nil: responses are not compared
	engine  load.Engine
	process *apart.Process                  // of engine fast; nil: the load runs in this process
	trials  map[bench.Trial]*sending        // in progress
	begun   uint64                          // number of trials so far
	asked   func(what string, a load.Asked) // gets each exchange of setup and teardown
}

// sends is what the profile sends, with environment variables filled in.
type sends struct {
	setup, requests, teardown []bench.Request
	values                    load.Data
	expect                    map[string]check.Expect // by the name of the request
	until                     map[string]check.Expect // of requests that are repeated, by the same
}

// sending is what the requests of a trial share.
type sending struct {
	kept  *load.Kept // connections; nil: none
	state *load.TrialState
}

// newTraffic fills in the profile's requests, opens the files of their values, and compiles their
// expectations.
func newTraffic(r *record, data needs.Data) (*traffic, error) {
	tls, err := tlsConfig(r.plan.Run.TLS)
	if err != nil {
		return nil, err
	}
	t := &traffic{record: r, data: data, engine: load.Engine{Name: r.plan.Run.Engine, TLS: tls}, trials: map[bench.Trial]*sending{}}
	t.asked, t.process = t.noteUnread, loadProcess(r)
	return t, console.WithCode(console.ExitUsage, t.read(r.plan.Run.Profile))
}

func (t *traffic) read(p bench.Profile) (err error) {
	t.setup, t.requests, t.teardown = t.filled(p.Setup), t.filled(p.Requests), t.filled(p.Teardown)
	all := slices.Concat(t.setup, t.requests, t.teardown)
	if t.values, err = values.OpenData(p.Variables, all); err != nil {
		return err
	}
	return t.compile(all)
}

// compile compiles what requests expect of their responses.
func (t *sends) compile(requests []bench.Request) (err error) {
	t.expect, t.until = map[string]check.Expect{}, map[string]check.Expect{}
	for _, r := range requests {
		if r.Checks() {
			t.expect[r.Name], err = check.ParseExpect(r.Expect)
		}
		if r.Repeat != nil && err == nil {
			t.until[r.Name], err = check.ParseExpect(r.Repeat.Until)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// begin warns of a busy machine, and reads the data that requests use.
func (t *traffic) begin(ctx context.Context) (err error) {
	if phrases := machine.LoadWarnings(t.plan.Run.Machine); len(phrases) > 0 {
		text := "results may be off: " + strings.Join(phrases, "; ") + "; see 'locbench doctor'"
		t.warn(bench.Warning{Kind: bench.WarnMachineState, Text: text})
	}
	p := t.plan.Run.Profile
	if p.DrawsIDs() && t.data != nil {
		if t.ids, err = t.data.IDs(ctx); err != nil {
			return fmt.Errorf("read the ids of the data set: %w", err)
		}
	}
	if p.CompareBodies > 0 && t.data != nil {
		t.known, err = t.data.Responses(p.Requests)
	}
	return err
}

// way returns the protocol, the trust and the Host of all requests to contenders.
func (t *traffic) way() contact.Way {
	return contact.Way{HTTP2: t.plan.Run.Profile.Protocol == bench.HTTP2, TLS: t.engine.TLS, Host: hostOf(t.requests)}
}

// hostOf returns the first Host that requests send, without a variable in it; "": that of the URL.
func hostOf(requests []bench.Request) string {
	for _, r := range requests {
		for name, value := range r.Header {
			if parts := bench.Parts(value); strings.EqualFold(name, "Host") && len(parts) == 1 && parts[0].Name == "" {
				return parts[0].Text
			}
		}
	}
	return ""
}

// Run runs one step. The steps of a trial share their connections.
func (t *traffic) Run(
	ctx context.Context, at runner.Place, step bench.Step, hooks runner.Hooks,
) (bench.Load, error) {
	if t.plan.Engine != nil {
		return t.plan.Engine.Run(ctx, at, step, hooks)
	}
	plan := t.loadPlan(at, step)
	plan.OnStart, plan.OnEnd, plan.OnPart, plan.Interleave = hooks.OnStart, hooks.OnEnd, hooks.OnPart, hooks.Interleave
	if t.runsApart(at) {
		return t.process.Run(ctx, at.Trial.String(), t.engine.Name, plan, hooks.OnWindow)
	}
	engine := t.engine
	of := t.trials[at.Trial]
	of.kept = cmp.Or(of.kept, &load.Kept{})
	engine.Keep = of.kept // each engine has its own connections there
	return engine.Run(ctx, plan, hooks.OnWindow)
}

// filled returns requests with environment variables filled in.
func (t *traffic) filled(all []bench.Request) (out []bench.Request) {
	for _, r := range all {
		out = append(out, r.Filled(t.env.Getenv))
	}
	return out
}

// comparedOfEach is how many responses of each kind of request are compared in each step, however
// short it is, in addition to the share compare_bodies. With 300, an error of 1 in 100 is missed in
// 5% of steps.
const comparedOfEach = 300

// comparingBudget is the share of one CPU that comparing may take for the default of
// compare_bodies.
const comparingBudget = .01

// loadPlan returns the plan of one load of step.
func (t *traffic) loadPlan(at runner.Place, step bench.Step) load.Plan {
	p := t.plan.Run.Profile
	plan := load.Plan{
		BaseURL: at.BaseURL, Step: step, Requests: t.requests, Sessions: p.Sessions, Variables: p.Variables, Data: t.values,
		Life: t.trialState(at), IDs: t.ids, HTTP2: p.Protocol == bench.HTTP2, Timeout: p.Timeout, Seed: t.plan.Run.Seed,
	}
	if t.judges(&plan) {
		plan.CheckEvery, plan.CheckQuota = max(int(math.Round(1/p.CompareBodies)), 1), comparedOfEach
		if p.CompareBounded {
			plan.CheckBudget = comparingBudget
		}
		if p.CompareBodies == 0 { // only sendEach checks then
			plan.CheckQuota = 0
			plan.CheckEvery = math.MaxInt
		}
	}
	return plan
}

// judges gives a plan what checks its responses, and reports whether bodies are compared.
func (t *traffic) judges(plan *load.Plan) bool {
	if len(t.until) > 0 {
		plan.Until = func(a load.Response) error { return judge(t.until[a.Request], a) }
	}
	known := t.known != nil && t.known.Any()
	if !known && len(t.expect) == 0 {
		return false
	}
	plan.Check = t.check
	plan.Checks = func(request string) bool {
		_, expected := t.expect[request]
		return known || expected
	}
	return true
}

// trialState returns the state of a trial. Each trial draws other values for uuid and
// string, also after a run was resumed.
func (t *traffic) trialState(at runner.Place) *load.TrialState {
	if t.trials[at.Trial] == nil {
		t.begun++
		t.trials[at.Trial] = &sending{state: &load.TrialState{Salt: uint64(len(t.plan.Run.Resumed))<<48 | t.begun<<32}}
	}
	return t.trials[at.Trial].state
}

// Rest closes the connections that are kept for a contender. It must not be called while a step
// runs. Calls of Run overlap only for interleaved contenders.
func (t *traffic) Rest(at runner.Place) {
	if t.plan.Engine != nil {
		t.plan.Engine.Rest(at)
	}
	t.process.Rest(at.Trial.String())
	if of := t.trials[at.Trial]; of != nil && of.kept != nil {
		of.kept.Close()
		of.kept = nil
	}
}

func judge(e check.Expect, a load.Response) error {
	return e.Judge(check.Sent{Status: a.Status, Header: a.Header, Body: a.Body, Unread: a.Unread, Value: a.Value})
}

// check compares a response with the request's expectation and with the known response. It returns
// a.Unread if one of them needs the body.
func (t *traffic) check(a load.Response) error {
	expect, expected := t.expect[a.Request]
	if expected {
		if err := judge(expect, a); err != nil {
			return err
		}
	}
	if t.known == nil {
		return nil
	}
	if a.Unread != nil && t.known.Knows(a.Request) {
		return a.Unread
	}
	err := t.known.Check(a.Request, a.ID, a.Language, a.Body)
	if errors.Is(err, needs.ErrUnknown) {
		if expected {
			return nil
		}
		return load.ErrNotKnown
	}
	return err
}

// FirstRequests times the first requests of a contender one by one, of the profile's first kind.
func (t *traffic) FirstRequests(ctx context.Context, at runner.Place) (bench.FirstRequests, error) {
	p := t.plan.Run.Profile
	return portable.Phases(ctx, portable.PhasesPlan{
		BaseURL: at.BaseURL, Request: t.requests[0], IDs: t.ids, Requests: p.FirstRequests.Requests, Timeout: p.Timeout,
		Variables: p.Variables, Data: t.values, Life: t.trialState(at), Seed: t.plan.Run.Seed, TLS: t.engine.TLS,
	})
}
