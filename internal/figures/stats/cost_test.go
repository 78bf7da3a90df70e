package stats

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// The published table: 560, 460 and 170 µs per request at $0.0275 per vCPU-hour are $4.3, $3.5 and
// $1.3 per billion requests.
func TestCostPerBillion(t *testing.T) {
	for cpu, want := range map[time.Duration]string{560: "$4.3", 460: "$3.5", 170: "$1.3"} {
		dollars, ok := CostPerBillion(cpu*time.Microsecond*1000, 1000, DefaultPrice)
		got := fmt.Sprintf("$%.1f", dollars)
		testenv.Check(t, ok && got == want, "%d µs cost %s, want %s", cpu, got, want)
	}
	_, without := CostPerBillion(time.Second, 0, 1)
	_, negative := CostPerBillion(-1, 1, 1)
	free, ok := CostPerBillion(0, 1, 1)
	testenv.Check(t, !without && !negative && ok && free == 0, "a cost without successes or time, or none of no time")
	dollars, _ := CostPerBillion(time.Hour, 1e9, .5)
	testenv.Check(t, dollars == .5, "an hour for a billion requests costs %g, not the price of an hour", dollars)
}

// usage returns a reading with this CPU time in seconds.
func usage(cpu float64) *bench.Usage { return &bench.Usage{CPU: time.Duration(cpu * 1e9)} }

// step returns a finished step of 10 s.
func step(index int, warmUp bool, before, after float64, succeeded int64) bench.StepResult {
	return bench.StepResult{
		Index: index, Step: bench.Step{Name: fmt.Sprint("step ", index), WarmUp: warmUp},
		Before: usage(before), After: usage(after),
		Load: bench.Load{Outcomes: bench.Outcomes{Succeeded: succeeded}, Counts: bench.Counts{Sent: succeeded}, Elapsed: 10 * time.Second},
	}
}

// trialOfCost returns a trial with 1 s of CPU time for the start, 1 s for the checks, 2 s for 1,000
// requests of warm-up, and 6 s for 9,000 others.
func trialOfCost() bench.TrialResult {
	return bench.TrialResult{
		Trial: bench.Trial{Contender: "a", Round: 1}, State: bench.TrialComplete,
		Steps: []bench.StepResult{step(0, true, 2, 4, 1000), step(1, false, 4, 6, 4000), step(2, false, 6, 10, 5000)},
	}
}

func TestTrialCost(t *testing.T) {
	// 10 s of CPU time for 10,000 requests are 1 ms each; at $3.6 an hour that is $1,000 per
	// billion.
	const price = 3.6
	got, ok := TrialCost(trialOfCost(), price)
	want := Cost{Total: 1000, Marginal: 6. / 9 * 1000,
		CPU: 10 * time.Second, Successes: 10_000}
	testenv.Check(t, ok && same(got, want), "%+v, want %+v", got, want)
	// With a missing reading the total stays.
	gap := trialOfCost()
	gap.Steps[1].After, gap.Steps[2].Before = nil, nil
	if got, _ := TrialCost(gap, price); got.Total != 1000 || got.Successes != 10_000 {
		t.Errorf("with a missing reading: %+v", got)
	}
	// The pauses between slices of the last step took 1 s more.
	paused := trialOfCost()
	paused.Steps[2].Interleave = &bench.Interleave{AddedCPU: time.Second}
	if got, _ := TrialCost(paused, price); got.Total != 1100 || math.Abs(got.Marginal-7./9*1000) > 1e-9 || got.CPU != 11*time.Second {
		t.Errorf("with pauses: %+v", got)
	}
	for name, trial := range map[string]bench.TrialResult{
		"no steps": {}, "no usage": {Steps: []bench.StepResult{{Load: bench.Load{Outcomes: bench.Outcomes{Succeeded: 1}}}}},
		"no successes":                {Steps: []bench.StepResult{step(0, false, 1, 2, 0)}},
		"no success but in a warm-up": {Steps: []bench.StepResult{step(0, true, 1, 2, 9), step(1, false, 2, 3, 0)}},
		"no time":                     {Steps: []bench.StepResult{{Before: usage(1), After: usage(2), Load: bench.Load{Outcomes: bench.Outcomes{Succeeded: 1}}}}},
		"no success but in a drain": {Steps: []bench.StepResult{
			{Before: usage(1), After: usage(2), Load: bench.Load{Counts: bench.Counts{Lead: 1, Drain: 1}, Elapsed: time.Second}}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, ok := TrialCost(trial, price)
			testenv.Check(t, !ok, "%s: a cost", name)
		})
	}
}

// A warm-up alone has a cost, and so has a trial with a success in one of its measured steps.
func TestTrialCost_Answered(t *testing.T) {
	for name, steps := range map[string][]bench.StepResult{
		"a warm-up": {step(0, true, 1, 2, 9)},
		"one step":  {step(0, false, 1, 2, 0), step(1, false, 2, 3, 9)},
	} {
		_, ok := TrialCost(bench.TrialResult{Steps: steps}, 1)
		testenv.Check(t, ok, "%s: no cost", name)
	}
}

func same(a, b Cost) bool {
	return math.Abs(a.Total-b.Total) <= 1e-9 && math.Abs(a.Marginal-b.Marginal) <= 1e-9 && a.CPU == b.CPU && a.Successes == b.Successes
}
