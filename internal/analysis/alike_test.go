package analysis

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

func TestReference(t *testing.T) {
	none := func(t *bench.TrialResult) { t.Steps = nil }
	skipped := func(t *bench.TrialResult) { t.Steps[3].Aborted = bench.AbortedSkipped }
	fails := func(t *bench.TrialResult) { t.Steps[3].Load.Failed = nil; errorsInAll(t) }
	limits := limited()
	larger := rounds("a", 6, 1)
	half := func(change ...func(*bench.TrialResult)) []bench.TrialResult {
		return rounds("a", 6, .5, append(change, variant("half"))...)
	}
	more := func(change ...func(*bench.TrialResult)) []bench.TrialResult {
		return rounds("a", 6, 1, append(change, variant("more"))...)
	}
	reversed := bench.Run{Profile: bench.Profile{Contenders: []bench.Selection{{Contender: "b"}, {Contender: "a"}}}}
	for _, c := range []struct {
		name   string
		run    bench.Run
		trials [][]bench.TrialResult
		want   string
	}{
		{"no contender", bench.Run{}, nil, ""},
		{"the first", bench.Run{}, [][]bench.TrialResult{rounds("a", 6, 1), rounds("b", 6, 1)}, "a"},
		{"the first of the profile", reversed, [][]bench.TrialResult{rounds("a", 6, 1), rounds("b", 6, 1)}, "b"},
		{"not stable", bench.Run{}, [][]bench.TrialResult{rounds("a", 6, 1, driftAt(3)), rounds("b", 6, 1)}, "b"},
		{"not stable below the peak", bench.Run{}, [][]bench.TrialResult{rounds("a", 6, 1, driftAt(2)), rounds("b", 6, 1)}, "a"},
		{"not stable, or excluded", bench.Run{}, [][]bench.TrialResult{rounds("a", 6, 1, errorsInAll), rounds("b", 6, 1, driftAt(3))}, "b"},
		{"without a peak", bench.Run{}, [][]bench.TrialResult{rounds("a", 6, 1, none), rounds("b", 6, 1)}, "b"},
		{"none is left", bench.Run{}, [][]bench.TrialResult{rounds("a", 6, 1, errorsInAll), rounds("b", 6, 1, none)}, "a"},
		{"equal limits, one fails at peak", bench.Run{ID: "r"}, [][]bench.TrialResult{larger, half(errorsAt(3))}, "a"},
		{"smaller limits, valid at peak", limits, [][]bench.TrialResult{larger, half()}, "a"},
		{"smaller limits, errors at peak", limits, [][]bench.TrialResult{larger, half(errorsAt(3))}, "a:half"},
		{"smaller limits, peak skipped", limits, [][]bench.TrialResult{larger, half(skipped)}, "a:half"},
		{"smaller limits, excluded", limits, [][]bench.TrialResult{larger, half(fails)}, "a"},
		{"each invalid at another's peak", limits, [][]bench.TrialResult{rounds("a", 6, 1, errorsAt(2)), half(errorsAt(3)), more()}, "a"},
	} {
		got := ""
		if all := Of(c.run, slices.Concat(c.trials...)).Contenders; len(all) > 0 {
			got = all[reference(all)].Label
		}
		testenv.Check(t, got == c.want, "%s: %q, want %q", c.name, got, c.want)
	}
}

