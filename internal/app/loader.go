package app

import (
	"context"
	"errors"
	"fmt"
	"math"

	"locbench/internal/bench"
	"locbench/internal/load"
	"locbench/internal/run/runner"
	"locbench/internal/store/dataset"
	"locbench/internal/text/console"
)

// loader is the load engine of a run. The steps of a leg share their connections.
type loader struct {
	run      *bench.Run
	requests []bench.Request // with the variables of the environment filled in
	answers  *answers
	kept     map[string]*load.Kept // by base URL
	engine   load.Engine
}

// answers are what the data set knows once it was read.
type answers struct {
	ids   []int64
	known *dataset.Answers
}

// loopVariable chooses the client's loop, for those who doubt one of them.
const loopVariable = "LOCBENCH_LOOP"

// newLoader takes the loop that the environment asks for.
func newLoader(s *site) (*loader, error) {
	l := &loader{
		run: s.plan, requests: s.requests, answers: &s.answers, kept: map[string]*load.Kept{},
		engine: load.Engine{TLS: s.tls},
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
		return nil, console.Usagef("%s=%q: auto (io_uring where Linux permits it, else epoll, else portable), "+
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
	if t := hooks.Turns; t != nil {
		plan.Turns = &load.Turns{Length: t.Length, Next: t.Next}
	}
	engine := l.engine
	engine.Keep = l.kept[baseURL]
	return engine.Run(ctx, plan, hooks.OnWindow)
}

// loadPlan is what every load of the run has in common.
func (l *loader) loadPlan(baseURL string, step bench.Step) load.Plan {
	plan := load.Plan{
		BaseURL: baseURL, Step: step, Requests: l.requests, IDs: l.answers.ids,
		HTTP2: l.run.Profile.Protocol == bench.HTTP2, Timeout: l.run.Profile.Timeout, Seed: l.run.Seed,
	}
	if known := l.answers.known; known != nil && known.Any() {
		plan.Check, plan.CheckEvery = l.check, max(int(math.Round(1/l.run.Profile.Validate)), 1)
	}
	return plan
}

// Rest closes the connections to a contender that are kept. It is not called while a step runs, nor
// is Run called twice at the same time but by contenders that take turns.
func (l *loader) Rest(baseURL string) {
	if kept := l.kept[baseURL]; kept != nil {
		kept.Close()
		delete(l.kept, baseURL)
	}
}

func (l *loader) check(a load.Answer) error {
	err := l.answers.known.Check(a.Request, a.ID, a.Language, a.Body)
	if errors.Is(err, dataset.ErrUnknown) {
		return load.ErrNotKnown
	}
	return err
}
