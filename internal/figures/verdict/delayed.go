package verdict

import (
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/hdr"
)

// DelayedACKs returns the warning that latencies pile up at 40 ms, as they do if a response comes in
// two segments, and the second one waits for the client's delayed acknowledgment of the first.
func DelayedACKs(res bench.StepResult) bench.Warnings {
	l := res.Load.Latency
	if t, ok := res.Throttling(); ok && float64(t.Throttled) > idle*float64(t.Periods) || l.Max < delayedFrom || l.Min > delayedTo {
		return nil
	}
	h, err := hdr.Decode(l)
	if err != nil || h == nil {
		return nil
	}
	var at, around int64
	for _, b := range h.Bars() {
		switch width := delayedTo - delayedFrom; {
		case b.From >= delayedFrom && b.To < delayedTo:
			at += b.Count
		case b.To >= delayedFrom-width && b.From < delayedTo+width:
			around += b.Count
		}
	}
	share := float64(at) / float64(max(1, l.Count))
	if at < someDelayed || share < delayed || at < fewer*around {
		return nil
	}
	return bench.Warnings{found(bench.WarnDelayedACKs, values{"responses": float64(at), "share": share},
		"%s of responses took about 40 ms, the time of a delayed acknowledgment, and hardly any a little less or more: "+
			"if the contender writes head and body of a response apart, set TCP_NODELAY or write both at once", units.Percent(share))}
}
