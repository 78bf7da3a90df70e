package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/testenv"
)

func TestTiers(t *testing.T) {
	base := []float64{98, 99, 100, 101, 102, 103}
	samples := [][]float64{
		times(base, 0.5),               // 0: third tier
		base,                           // 1: with 2 and 3 in the first
		times(base, 1.01),              // 2: the best median
		{70, 80, 85, 90, 120, 130},     // 3: a low median, not significantly worse
		times(base, 0.8),               // 4: second
		{100, 101},                     // 5: too few rounds
		make([]float64, 6),             // 6: nothing succeeded: the last one
		times([]float64(base), 0.8001), // 7: second
	}
	got := Rule{}.Tiers(samples, true, false, nil)
	testenv.Check(t, fmt.Sprint(got.Tiers) == "[[2 1 3] [7 4] [0] [6]]" && slices.Equal(got.Unknown, []int{5}) && len(got.Pairs) == 21,
		"%+v", got)
	// Lower is better.
	if got = (Rule{}).Tiers(slices.Concat(samples[:6], samples[7:]), false, false, nil); len(got.Tiers) != 3 ||
		fmt.Sprint(got.Tiers[:2]) != "[[0] [4 6 3]]" {
		t.Errorf("tiers of times %+v", got.Tiers)
	}
	// None leads if nothing succeeded anywhere.
	nothing := [][]float64{samples[6], samples[5], samples[6]}
	got = (Rule{}).Tiers(nothing, true, false, nil)
	testenv.Check(t, got.Tiers == nil && slices.Equal(got.Unknown, []int{0, 1, 2}), "tiers of nothing %+v", got)
	got = (Rule{}).Tiers(nothing, false, false, nil)
	testenv.Check(t, len(got.Tiers) == 1, "tiers of 0, where less is better, %+v", got)
	got = (Rule{}).Tiers(nil, true, false, nil)
	testenv.Check(t, got.Tiers == nil && got.Unknown == nil, "nothing has tiers")
	// A contender's other measures correct its pairs, too.
	with := func(a, b int) ([]Weighted, float64) { return make([]Weighted, a+b), 1 }
	got = (Rule{}).Tiers(samples[:5], true, false, with)
	testenv.Equal(t, got.Pairs[[2]int{2, 3}].Family, 10)
	got = (Rule{}).Tiers(samples[3:5], true, false, func(int, int) ([]Weighted, float64) { return make([]Weighted, 29), 1 })
	for _, pair := range got.Pairs {
		testenv.Equal(t, pair.Family, 30)
	}
}

// Eight contenders have 28 pairs, for which the smallest p value needs seven rounds per side.
func TestRoundsNeeded(t *testing.T) {
	samples := func(contenders, n int) [][]float64 {
		var all [][]float64
		for i := range contenders {
			s := make([]float64, n)
			for j := range s {
				s[j] = float64(100*(i+1) + j)
			}
			all = append(all, s)
		}
		return all
	}
	for _, test := range []struct{ contenders, rounds, tiers int }{{2, 6, 2}, {7, 6, 7}, {8, 6, 1}, {8, 7, 8}, {1, 6, 1}} {
		got := Rule{}.Tiers(samples(test.contenders, test.rounds), true, false, nil)
		testenv.Check(t, len(got.Tiers) == test.tiers, "%d contenders, %d rounds: %d tiers", test.contenders, test.rounds, len(got.Tiers))
	}
}

