package stats

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/bench"
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
	if fmt.Sprint(got.Tiers) != "[[2 1 3] [7 4] [0] [6]]" || !slices.Equal(got.Unknown, []int{5}) ||
		len(got.Pairs) != 21 {
		t.Errorf("%+v", got)
	}
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
			got := Outside(test.of, test.contender, test.at, test.clientBound)
			testenv.Check(t, got == test.want, "%q, want %q", got, test.want)
		})
	}
	if !SameLength([]float64{1, 2}, []float64{3, 4}) || SameLength([]float64{1, 2}, []float64{3}) || !SameLength() {
		t.Error("lengths")
	}
}

// TestKeepSteady: rounds that were not steady are left out if enough remain.
func TestKeepSteady(t *testing.T) {
	mixed := []bool{true, false, true, true}
	testenv.Equal(t, KeepSteady(mixed, 3), mixed)
	testenv.Equal(t, len(KeepSteady(mixed, 4)), 0, "too few are left")
	testenv.Equal(t, len(KeepSteady([]bool{true, true, true}, 2)), 0, "all are steady")
}
