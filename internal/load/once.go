package load

import (
	"cmp"
	"context"
	"fmt"

	"github.com/locbench/locbench/internal/load/portable"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
)

// Asked is one request that Once sent, and its response.
type Asked = portable.Asked

// Once sends the request or session of plan's step a single time, after the setup of the session,
// and checks every response. It measures nothing. seen gets each request with its response; the
// error is that of the first unexpected one.
func (e Engine) Once(ctx context.Context, plan Plan, seen func(Asked)) error {
	plan.Timeout = cmp.Or(max(plan.Timeout, 0), wire.DefaultTimeout)
	plan.CheckEvery, plan.CheckBudget, plan.Step.Connections = 1, 0, 1
	plan.Step.Duration = cmp.Or(plan.Step.Duration, plan.Timeout)
	var err error
	if plan.Users, err = e.setUp(ctx, plan, 1, 1, seen); err != nil {
		return err
	}
	mix, err := workload.NewMix(plan)
	if err != nil {
		return fmt.Errorf("send %q: %w", plan.Step.Request, err)
	}
	return e.single(plan, mix, 1).Once(ctx, seen)
}