func TestOutside(t *testing.T) {
	died := &bench.Exclusion{Cause: &bench.Cause{Kind: bench.CauseExited, Text: "exit code 7"}}
	checks := &bench.Exclusion{FailedChecks: 1, Checks: 2}
	valid := Step{Step: bench.Step{Name: "64 connections", Connections: 64}}
	open := Step{Step: bench.Step{Name: "80%", PeakShare: .8}}
	drifting, failing := valid, valid
	drifting.Drifting, drifting.Rounds = 2, 6
	failing.Excluded, failing.Succeeded, failing.Failed = true, 75, map[bench.ErrorKind]int64{bench.ErrReset: 25}
	const clientBound = true
	for _, test := range []struct {
		name        string
		of          Kind
		contender   Contender
		at          Step
		clientBound bool
		want        string
	}{
		{"valid", OfThroughput, Contender{Steps: []Step{valid}}, valid, false, ""},
		{"died", OfThroughput, Contender{Excluded: died, FailedRounds: 1, Trials: 1}, valid, false,
			"the contender died: exit code 7"},
		{"a failed round", FromStartToStop, Contender{FailedRounds: 1, Trials: 1, Excluded: checks}, valid, false,
			"1 of 1 round failed"},
		{"a failed round of two", FromStartToStop, Contender{FailedRounds: 1, Trials: 2}, valid, false,
			"1 of 2 rounds failed"},
		{"failed checks", FromStartToStop, Contender{Excluded: checks}, valid, false, "failed 1 of 2 checks"},
		{"drifting, from start to stop", FromStartToStop, Contender{Steps: []Step{drifting}}, drifting, clientBound, ""},
		{"drifting", OfCPU, Contender{Steps: []Step{drifting}}, drifting, false, "unstable in 2 of 6 rounds"},
		{"without a peak", OfCPU, Contender{}, drifting, clientBound, ""},
		{"errors", OfCPU, Contender{Steps: []Step{failing}}, failing, false, "25% of requests failed at 64 connections"},
		{"only errors, of errors", OfErrors, Contender{Excluded: &bench.Exclusion{NoValidStep: true, Errors: .2}}, failing, false, ""},
		{"failed checks, of errors", OfErrors, Contender{Excluded: checks}, valid, false, "failed 1 of 2 checks"},
		{"an open loop", OfThroughput, Contender{Steps: []Step{open}}, open, false, "its peak step is open loop"},
		{"latency of an open loop", OfLatency, Contender{Steps: []Step{open}}, open, false, ""},
		{"latency, client-bound", OfLatency, Contender{Steps: []Step{valid}}, valid, clientBound, "client-bound at its peak"},
		{"throughput, client-bound", OfThroughput, Contender{Steps: []Step{valid}}, valid, clientBound,
			"client-bound at its peak"},
		{"CPU time, client-bound", OfCPU, Contender{Steps: []Step{valid}}, valid, clientBound, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			testenv.Equal(t, Outside(test.of, test.contender, test.at, test.clientBound), test.want)
		})
	}
	testenv.Check(t, SameLength([]float64{1, 2}, []float64{3, 4}) && !SameLength([]float64{1, 2}, []float64{3}) && SameLength(), "lengths")
}

// TestKeepSteady: rounds that were not steady are left out if enough remain.
func TestKeepSteady(t *testing.T) {
	mixed := []bool{true, false, true, true}
	testenv.Equal(t, KeepSteady(mixed, 3), mixed)
	testenv.Equal(t, len(KeepSteady(mixed, 4)), 0, "too few are left")
	testenv.Equal(t, len(KeepSteady([]bool{true, true, true}, 2)), 0, "all are steady")
}

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

// 11 to 10, 110 to 100 and 10 to 11 are ties, although their logarithms are rounded differently.
func TestSignedRank_Ties(t *testing.T) {
	for _, times := range [][]float64{{1, 1, 1, 1, 1, 1, 1, 1}, {1, 2, 3, 5, 7, 10, 100, 1000},
		{0x1p-30, 1e9, 3, 6, 9, 12, 13, 14}} {
		for down := range len(times) + 1 { // number of swapped pairs
			var x, y []float64
			for i, f := range times {
				a, b := 10*f, 11*f
				if i < down {
					a, b = b, a
				}
				x, y = append(x, a), append(y, b)
			}
			up := len(times) - down
			test, err := SignedRank(x, y)
			if want := 4.5 * float64(up); err != nil || test.U != want || !test.Ties {
				t.Errorf("%v, %v: %+v, want U %g, %v", x, y, test, want, err)
			}
			// The share of the eight signs.
			ways := []float64{1, 8, 28, 56, 70, 56, 28, 8, 1}
			tail := 0.0
			for _, w := range ways[:min(up, down)+1] {
				tail += w / 256
			}
			want := min(1, 2*tail)
			testenv.Check(t, near(test.P, want), "%v, %v: p %g, want %g", x, y, test.P, want)
			r, err := PairedRatio(x, y, 0.95)
			testenv.Check(t, err == nil && r.Interval.Holds(1) == (up > 0 && down > 0), "%v, %v: %+v, %v", x, y, r, err)
		}
	}
}

