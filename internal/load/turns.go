package load

import (
	"context"
	"fmt"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/record"
	"locbench/internal/load/workload"
)

// Turns make a step one of many short turns: its load rests while that of others runs, so that what
// the machine does meanwhile meets all of them alike.
type Turns struct {
	// Length of one of them; the last one takes in a rest of less than half of it.
	Length time.Duration
	// Next gives the turn away, and returns when it is this step's again, also when ctx has ended.
	// The first turn is there when Run is called, and the last one when it returns.
	Next func()
}

// runTurns is Run with plan.Turns. All times are of the turns alone, put together as if nothing had
// been in between: Load.Elapsed and Load.Wall are sums over them, and a window is as many turns as
// are a second. A turn is a step of its own, with its lead-in, interval and drain, over the
// connections of the one before.
func (e Engine) runTurns(ctx context.Context, plan Plan, connections int, onWindow func(bench.Window)) (bench.Load, error) {
	if plan.Turns.Length <= 0 || plan.Step.CheckTurns() != nil {
		return bench.Load{}, fmt.Errorf("load step %q: it cannot be run in turns", plan.Step.Name)
	}
	if e.Keep == nil {
		e.Keep = &Kept{}
		defer e.Keep.Close()
	}
	deliver := record.NewDelivery(onWindow)
	defer deliver.Finish()
	var together turnsTogether
	for n, left := 0, plan.Step.Duration; left > 0; n++ {
		if n > 0 {
			plan.Turns.Next()
		}
		if ctx.Err() != nil {
			break
		}
		turn := plan
		if turn.Step.Duration = plan.Turns.Length; left-turn.Step.Duration < plan.Turns.Length/2 {
			turn.Step.Duration = left
		}
		left -= turn.Step.Duration
		own := e
		own.Window = turn.Step.Duration
		rec, err := together.run(ctx, own, turn, n, connections)
		if err != nil {
			return bench.Load{}, err
		}
		if rec == nil {
			break
		}
		all := together.all
		all.AddTurn(rec)
		if left <= 0 || all.Unclosed() >= e.window() {
			deliver.Add(all.CloseWindow())
		}
	}
	if all := together.all; all != nil && all.Unclosed() > 0 { // it was cut short
		deliver.Add(all.CloseWindow())
	}
	return together.finish(ctx, e, plan)
}

// turnsTogether are several turns of one step, put together.
type turnsTogether struct {
	all       *record.Turns // nil: there was none yet
	wall, cpu time.Duration
}

// run runs the n-th turn, plan, over the connections of the one before; its recorder is nil where
// ctx has ended before it could begin.
func (t *turnsTogether) run(ctx context.Context, e Engine, plan Plan, n, connections int) (*record.Recorder, error) {
	plan.Seed += uint64(n) * 0x9e3779b97f4a7c15 // other ids than in the turn before
	m, err := workload.NewMix(plan.spec())
	if err != nil {
		return nil, fmt.Errorf("load step %q: %w", plan.Step.Name, err)
	}
	rec, loop := e.loop(ctx, plan, m, connections)
	loop.Connect(ctx)
	defer loop.Close()
	if ctx.Err() != nil {
		return nil, nil
	}
	wall, cpu := e.clocked(ctx, plan, rec, loop, nil)
	t.wall, t.cpu = t.wall+wall, t.cpu+cpu
	if t.all == nil {
		t.all = record.NewTurns(plan.Step, m.Names())
	}
	return rec, nil
}

// finish is what all turns have recorded.
func (t *turnsTogether) finish(ctx context.Context, e Engine, plan Plan) (bench.Load, error) {
	if t.all == nil {
		return bench.Load{}, fmt.Errorf("load step %q: %w", plan.Step.Name, context.Cause(ctx))
	}
	return e.finish(ctx, plan, &t.all.Result, t.wall, t.cpu)
}
