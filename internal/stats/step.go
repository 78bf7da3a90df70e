package stats

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"locbench/internal/bench"
)

// steps collects the steps of all legs by their index. Rounds of one run agree about their steps;
// results of somebody's own making may not, which is reported.
func (c *Contender) steps(legs []bench.LegResult, merge merger) {
	rounds := map[int][]bench.StepResult{}
	for _, leg := range legs {
		for _, s := range leg.Steps {
			if seen := rounds[s.Index]; len(seen) > 0 && seen[0].Step.Name != s.Step.Name {
				c.Warnings = append(c.Warnings, fmt.Sprintf("round %d: step %d is %q, not %q as before: left out",
					leg.Leg.Round, s.Index+1, s.Step.Name, seen[0].Step.Name))
				continue
			}
			rounds[s.Index] = append(rounds[s.Index], s)
		}
	}
	for _, i := range slices.Sorted(maps.Keys(rounds)) {
		step, err := newStep(rounds[i], merge)
		if err != nil {
			c.Warnings = append(c.Warnings, fmt.Sprintf("step %d: latency not summarised: %v", i+1, err))
		}
		c.Steps = append(c.Steps, step)
	}
}

// newStep summarises one step. An error concerns the latency alone.
func newStep(rounds []bench.StepResult, merge merger) (Step, error) {
	s := Step{Index: rounds[0].Index, Step: rounds[0].Step, Failed: map[bench.ErrorKind]int64{}}
	var throughput []float64
	var latencies []bench.Latencies
	for _, r := range rounds {
		s.Succeeded += r.Load.AllSucceeded()
		for kind, n := range r.Load.Failed {
			s.Failed[kind] += n
		}
		if r.Aborted != "" {
			s.Aborted++
			continue
		}
		s.Rounds++
		if r.Drift != nil {
			s.Drifting++
			if r.Drift.Warming() {
				s.Warming++
			}
		}
		throughput = append(throughput, r.Load.Throughput())
		latencies = append(latencies, r.Load.Latency)
		s.Results = append(s.Results, r)
	}
	s.Throughput = NewValue(throughput)
	if len(latencies) == 1 {
		s.Latency = latencies[0]
		return s, nil
	}
	var err error
	s.Latency, err = merge(latencies...)
	return s, err
}

// DriftWords is the finding of the rounds that were not in a steady state, "still warming in 2 of 6
// rounds"; "" where all were.
func (s Step) DriftWords() string {
	if s.Drifting == 0 {
		return ""
	}
	name := bench.NotSteady
	if s.Warming > 0 {
		name = bench.StillWarming
	}
	if s.Rounds == 1 {
		return name
	}
	return fmt.Sprintf("%s in %d of %d rounds", name, s.Drifting, s.Rounds)
}

// LegMemoryPeak is the highest memory of a leg in bytes, 0 where it is not known. With sample it is
// the largest reading: the true one may be higher.
func LegMemoryPeak(leg bench.LegResult) (peak int64, sample bool) {
	look := func(u *bench.Usage) {
		if u != nil && u.Memory != nil && u.Memory.Peak > peak {
			peak, sample = u.Memory.Peak, u.Memory.PeakIsSample
		}
	}
	for i := range leg.Marks {
		look(&leg.Marks[i].Usage)
	}
	for i := range leg.Steps {
		look(leg.Steps[i].Before)
		look(leg.Steps[i].After)
		for j := range leg.Steps[i].Samples {
			look(&leg.Steps[i].Samples[j])
		}
	}
	return peak, sample
}

// idleCPUs is what a contender used in all the rests of a leg.
func idleCPUs(leg bench.LegResult) (cpus float64, ok bool) {
	var all bench.Rests
	for _, s := range leg.Steps {
		if r := s.Load.Rests; r != nil && r.CPU != nil {
			used := *r.CPU
			if all.CPU != nil {
				used += *all.CPU
			}
			all.Time, all.CPU = all.Time+r.Time, &used
		}
	}
	return all.CPUs()
}

// medianCost is the cost of the median round, so that its parts add up; of an even number of rounds
// the cheaper middle one.
func medianCost(costs []Cost) *Cost {
	if len(costs) == 0 {
		return nil
	}
	s := slices.SortedStableFunc(slices.Values(costs), func(a, b Cost) int { return cmp.Compare(a.Total, b.Total) })
	return &s[(len(s)-1)/2]
}
