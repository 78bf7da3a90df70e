package load

import (
	"context"
	"fmt"
	"time"

	"locbench/internal/bench"
)

// Turns make a step one of many short turns: its load rests while that of others runs, so that what the machine does meanwhile meets all of
// them alike.
type Turns struct {
	// Length of one of them; the last one takes in a rest of less than half of it.
	Length time.Duration
	// Next gives the turn away, and returns when it is this step's again, also when ctx has ended. The first turn is there when Run is called, and
	// the last one when it returns.
	Next func()
}

// runTurns is Run with plan.Turns. All times are of the turns alone, put together as if nothing had been in between: Load.Elapsed and
// Load.Wall are sums over them, and a window is as many turns as are a second. A turn is a step of its own, with its lead-in, interval and
// drain, over the connections of the one before.
func (e Engine) runTurns(ctx context.Context, plan Plan, connections int, onWindow func(bench.Window)) (bench.Load, error) {
	if plan.Turns.Length <= 0 || plan.Step.Arrivals != nil || plan.Step.MaxRequests > 0 || pulsed(plan.Step) || plan.Step.RampFrom > 0 || plan.Step.RampTo > 0 || plan.Step.Wave != nil {
		return bench.Load{}, fmt.Errorf("load step %q: it cannot be run in turns", plan.Step.Name)
	}
	if e.Keep == nil {
		e.Keep = &Kept{}
		defer e.Keep.Close()
	}
	deliver := newDelivery(onWindow)
	defer deliver.finish()
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
		rec, err := together.run(ctx, own, turn, n, connections, nil, nil)
		if err != nil {
			return bench.Load{}, err
		}
		if rec == nil {
			break
		}
		all := together.all
		all.takeTurn(rec)
		if left <= 0 || all.lasted-all.window.from >= e.window() {
			deliver.add(all.closeTurns())
		}
	}
	if all := together.all; all != nil && all.lasted > all.window.from { // it was cut short
		deliver.add(all.closeTurns())
	}
	return together.finish(ctx, e, plan)
}

// turnsTogether are several turns of one step, put together.
type turnsTogether struct {
	all       *recorder // nil: there was none yet
	wall, cpu time.Duration
	places    int
}

// run runs the n-th turn, plan, over the connections of the one before; its recorder is nil where ctx has ended before it could begin. closed, if not nil, is
// asked after each of its windows whether it ends with it.
func (t *turnsTogether) run(ctx context.Context, e Engine, plan Plan, n, connections int, closed func(bench.Window) bool, onWindow func(*recorder, bench.Window)) (*recorder, error) {
	plan.Seed += uint64(n) * 0x9e3779b97f4a7c15 // other ids than in the turn before
	m, err := newMix(plan)
	if err != nil {
		return nil, fmt.Errorf("load step %q: %w", plan.Step.Name, err)
	}
	rec, wire := e.loop(ctx, plan, m, connections)
	rec.closed = closed
	rec.preopened = wire.connect(ctx)
	defer wire.close()
	if ctx.Err() != nil {
		return nil, nil
	}
	var on func(bench.Window)
	if onWindow != nil {
		on = func(w bench.Window) { onWindow(rec, w) }
	}
	wall, cpu := e.clocked(ctx, plan, rec, wire, on)
	t.wall, t.cpu, t.places = t.wall+wall, t.cpu+cpu, wire.places()
	rec.opened -= int64(t.places - rec.preopened)
	if t.all == nil {
		t.all = newTurns(rec)
	}
	return rec, nil
}

// finish is what all turns have recorded.
func (t *turnsTogether) finish(ctx context.Context, e Engine, plan Plan) (bench.Load, error) {
	if t.all == nil {
		return bench.Load{}, fmt.Errorf("load step %q: %w", plan.Step.Name, context.Cause(ctx))
	}
	t.all.preopened = t.places // what was opened anew is counted already
	return e.finish(ctx, plan, t.all, t.places, t.wall, t.cpu)
}

// newTurns is a recorder of all turns, of which first is the first.
func newTurns(first *recorder) *recorder {
	all := newRecorder(first.mix, 0, 0)
	if first.open {
		all = newOpenRecorder(first.mix)
	}
	all.started = first.started
	all.interval.from.Store(first.interval.from.Load())
	return all
}

// takeTurn takes over what a turn has recorded, after its end.
func (r *recorder) takeTurn(turn *recorder) {
	length := turn.interval.length()
	if sum := r.lasted + length; sum > 0 {
		r.saturation = (r.saturation*float64(r.lasted) + turn.saturation*float64(length)) / float64(sum)
	}
	r.lasted += length
	r.leadIn += turn.leadIn
	r.unserved = max(r.unserved, turn.unserved)
	r.loop, r.users = turn.loop, turn.users
	r.connections = max(r.connections, turn.connections)
	r.rate, r.final = turn.rate, turn.final
	r.counts.add(turn.counts)
	r.kinds.add(turn.kinds)
	clear(r.backlogs)
	for a, n := range turn.backlogs {
		r.backlogs[a] = n
	}
	for _, a := range turn.accounts {
		r.kinds.add(a.kinds)
	}
	for kind, text := range turn.examples {
		if _, known := r.examples[kind]; !known {
			r.examples[kind] = text
		}
	}
	r.window.add(turn.total)
}

// closeTurns ends the window in use, which is of whole turns.
func (r *recorder) closeTurns() bench.Window {
	done := r.window
	w := done.window(r.lasted, r.rate)
	r.windows = append(r.windows, w)
	r.total.add(done)
	done.reset(r.lasted)
	return w
}
