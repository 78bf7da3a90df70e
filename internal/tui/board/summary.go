package board

import (
	"slices"

	"locbench/internal/bench"
	"locbench/internal/hdr"
	"locbench/internal/stats"
	"locbench/internal/tui/fold"
)

// sums keeps the summary of the contenders until a step, leg or check changes it.
type sums struct {
	state *fold.State
	done  [4]int
	list  []stats.Contender
}

// summary is what is known of the contenders so far; of latencies, only those at the peak.
func (v *view) summary() []stats.Contender {
	var done [4]int
	for _, leg := range v.s.Legs {
		done[0] += len(leg.Result.Steps)
		if len(leg.Result.Checks) > 0 {
			_, failed, _ := leg.Checks()
			done[1] += 1 + failed
		}
		done[2] += len(leg.Result.State)
		if leg.Result.StartUp != nil {
			done[3]++
		}
	}
	if v.sums.list == nil || v.sums.state != v.s || v.sums.done != done {
		v.Board.sums = sums{v.s, done, summarise(v.s.Results(), v.s.Run.Profile.PriceVCPUHr)}
	}
	return v.sums.list
}

// summarise is stats.Summarise, but merges no histograms other than those of each contender's peak:
// merging takes a millisecond, and a run has hundreds of them.
func summarise(legs []bench.LegResult, price float64) []stats.Contender {
	light := slices.Clone(legs)
	for i, leg := range legs {
		light[i].Steps = slices.Clone(leg.Steps)
		for n := range light[i].Steps {
			light[i].Steps[n].Load.Latency = bench.Latencies{}
		}
	}
	out := stats.Summarise(light, price)
	for i := range out {
		c := &out[i]
		if c.Peak < 0 {
			continue
		}
		peak := &c.Steps[c.Peak]
		var rounds []bench.Latencies
		for _, leg := range legs {
			for _, s := range leg.Steps {
				if leg.Leg.Label() == c.Label && s.Index == peak.Index && s.Step.Name == peak.Step.Name && s.Aborted == "" {
					rounds = append(rounds, s.Load.Latency)
				}
			}
		}
		for n := range min(len(rounds), len(peak.Results)) {
			peak.Results[n].Load.Latency = rounds[n]
		}
		if len(rounds) == 1 {
			peak.Latency = rounds[0]
		} else if merged, err := hdr.Merge(rounds...); err == nil {
			peak.Latency = merged
		}
	}
	return out
}
