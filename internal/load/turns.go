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
	if plan.Turns.Length <= 0 || plan.Step.Arrivals != nil || plan.Step.MaxRequests > 0 || plan.Step.Settle || plan.Step.RampFrom > 0 || plan.Step.RampTo > 0 || plan.Step.Wave != nil {
		return bench.Load{}, fmt.Errorf("load step %q: it cannot be run in turns", plan.Step.Name)
	}
	if e.Keep == nil {
		e.Keep = &Kept{}
		defer e.Keep.Close()
	}
	deliver := newDelivery(onWindow)
	defer deliver.finish()
	var all *recorder
	var wall, cpu time.Duration
	places := 0
	for n, left := 0, plan.Step.Duration; left > 0; n++ {
		if n > 0 {
			plan.Turns.Next()
		}
		if ctx.Err() != nil {
			break
		}
		turn := plan
		turn.Seed += uint64(n) * 0x9e3779b97f4a7c15 // other ids than in the turn before
		if turn.Step.Duration = plan.Turns.Length; left-turn.Step.Duration < plan.Turns.Length/2 {
			turn.Step.Duration = left
		}
		left -= turn.Step.Duration
		m, err := newMix(turn)
		if err != nil {
			return bench.Load{}, fmt.Errorf("load step %q: %w", plan.Step.Name, err)
		}
		rec, wire := e.loop(ctx, turn, m, connections)
		rec.preopened = wire.connect(ctx)
		if ctx.Err() != nil {
			wire.close()
			break
		}
		own := e
		own.Window = turn.Step.Duration
		w, c := own.clocked(ctx, turn, rec, wire, nil)
		wall, cpu, places = wall+w, cpu+c, wire.places()
		rec.opened -= int64(places - rec.preopened)
		wire.close()
		if all == nil {
			all = newTurns(rec)
		}
		all.takeTurn(rec)
		if left <= 0 || all.lasted-all.window.from >= e.window() {
			deliver.add(all.closeTurns())
		}
	}
	if all == nil {
		return bench.Load{}, fmt.Errorf("load step %q: %w", plan.Step.Name, context.Cause(ctx))
	}
	if all.lasted > all.window.from { // it was cut short
		deliver.add(all.closeTurns())
	}
	all.preopened = places // what was opened anew is counted already
	return e.finish(ctx, plan, all, places, wall, cpu)
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
