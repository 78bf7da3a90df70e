package app

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/values"
)

// loader is the load engine of a run. The steps of a trial share their connections.
type loader struct {
	run *bench.Run

	// the profile's requests, with environment variables filled in
	requests, setup, teardown []bench.Request

	data      load.Data
	expect    map[string]check.Expect // by the name of the request
	until     map[string]check.Expect // of requests that are repeated, by the same
	responses *responses
	kept      map[bench.Trial]*load.Kept
	trials    map[bench.Trial]*load.TrialState // the trials in progress
	begun     uint64                           // number of trials so far
	engine    load.Engine
	warn      func(bench.Warning) // of setup and teardown; nil: they are shown
	saw       func(load.Asked)    // gets each request that is sent once, before its error is reported
}

// responses is what is known of the responses once the data set has been read.
type responses struct {
	ids   []int64
	known *dataset.Responses
}

// newLoader returns a loader with the engine of the plan.
func newLoader(s *site) (*loader, error) {
	p := s.plan.Profile
	l := &loader{
		run: s.plan, responses: &s.responses, kept: map[bench.Trial]*load.Kept{}, trials: map[bench.Trial]*load.TrialState{},
		engine: load.Engine{Name: s.plan.Engine, TLS: s.tls}, requests: s.requests,
		expect: map[string]check.Expect{}, until: map[string]check.Expect{},
		warn: s.warn, saw: func(load.Asked) {},
		setup: filled(p.Setup, s.getenv), teardown: filled(p.Teardown, s.getenv),
	}
	all := slices.Concat(l.setup, l.requests, l.teardown)
	var err error
	if l.data, err = values.OpenData(p.Variables, all); err != nil {
		return nil, console.WithCode(console.ExitUsage, err)
	}
	for _, r := range all {
		if r.Checks() {
			l.expect[r.Name], err = check.ParseExpect(r.Expect)
		}
		if r.Repeat != nil && err == nil {
			l.until[r.Name], err = check.ParseExpect(r.Repeat.Until)
		}
		if err != nil {
			return nil, console.WithCode(console.ExitUsage, err)
		}
	}
	return l, nil
}

func (l *loader) Run(
	ctx context.Context, at runner.Place, step bench.Step, hooks runner.Hooks,
) (bench.Load, error) {
	if l.kept[at.Trial] == nil {
		l.kept[at.Trial] = &load.Kept{}
	}
	plan := l.loadPlan(at, step)
	plan.OnStart, plan.OnEnd, plan.Rate = hooks.OnStart, hooks.OnEnd, hooks.Rate
	if t := hooks.Interleave; t != nil {
		plan.Interleave = &load.Interleave{Length: t.Length, Next: t.Next}
	}
	engine := l.engineOf(step)
	engine.Keep = l.kept[at.Trial] // each engine has its own connections there
	return engine.Run(ctx, plan, hooks.OnWindow)
}

// engineOf returns the engine of a step.
func (l *loader) engineOf(step bench.Step) load.Engine {
	engine := l.engine
	engine.Name = cmp.Or(step.Engine, engine.Name)
	return engine
}

// filled returns requests with environment variables filled in.
func filled(all []bench.Request, getenv func(string) string) (out []bench.Request) {
	for _, r := range all {
		out = append(out, r.Filled(getenv))
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
func (l *loader) loadPlan(at runner.Place, step bench.Step) load.Plan {
	p := l.run.Profile
	plan := load.Plan{
		BaseURL: at.BaseURL, Step: step, Requests: l.requests, Sessions: p.Sessions, Variables: p.Variables, Data: l.data,
		Life: l.trial(at), IDs: l.responses.ids, HTTP2: p.Protocol == bench.HTTP2, Timeout: p.Timeout, Seed: l.run.Seed,
	}
	if len(l.until) > 0 {
		plan.Until = func(a load.Response) error { return judge(l.until[a.Request], a) }
	}
	known := l.responses.known != nil && l.responses.known.Any()
	if known || len(l.expect) > 0 {
		plan.Check, plan.CheckEvery = l.check, max(int(math.Round(1/p.CompareBodies)), 1)
		plan.Checks = func(request string) bool {
			_, expected := l.expect[request]
			return known || expected
		}
		plan.CheckQuota = comparedOfEach
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

// trial returns the state of a trial. Each trial draws other values for uuid and
// string, also after a run was resumed.
func (l *loader) trial(at runner.Place) *load.TrialState {
	if l.trials[at.Trial] == nil {
		l.begun++
		l.trials[at.Trial] = &load.TrialState{Salt: uint64(len(l.run.Resumed))<<48 | l.begun<<32}
	}
	return l.trials[at.Trial]
}

// Rest closes the connections that are kept for a contender. It must not be called while a step
// runs. Calls of Run overlap only for interleaved contenders.
func (l *loader) Rest(at runner.Place) {
	if kept := l.kept[at.Trial]; kept != nil {
		kept.Close()
		delete(l.kept, at.Trial)
	}
}

func judge(e check.Expect, a load.Response) error {
	return e.Judge(check.Sent{Status: a.Status, Header: a.Header, Body: a.Body, Unread: a.Unread, Value: a.Value})
}

// check compares a response with the request's expectation and with the known response. It returns
// a.Unread if one of them needs the body.
func (l *loader) check(a load.Response) error {
	expect, expected := l.expect[a.Request]
	if expected {
		if err := judge(expect, a); err != nil {
			return err
		}
	}
	if l.responses.known == nil {
		return nil
	}
	if a.Unread != nil && l.responses.known.Knows(a.Request) {
		return a.Unread
	}
	err := l.responses.known.Check(a.Request, a.ID, a.Language, a.Body)
	if errors.Is(err, dataset.ErrUnknown) {
		if expected {
			return nil
		}
		return load.ErrNotKnown
	}
	return err
}