// Pairs with a 0 have the highest ranks, which are equal; two zeros are an equal pair.
func TestSignedRank_Zeros(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y []float64
		u, p float64
	}{
		{"all down to 0", []float64{19, 18, 19, 20, 21, 22}, make([]float64, 6), 0, 2. / 64},
		{"all up from 0", make([]float64, 6), []float64{19, 18, 19, 20, 21, 22}, 21, 2. / 64},
		{"nothing", make([]float64, 6), make([]float64, 6), 0, 1},
		{"two of four down to 0", []float64{10, 10, 10, 10}, []float64{11, 12, 0, 0}, 3, 8. / 16},
		{"one equal", []float64{0, 10, 10}, []float64{0, 0, 11}, 1, 1},
	} {
		got, err := SignedRank(c.x, c.y)
		testenv.Check(t, err == nil && got.U == c.u && near(got.P, c.p) && got.Exact,
			"%s: %+v, %v; want U %g, p %g", c.name, got, err, c.u, c.p)
	}
}

func about(a, b, share float64) bool { return math.Abs(a-b) <= share*math.Abs(b) }

// 1 … 1000 µs, uniform: mean 500.5, SD of the population √((n²−1)/12), and 57.7%, 2·SD/n, within
// one SD.
func TestLatencySpread(t *testing.T) {
	a, b := hdr.New(), hdr.New()
	for i := range 1000 {
		h := a
		if i >= 300 {
			h = b
		}
		h.Record(time.Duration(i+1) * time.Microsecond)
	}
	s, ok, err := LatencySpread(a.Latencies(), b.Latencies())
	testenv.Check(t, err == nil && ok && s.N == 1000 && s.Max == 1e6 && about(s.Mean, 500500, 1e-6) && about(s.SD, 288675, 1e-3) && about(s.Within, .577, .005),
		"%+v %t %v", s, ok, err)
	// Equal values are all within, although their SD is 0 and their bucket has a width.
	c := hdr.New()
	for range 10 {
		c.Record(1234567)
	}
	s, ok, err = LatencySpread(c.Latencies())
	testenv.Check(t, err == nil && ok && s.SD == 0 && s.Within == 1, "%+v %t %v", s, ok, err)
	_, ok, err = LatencySpread()
	testenv.Check(t, !ok && err == nil, "of none: %t %v", ok, err)
	_, ok, err = LatencySpread(bench.Latencies{Count: 5, HDR: "nonsense"})
	testenv.Check(t, !ok && err != nil, "of nonsense: %t %v", ok, err)
}

func TestRateSpread(t *testing.T) {
	window := func(ms time.Duration, n int64) bench.Window {
		return bench.Window{Length: ms * time.Millisecond, Succeeded: n}
	}
	load := func(windows ...bench.Window) bench.Load {
		return bench.Load{Elapsed: time.Duration(len(windows)) * time.Second, Outcomes: bench.Outcomes{Bytes: 1250}, Windows: windows}
	}
	for _, test := range []struct {
		name  string
		steps []bench.Load
		want  Spread
	}{
		{"two steps", []bench.Load{load(window(1000, 100), window(1000, 200)),
			load(window(1000, 300), window(1000, 200))},
			Spread{N: 4, Mean: 200, SD: math.Sqrt(5000), Max: 300, Within: .5}},
		{"lengths that differ by 10%", []bench.Load{load(window(900, 72), window(1100, 132), window(1000, 100))},
			Spread{N: 3, Mean: 100, SD: math.Sqrt(800. / 3), Max: 120, Within: 1. / 3}},
		{"lengths that differ by more", []bench.Load{load(window(899, 99), window(1101, 110), window(1000, 100))},
			Spread{N: 1, Mean: 100, Max: 100, Within: 1}},
		{"one SD from the mean", []bench.Load{load(window(1000, 110), window(1000, 131))},
			Spread{N: 2, Mean: 120.5, SD: 10.5, Max: 131, Within: 1}},
		{"only a short window", []bench.Load{load(window(899, 7), window(2000, 7))}, Spread{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, ok := RateSpread(test.steps...)
			w := test.want
			testenv.Check(t, ok == (w.N > 0) && s.N == w.N && near(s.Mean, w.Mean) && near(s.SD, w.SD) && near(s.Max, w.Max) && near(s.Within, w.Within),
				"%+v, want %+v", s, w)
		})
	}
	second := window(1000, 7)
	got := BytesPerSecond(load(second, second), load(second, second, second))
	testenv.Check(t, got == 500 && BytesPerSecond() == 0, "%g bytes per second", got)
}
