package app

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/values"
)

// readRequests fills in the profile's requests, opens the files of their values, and compiles their
// expectations.
func (s *site) readRequests() error {
	p := s.plan.Run.Profile
	s.kept, s.trials = map[bench.Trial]*load.Kept{}, map[bench.Trial]*load.TrialState{}
	s.engine = load.Engine{Name: s.plan.Run.Engine, TLS: s.tls}
	s.setup, s.requests, s.teardown = s.filled(p.Setup), s.filled(p.Requests), s.filled(p.Teardown)
	all := slices.Concat(s.setup, s.requests, s.teardown)
	var err error
	if s.values, err = values.OpenData(p.Variables, all); err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	if err := s.readExpectations(all); err != nil {
		return console.WithCode(console.ExitUsage, err)
	}
	s.process = s.loadProcess()
	return nil
}

// readExpectations compiles what requests expect of their responses.
func (s *site) readExpectations(requests []bench.Request) (err error) {
	s.expect, s.until = map[string]check.Expect{}, map[string]check.Expect{}
	for _, r := range requests {
		if r.Checks() {
			s.expect[r.Name], err = check.ParseExpect(r.Expect)
		}
		if r.Repeat != nil && err == nil {
			s.until[r.Name], err = check.ParseExpect(r.Repeat.Until)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Run runs one step. The steps of a trial share their connections.
func (s *site) Run(
	ctx context.Context, at runner.Place, step bench.Step, hooks runner.Hooks,
) (bench.Load, error) {
	if s.plan.Engine != nil {
		return s.plan.Engine.Run(ctx, at, step, hooks)
	}
	if s.kept[at.Trial] == nil {
		s.kept[at.Trial] = &load.Kept{}
	}
	plan := s.loadPlan(at, step)
	plan.OnStart, plan.OnEnd, plan.OnPart, plan.Rate = hooks.OnStart, hooks.OnEnd, hooks.OnPart, hooks.Rate
	plan.Interleave = hooks.Interleave
	if s.runsApart(at) {
		return s.process.Run(ctx, at.Trial.String(), s.plan.Run.Engine, plan, s.knownTo(), hooks.OnWindow)
	}
	engine := s.engine
	engine.Keep = s.kept[at.Trial] // each engine has its own connections there
	return engine.Run(ctx, plan, hooks.OnWindow)
}

// filled returns requests with environment variables filled in.
func (s *site) filled(all []bench.Request) (out []bench.Request) {
	for _, r := range all {
		out = append(out, r.Filled(s.env.Getenv))
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
func (s *site) loadPlan(at runner.Place, step bench.Step) load.Plan {
	p := s.plan.Run.Profile
	plan := load.Plan{
		BaseURL: at.BaseURL, Step: step, Requests: s.requests, Sessions: p.Sessions, Variables: p.Variables, Data: s.values,
		Life: s.trialState(at), IDs: s.ids, HTTP2: p.Protocol == bench.HTTP2, Timeout: p.Timeout, Seed: s.plan.Run.Seed,
	}
	if s.judges(&plan) {
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

// judges gives a plan what judges its responses, and reports whether bodies are compared.
func (s *site) judges(plan *load.Plan) bool {
	if len(s.until) > 0 {
		plan.Until = func(a load.Response) error { return judge(s.until[a.Request], a) }
	}
	known := s.known != nil && s.known.Any()
	if !known && len(s.expect) == 0 {
		return false
	}
	plan.Check = s.check
	plan.Checks = func(request string) bool {
		_, expected := s.expect[request]
		return known || expected
	}
	return true
}

// trialState returns the state of a trial. Each trial draws other values for uuid and
// string, also after a run was resumed.
func (s *site) trialState(at runner.Place) *load.TrialState {
	if s.trials[at.Trial] == nil {
		s.begun++
		s.trials[at.Trial] = &load.TrialState{Salt: uint64(len(s.plan.Run.Resumed))<<48 | s.begun<<32}
	}
	return s.trials[at.Trial]
}

// Rest closes the connections that are kept for a contender. It must not be called while a step
// runs. Calls of Run overlap only for interleaved contenders.
func (s *site) Rest(at runner.Place) {
	if s.plan.Engine != nil {
		s.plan.Engine.Rest(at)
	}
	s.process.Rest(at.Trial.String())
	if kept := s.kept[at.Trial]; kept != nil {
		kept.Close()
		delete(s.kept, at.Trial)
	}
}

func judge(e check.Expect, a load.Response) error {
	return e.Judge(check.Sent{Status: a.Status, Header: a.Header, Body: a.Body, Unread: a.Unread, Value: a.Value})
}

// check compares a response with the request's expectation and with the known response. It returns
// a.Unread if one of them needs the body.
func (s *site) check(a load.Response) error {
	expect, expected := s.expect[a.Request]
	if expected {
		if err := judge(expect, a); err != nil {
			return err
		}
	}
	if s.known == nil {
		return nil
	}
	if a.Unread != nil && s.known.Knows(a.Request) {
		return a.Unread
	}
	err := s.known.Check(a.Request, a.ID, a.Language, a.Body)
	if errors.Is(err, needs.ErrUnknown) {
		if expected {
			return nil
		}
		return load.ErrNotKnown
	}
	return err
}