// p99 is compared at a step at half peak whose load is the same for all.
func TestRun_StandingAtHalf(t *testing.T) {
	for _, c := range []struct {
		name  string
		b     []bench.TrialResult
		at    string
		other string // why b is in no tier
	}{
		{"equal rates", rounds("b", 6, 1, share(1000)), "50% of peak", ""},
		{"no rate", rounds("b", 6, 1, share(1000), noRate), "50% of peak", ""},
		{"4.9% more", rounds("b", 6, 1, share(1049)), "50% of peak", ""},
		{"5.1% more", rounds("b", 6, 1, share(1051)), "4 connections (50% of peak of a)", ""},
		{"4.9% less", rounds("b", 6, 1, share(1000/1.049)), "50% of peak", ""},
		{"5.1% less", rounds("b", 6, 1, share(1000/1.051)), "4 connections (50% of peak of a)", ""},
		{"5.1% in half of the rounds", slices.Concat(rounds("b", 4, 1, share(1000)), rounds("b", 7, 1, share(1102))[4:]), "50% of peak", ""},
		{"a rate not known in half of the rounds", rounds("b", 6, 1, share(1000), in(1, noRate), in(3, noRate), in(5, noRate)),
			"50% of peak", ""},
		{"another rate in a failed round", rounds("b", 6, 1, share(2000), in(6, failed)), "50% of peak", "1 of 6 rounds failed"},
		{"another rate, excluded", rounds("b", 6, 1, share(2000), errorsInAll), "50% of peak",
			"failed at least 10% of its requests in every step; first: timeout"},
		{"not measured", rounds("b", 6, 1), "50% of peak", "not measured at 50% of peak"},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := analyzed(rounds("a", 6, 1, share(1000)), c.b)
			s, m := run.Standing(measure.P99Half, stats.Rule{}), measure.Get(measure.P99Half)
			i := slices.IndexFunc(s.Places, func(p Place) bool { return p.Contender == "b" })
			ref := run.family().ref
			_, at := ref.sample(m, ref, "peak of a")
			testenv.Check(t, at == c.at && s.Places[i].Out == c.other, "at %q, want %q; b: %q, want %q", at, c.at, s.Places[i].Out, c.other)
		})
	}
}

// Without closed-loop steps another rate has no other step to compare at.
func TestContender_halfOfAll(t *testing.T) {
	only := func(rate float64) func(*bench.TrialResult) {
		return func(t *bench.TrialResult) { share(rate)(t); t.Steps = t.Steps[4:] }
	}
	all := analyzed(rounds("a", 6, 1, only(1000)), rounds("b", 6, 1, only(2000))).Contenders
	step, share, ok := all[0].halfOfAll(all...).Half()
	testenv.Check(t, step.Name == "50% of peak" && share == .5 && ok, "%+v, %v, %v", step, share, ok)
}

func TestContender_unlike(t *testing.T) {
	only := func(rate float64) func(*bench.TrialResult) {
		return func(t *bench.TrialResult) { share(rate)(t); t.Steps = t.Steps[4:] }
	}
	without := func(step int) func(*bench.TrialResult) {
		return func(t *bench.TrialResult) { t.Steps = slices.Delete(t.Steps, step, step+1) }
	}
	for _, c := range []struct {
		name           string
		of             measure.ID
		ref, contender []func(*bench.TrialResult)
		want           string
	}{
		{"the same steps", measure.CPURequest, nil, nil, ""},
		{"no step at half", measure.P99Half, nil, []func(*bench.TrialResult){without(2)}, "not measured at 4 connections"},
		{"no step at half, of CPU", measure.CPURequest, nil, []func(*bench.TrialResult){without(2)}, ""},
		{"no step at peak", measure.CPURequest, nil, []func(*bench.TrialResult){without(3)}, "not measured at 8 connections"},
		{"a warm-up is not measured", measure.CPURequest, []func(*bench.TrialResult){without(3)}, nil, ""},
		{"no step at peak, of throughput", measure.Throughput, nil, []func(*bench.TrialResult){without(3)}, ""},
		{"no step at peak, of start-up", measure.StartUp, nil, []func(*bench.TrialResult){without(3)}, ""},
		{"no step of the reference", measure.CPURequest, []func(*bench.TrialResult){errorsInAll}, nil, ""},
		{"another rate", measure.P99Half, []func(*bench.TrialResult){only(1000)}, []func(*bench.TrialResult){only(2000)},
			"other rate at 50% of peak: 2,000/s, not 1,000/s"},
		{"another rate, of throughput", measure.Throughput, []func(*bench.TrialResult){only(1000)}, []func(*bench.TrialResult){only(2000)}, ""},
		{"no peak, of throughput", measure.Throughput, nil, []func(*bench.TrialResult){errorsInAll}, ""},
		{"no rate of the reference", measure.P99Half, []func(*bench.TrialResult){only(1000), noRate}, []func(*bench.TrialResult){only(1000)}, ""},
		{"the same rate", measure.P99Half, []func(*bench.TrialResult){only(1000)}, []func(*bench.TrialResult){only(1000)}, ""},
	} {
		all := analyzed(rounds("a", 1, 1, c.ref...), rounds("b", 1, 1, c.contender...)).Contenders
		got := all[1].unlike(measure.Get(c.of), all[0])
		testenv.Check(t, got == c.want, "%s: %q, want %q", c.name, got, c.want)
	}
}

