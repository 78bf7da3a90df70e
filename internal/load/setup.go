package load

import (
	"context"
	"fmt"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/portable"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
)

// setUpConnections bounds how many users make their setup at the same time: a login may be
// expensive.
const setUpConnections = 16

// setUpTimes is how often the setup of a user of a step is sent until its responses are as
// expected: a service that fails one request in a hundred may still be measured.
const setUpTimes = 3

// setUp sends the setups of the plan's sessions for each user of its step, and returns what they
// have left; nil if there are none. Nothing of it is in a result. One that fails is sent again, in
// all a number of times. seen gets each request; it may be called concurrently.
func (e Engine) setUp(
	ctx context.Context, plan Plan, connections, times int, seen func(Asked),
) (users *workload.Users, err error) {
	for _, s := range plan.Sessions {
		own := plan
		own.Requests, own.Sessions = nil, []bench.Session{{Name: s.Name}}
		for _, r := range plan.Requests {
			if r.Session == s.Name && r.SetUp {
				r.SetUp = false
				own.Requests = append(own.Requests, r)
			}
		}
		if only := plan.Step.Request; len(own.Requests) == 0 || only != "" && only != s.Name {
			continue
		}
		if users == nil {
			users = workload.NewUsers(plan.Step, connections)
		}
		if err := e.setUpSession(ctx, own, s.Name, users, times, seen); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, fmt.Errorf("setup of session %q: %w", s.Name, err)
		}
	}
	return users, nil
}

// setUpSession sends the requests of plan, which are the setup of one session.
func (e Engine) setUpSession(
	ctx context.Context, plan Plan, name string, users *workload.Users, times int, seen func(Asked),
) error {
	connections := min(users.Count(), setUpConnections)
	plan.Step = bench.Step{Name: "setup", Request: name, Connections: connections, Duration: plan.Timeout}
	plan.CheckEvery, plan.CheckBudget, plan.Seed = 1, 0, plan.Seed^0x7365747570
	mix, err := workload.NewMix(plan)
	if err != nil {
		return err
	}
	begun, err := users.Begin(mix)
	if err != nil {
		return err
	}
	err = e.single(plan, mix, connections).SetUp(ctx, begun, times, seen)
	users.Keep(mix, begun)
	return err
}

// single returns a loop that sends single requests over a number of connections, without a result.
func (e Engine) single(plan Plan, mix *workload.Mix, connections int) *portable.Loop {
	return portable.New(portable.Config{
		Target: wire.NewTarget(plan.BaseURL, e.TLS, plan.HTTP2), Step: plan.Step, Connections: connections,
		Timeout: plan.Timeout, DialTime: plan.Timeout, HTTP2: plan.HTTP2, Mix: mix, Dial: e.Dial, KeepAll: true,
		Recorder: record.New(plan.Step, mix.Names(), mix.Sessions()...),
	})
}
