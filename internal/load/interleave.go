package load

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/workload"
)

// Interleave makes a step one of several that alternate in short slices: its load pauses while the
// others have theirs. What the machine does meanwhile affects all alike.
type Interleave struct {
	// Length is the length of a slice; the last one takes in a rest of less than half of it.
	Length time.Duration
	// Next lets the other steps have their slices, and returns when it is this step's turn again,
	// or ctx has ended. The first slice begins when Run is called, the last one ends when Run
	// returns.
	Next func()
}

// runInterleaved is Run with plan.Interleave. All times are of the slices alone, joined as if
// nothing had been in between: Load.Elapsed and Load.Wall are sums over slices, and a window has as
// many slices as make a second. A slice is a step with its own lead-in, interval and drain, over
// the connections of the slice before.
func (e Engine) runInterleaved(
	ctx context.Context, plan Plan, connections int, onWindow func(bench.Window),
) (bench.Load, error) {
	if plan.Interleave.Length <= 0 || plan.Step.CheckInterleave() != nil {
		return bench.Load{}, errors.New("cannot be interleaved")
	}
	if e.Keep == nil {
		e.Keep = &Kept{}
		defer e.Keep.Close()
	}
	deliver := record.NewDelivery(onWindow)
	defer deliver.Finish()
	plan.sampling = &workload.Sampling{Length: plan.Step.Duration}
	var all *record.Interleaved
	var wall, cpu time.Duration
	var failed error
	for n, left := 0, plan.Step.Duration; left > 0; n++ {
		if n > 0 {
			plan.Interleave.Next()
		}
		slice, own := plan, e
		if slice.Step.Duration = plan.Interleave.Length; left-slice.Step.Duration < plan.Interleave.Length/2 {
			slice.Step.Duration = left
		}
		plan.sampling.Before = plan.Step.Duration - left
		left -= slice.Step.Duration
		slice.Seed += uint64(n) * 0x9e3779b97f4a7c15 // other ids than in the slice before
		own.Window = slice.Step.Duration
		m, err := own.measure(ctx, slice, connections, nil)
		if err != nil && (all == nil || ctx.Err() == nil) {
			return bench.Load{}, err
		}
		if err != nil {
			break
		}
		if all == nil {
			all = record.NewInterleaved(m.rec)
		}
		wall, cpu = wall+m.wall, cpu+m.cpu
		all.AddSlice(m.rec)
		if failed = m.rec.Err(); failed != nil {
			break
		}
		if left <= 0 || all.Unclosed() >= e.Window {
			deliver.Add(all.CloseWindow())
		}
	}
	if all.Unclosed() > 0 { // the last slice was cut short
		deliver.Add(all.CloseWindow())
	}
	load, err := finish(ctx, &all.Result, wall, cpu)
	return load, cmp.Or(err, failed)
}