// TestContender_forMix: kinds of requests are compared at a closed-loop step where latency is
// compared at a share of the lowest peak.
func TestContender_forMix(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*bench.TrialResult)
		want   string
	}{
		"a share of the lowest peak": {lowest(1000), "4 connections"},
		"a share of each one's peak": {share(1000), "50% of peak"},
		"no closed loop":             {func(t *bench.TrialResult) { lowest(1000)(t); t.Steps = t.Steps[4:] }, "50% of lowest peak"},
	} {
		run := analyzed(rounds("a", 6, 1, c.change), rounds("b", 6, 2, c.change))
		step, _, _ := run.family().ref.forMix().Half()
		mix, _ := run.Contenders[1].MixStep()
		testenv.Check(t, step.Name == c.want && mix.Step.Name == c.want,
			"%s: %q and %q, want %q", name, step.Name, mix.Step.Name, c.want)
	}
}

func TestSamples(t *testing.T) {
	late := func(t *bench.TrialResult) { t.Steps[2].Load.Succeeded *= 4 } // the peak is at 4 connections
	run := analyzed(rounds("a", 1, 1), rounds("b", 1, 2), rounds("c", 1, 1, late), rounds("none", 1, 1, errorsInAll),
		rounds("share", 1, 1, share(1000)), rounds("slow", 1, .2, lowest(1000)), rounds("fast", 1, 1, lowest(1001)),
		rounds("twice", 1, 1, func(t *bench.TrialResult) {
			t.Steps[1].Step, t.Steps[1].Load.Latency.P99 = t.Steps[2].Step, time.Hour
		}), rounds("aborted", 2, 1, in(1, func(t *bench.TrialResult) { t.Steps[2].Aborted = bench.AbortedSkipped })))
	of := func(label string) Contender {
		return run.Contenders[slices.IndexFunc(run.Contenders, func(c Contender) bool { return c.Label == label })]
	}
	for _, c := range []struct {
		of        measure.ID
		ref, a, b string
		want      string
	}{
		{measure.Throughput, "a", "a", "b", "[10000] [20000] 8 connections"},
		{measure.Throughput, "a", "a", "c", "[10000] [20000] 8 connections → 4 connections"},
		{measure.Throughput, "a", "a", "none", "[10000] [] 8 connections"},
		{measure.Throughput, "none", "none", "b", "[] [20000] 8 connections"},
		{measure.P99Half, "a", "a", "b", "[4e+06] [2e+06] 4 connections (50% of peak)"},
		{measure.P99Half, "b", "a", "b", "[4e+06] [2e+06] 4 connections (50% of peak of b)"},
		{measure.P99Half, "share", "share", "share", "[2e+06] [2e+06] 50% of peak"},
		{measure.P99Half, "slow", "slow", "fast", "[2e+06] [2e+06] 1,000/s (50% of lowest peak)"},
		{measure.P99Half, "none", "none", "b", "[] [] "},
		{measure.P99Half, "a", "none", "b", "[] [2e+06] 4 connections (50% of peak of a)"},
		{measure.P99Half, "a", "twice", "aborted", "[4e+06] [3.956478e+06] 4 connections (50% of peak of a)"},
		{measure.CPURequest, "a", "a", "c", "[100000] [100000] 8 connections"},
		{measure.CPURequest, "c", "a", "b", "[100000] [50000] 4 connections"},
		{measure.CPURequest, "none", "a", "b", "[] [] "},
		{measure.StartUp, "a", "a", "b", "[1e+08] [5e+07] "},
		{measure.MemoryPeak, "none", "a", "none", "[5.24288e+07] [5.24288e+07] "},
	} {
		old, fresh, at := Samples(measure.Get(c.of), of(c.ref), of(c.a), of(c.b))
		testenv.Equal(t, fmt.Sprint(old, fresh, " ", at), c.want, c.of, c.a, c.b, c.ref)
		side := of(c.a).StepOf(measure.Get(c.of), of(c.ref))
		testenv.Check(t, len(old) <= 0 || at == "" || len(side.Results) != 0, "%s of %s at those of %s: no step", c.of, c.a, c.ref)
	}
}

