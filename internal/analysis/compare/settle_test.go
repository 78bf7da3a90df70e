package compare

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// timed returns a run of two contenders, the second with cpu times the CPU time. A round takes one
// minute, or each of two minutes interleaved.
func timed(interleaved bool, plain *bench.Plain, cpu float64) raw {
	all := flat(rand.New(rand.NewPCG(3, 4)), .1, 8, interleaved, 1, cpu)
	r := inRun(all)
	r.Run.Plain = plain
	if interleaved {
		r.Run.Profile.Interleave = 100 * time.Millisecond
	}
	for i := range all {
		all[i].Started = time.Date(2026, 11, 27, 8, i, 0, 0, time.UTC)
		if interleaved {
			all[i].Started = time.Date(2026, 11, 27, 8, all[i].Trial.Round, 0, 0, time.UTC)
		}
		all[i].Ended = all[i].Started.Add(time.Minute)
		r.Run.Trials = append(r.Run.Trials, bench.TrialEntry{Trial: all[i].Trial, State: bench.TrialComplete})
		r.Run.Profile.Contenders = []bench.Selection{{Contender: "a"}, {Contender: "b"}}
	}
	return r
}

// The run and the comparison of its two contenders say the same.
func TestPair_SettlesAsTheRun(t *testing.T) {
	for _, interleaved := range []bool{false, true} {
		r := timed(interleaved, &bench.Plain{Reason: bench.PlainMemory}, 1.04)
		set := r.set()
		pair := Pair(set.Run.Contenders[0], set.Run.Contenders[1], nil, Options{}).Settle
		if run := set.Run.Settle(func(measure.ID) stats.Rule { return stats.Rule{} }); run == "" || run != pair {
			t.Errorf("interleaved %v: the run says %q, the pair %q", interleaved, run, pair)
		}
	}
}
