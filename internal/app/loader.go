package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"locbench/internal/bench"
	"locbench/internal/contender/check"
	"locbench/internal/load"
	"locbench/internal/load/workload"
	"locbench/internal/run/runner"
	"locbench/internal/store/dataset"
	"locbench/internal/text/console"
)

// loader is the load engine of a run. The steps of a trial share their connections.
type loader struct {
	run *bench.Run

	// of the profile, with the variables of the environment filled in
	requests, setup, teardown []bench.Request

	data      load.Data
	expect    map[string]check.Expect // of the responses to the requests of these names
	responses *responses
	kept      map[string]*load.Kept // by base URL
	lives     map[string]*load.Life // likewise
	begun     uint64                // lives
	engine    load.Engine
}

// answers are what the data set knows once it was read.
type responses struct {
	ids   []int64
	known *dataset.Responses
}

// loopVariable chooses the client's loop, for those who doubt one of them.
const loopVariable = "LOCBENCH_LOOP"

// newLoader takes the loop that the environment asks for.
func newLoader(s *site) (*loader, error) {
	p := s.plan.Profile
	l := &loader{
		run: s.plan, responses: &s.responses, kept: map[string]*load.Kept{}, lives: map[string]*load.Life{},
		engine: load.Engine{TLS: s.tls}, expect: map[string]check.Expect{}, requests: s.requests,
		setup: filled(p.Setup, s.getenv), teardown: filled(p.Teardown, s.getenv),
	}
	all := slices.Concat(l.setup, l.requests, l.teardown)
	var err error
	if l.data, err = workload.OpenData(p.Variables, all); err != nil {
		return nil, console.WithCode(console.ExitUsage, err)
	}
	for _, r := range all {
		if !r.Checks() {
			continue
		}
		if l.expect[r.Name], err = check.ParseExpect(r.Expect); err != nil {
			return nil, console.WithCode(console.ExitUsage, err)
		}
	}
	loop := s.getenv(loopVariable)
	switch loop {
	case "", "auto":
		return l, nil
	case load.LoopRing:
	case load.LoopEpoll:
		l.engine.Epoll = true
	case load.LoopPortable:
		l.engine.Portable = true
	default:
		return nil, console.Usagef("%s=%q: must be auto (io_uring, else epoll, else portable), "+
			"io_uring, epoll or portable", loopVariable, loop)
	}
	if err := load.HasLoop(loop); err != nil {
		return nil, fmt.Errorf("%s: %w", loopVariable, err)
	}
	return l, nil
}

func (l *loader) Run(ctx context.Context, baseURL string, step bench.Step, hooks runner.Hooks) (bench.Load, error) {
	if l.kept[baseURL] == nil {
		l.kept[baseURL] = &load.Kept{}
	}
	plan := l.loadPlan(baseURL, step)
	plan.OnStart, plan.OnEnd, plan.Rate = hooks.OnStart, hooks.OnEnd, hooks.Rate
	if t := hooks.Interleave; t != nil {
		plan.Interleave = &load.Interleave{Length: t.Length, Next: t.Next}
	}
	engine := l.engine
	engine.Keep = l.kept[baseURL]
	return engine.Run(ctx, plan, hooks.OnWindow)
}

// filled returns requests with the variables of the environment filled in.
func filled(all []bench.Request, getenv func(string) string) (out []bench.Request) {
	for _, r := range all {
		out = append(out, r.Filled(getenv))
	}
	return out
}

// loadPlan returns what every load of the run has in common.
func (l *loader) loadPlan(baseURL string, step bench.Step) load.Plan {
	p := l.run.Profile
	plan := load.Plan{
		BaseURL: baseURL, Step: step, Requests: l.requests, Sessions: p.Sessions, Variables: p.Variables, Data: l.data,
		Life: l.life(baseURL), IDs: l.responses.ids, HTTP2: p.Protocol == bench.HTTP2, Timeout: p.Timeout, Seed: l.run.Seed,
	}
	known := l.responses.known != nil && l.responses.known.Any()
	if known || len(l.expect) > 0 {
		plan.Check, plan.CheckEvery = l.check, max(int(math.Round(1/p.CompareBodies)), 1)
		plan.Checks = func(request string) bool {
			_, expected := l.expect[request]
			return known || expected
		}
		if p.CompareBodies == 0 { // but when each is asked once
			plan.CheckEvery = math.MaxInt
		}
	}
	return plan
}

// life returns that of the contender at an address. Each has values of its own for uuid and string, also those after a
// run was resumed.
func (l *loader) life(baseURL string) *load.Life {
	if l.lives[baseURL] == nil {
		l.begun++
		l.lives[baseURL] = &load.Life{Salt: uint64(len(l.run.Resumed))<<48 | l.begun<<32}
	}
	return l.lives[baseURL]
}

// Rest closes the connections to a contender that are kept. It is not called while a step runs, nor
// is Run called twice at the same time but by contenders that take turns.
func (l *loader) Rest(baseURL string) {
	if kept := l.kept[baseURL]; kept != nil {
		kept.Close()
		delete(l.kept, baseURL)
	}
}

// check compares a response with what is expected of it, and with the known one.
func (l *loader) check(a load.Response) error {
	expect, expected := l.expect[a.Request]
	if expected {
		if err := expect.Judge(a.Status, a.Header(), a.Body); err != nil {
			return err
		}
	}
	if l.responses.known == nil {
		return nil
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