// A contender is compared from six rounds on, with values that have a ratio or are 0.
func TestComparable(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   bool
	}{
		{wobbled(6, 1), true}, {wobbled(5, 1), false}, {nil, false},
		{wobbled(6, math.Nextafter(1e-150, 1)), true}, {wobbled(6, 1e-150), false},
		{wobbled(6, math.Nextafter(1e150, 1)), true}, {wobbled(6, 1e150), false},
		{wobbled(6, 0), true}, {wobbled(6, math.NaN()), false},
	} {
		got := comparable(c.values)
		testenv.Check(t, got == c.want, "%v: %v", c.values, got)
	}
}

// wobbled returns n values, of which the last is given.
func wobbled(n int, last float64) []float64 { return append(slices.Repeat([]float64{1}, n-1), last) }

// Two contenders of a run are compared at the steps of its reference, over their common rounds, and
// corrected for its other pairs.
func TestCoupleOf(t *testing.T) {
	plain := []func(*bench.TrialResult){}
	paired := []func(*bench.TrialResult){interleaved}
	not := func(round int, what func(*bench.TrialResult)) []func(*bench.TrialResult) {
		return []func(*bench.TrialResult){interleaved, in(round, what)}
	}
	three := func(a, b, c []func(*bench.TrialResult)) *Run {
		return analyzed(rounds("a", 8, 1, a...), rounds("b", 8, 1.1, b...), rounds("c", 8, 1.2, c...))
	}
	for _, c := range []struct {
		name string
		run  *Run
		a, b int
		want string
	}{
		{"interleaved", three(paired, paired, paired), 0, 1, "paired true, 8 and 8 rounds at the steps of a, 2 other pairs"},
		{"later first", three(paired, paired, paired), 2, 0, "paired true, 8 and 8 rounds at the steps of a, 2 other pairs"},
		{"not interleaved", three(plain, plain, plain), 1, 2, "paired false, 8 and 8 rounds at the steps of a, 2 other pairs"},
		{"one is not interleaved", three(paired, paired, plain), 0, 2, "paired false, 8 and 8 rounds at the steps of a, 2 other pairs"},
		{"an aborted round", three(paired, not(3, aborted), paired), 1, 2, "paired true, 7 and 7 rounds at the steps of a, 2 other pairs"},
		{"an aborted round of another", three(paired, paired, not(3, aborted)), 0, 1, "paired true, 7 and 7 rounds at the steps of a, 2 other pairs"},
		{"a failed round", three(paired, not(3, failed), paired), 0, 1, "paired true, 7 and 7 rounds at the steps of a, 1 other pairs"},
		{"a failed round of another", three(paired, not(3, failed), paired), 0, 2, "paired true, 8 and 8 rounds at the steps of a, 0 other pairs"},
		{"two left out", three(paired, not(3, failed), not(3, failed)), 1, 2, "paired true, 7 and 7 rounds at the steps of a, 0 other pairs"},
		{"itself", three(paired, paired, paired), 0, 0, "paired true, 8 and 8 rounds at the steps of a, no run"},
	} {
		got := CoupleOf(c.run.Contenders[c.a], c.run.Contenders[c.b])
		text := fmt.Sprintf("paired %v, %d and %d rounds at the steps of %s, %d other pairs", got.Paired, len(got.A.Results),
			len(got.B.Results), got.Ref.Label, len(got.OtherPairs(measure.Throughput)))
		if got.Run == nil {
			text = text[:len(text)-len("0 other pairs")] + "no run"
		}
		testenv.Check(t, text == c.want && got.A.Label == c.run.Contenders[c.a].Label && got.B.Label == c.run.Contenders[c.b].Label,
			"%s: %s and %s: %s, want %s", c.name, got.A.Label, got.B.Label, text, c.want)
		testenv.Check(t, len(got.OtherPairs("no measure")) == 0, "%s: pairs in a measure that is not tested", c.name)
	}
	old, fresh := analyzed(rounds("a", 8, 1, share(1000))), analyzed(rounds("a", 8, 1, share(2000), in(2, failed)))
	got := CoupleOf(old.Contenders[0], fresh.Contenders[0])
	if step, _, _ := got.Ref.Half(); got.Run != nil || got.Paired || got.OtherPairs(measure.Throughput) != nil || step.PeakShare == 0 {
		t.Errorf("of two runs: %+v at %+v", got, step)
	}
	why := got.Outside(measure.Get(measure.Throughput))
	testenv.Check(t, why == [2]string{"", "1 of 8 rounds failed"}, "outside: %q", why)
}

// Rounds that were not in a steady state leave with their pairs, if the others are enough for a verdict. One
// in eight of which too few would be left is compared; of more there is no verdict.
func TestCouple_Unsteady(t *testing.T) {
	const no = "still warming up in 2 of 8 rounds"
	for _, test := range []struct {
		name   string
		rounds int
		apart  bool  // not interleaved
		a, b   []int // rounds that drifted at peak
		kept   [2]int
		out    [2]string
	}{
		{"none", 8, false, nil, nil, [2]int{8, 8}, [2]string{}},
		{"one of eight", 8, false, []int{3}, nil, [2]int{8, 8}, [2]string{}},
		{"one of seven", 7, false, []int{3}, nil, [2]int{7, 7}, [2]string{"still warming up in 1 of 7 rounds", ""}},
		{"two of eight", 8, false, []int{3, 4}, nil, [2]int{8, 8}, [2]string{no, ""}},
		{"one of nine", 9, false, []int{3}, nil, [2]int{8, 8}, [2]string{}},
		{"of either side", 10, false, []int{3}, []int{7}, [2]int{8, 8}, [2]string{}},
		{"the same of both sides", 9, false, []int{3}, []int{3}, [2]int{8, 8}, [2]string{}},
		{"of either side, and too few are left", 9, false, []int{3}, []int{7}, [2]int{9, 9}, [2]string{}},
		{"not interleaved", 8, true, []int{3, 4}, nil, [2]int{6, 8}, [2]string{}},
		{"not interleaved, and too few are left", 7, true, []int{3, 4}, nil, [2]int{7, 7}, [2]string{"still warming up in 2 of 7 rounds", ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			side := func(name string, drifted []int) []bench.TrialResult {
				var all []func(*bench.TrialResult)
				for _, round := range drifted {
					all = append(all, in(round, driftAt(3)))
				}
				if !test.apart {
					all = append(all, interleaved)
				}
				return rounds(name, test.rounds, 1, all...)
			}
			a, b := side("a", test.a), side("b", test.b)
			one, other := analyzed(a, b), analyzed(b)
			m := measure.Get(measure.Throughput)
			for where, couple := range map[string]Couple{
				"of one run":  CoupleOf(one.Contenders[0], one.Contenders[1]),
				"of two runs": CoupleOf(analyzed(a).Contenders[0], other.Contenders[0]),
			} {
				old, fresh, _, leftOut := couple.Samples(m)
				kept := [2]int{len(old), len(fresh)}
				testenv.Check(t, kept == test.kept && leftOut == (kept != [2]int{test.rounds, test.rounds}) && couple.Outside(m) == test.out,
					"%s: kept %v, out %q, left out %v", where, kept, couple.Outside(m), leftOut)
				old, _, _, _ = couple.Samples(measure.Get(measure.StartUp))
				testenv.Check(t, len(old) == test.rounds, "%s: %d start-ups", where, len(old))
			}
			s := one.Standing(measure.Throughput, stats.Rule{})
			testenv.Check(t, test.out[0] != "" || len(s.Members) == 2, "%+v", s)
		})
	}
}
