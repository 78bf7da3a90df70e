package analysis

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// The trials are sorted by round, and the contenders are in the order in which they first ran.
func TestOf(t *testing.T) {
	trials := slices.Concat(rounds("b", 2, 1, clientBound), rounds("a", 2, 2))
	given := slices.Clone(trials)
	slices.Reverse(given)
	for name, analyze := range map[string]func(bench.Run, []bench.TrialResult) *Run{"Of": Of, "SoFar": SoFar} {
		run := analyze(bench.Run{Machine: bench.Machine{CPUs: 4}}, given)
		text := ""
		for _, trial := range run.Trials {
			text += fmt.Sprint(trial.Trial.Contender, trial.Trial.Round, " ")
		}
		for _, c := range run.Contenders {
			text += fmt.Sprintf("%s: %d trials, %s; ", c.Label, len(c.Results), c.Bounds[3].Bound)
		}
		want := "a1 b1 a2 b2 a: 2 trials, unclear; b: 2 trials, client; "
		testenv.Check(t, text == want, "%s: %s, want %s", name, text, want)
	}
	testenv.Check(t, reflect.DeepEqual(given[0], trials[3]), "the order of the caller's trials was changed")
}

func TestRun_Ordered(t *testing.T) {
	of := bench.Run{Profile: bench.Profile{Contenders: []bench.Selection{{Contender: "b", Variant: "fast"}, {Contender: "old"}, {Contender: "b"}}}}
	all := slices.Concat(rounds("x", 1, 1), rounds("b", 1, 1), rounds("b", 1, 1, variant("fast")), rounds("old", 1, 1),
		rounds("out", 1, 1, errorsInAll))
	var labels []string
	for _, c := range Of(of, all).Ordered() {
		labels = append(labels, c.Label)
	}
	want := []string{"b:fast", "old", "b", "x", "out"}
	testenv.Check(t, slices.Equal(labels, want), "%q, want %q", labels, want)
	of.Profile.Contenders = []bench.Selection{{Contender: "out"}, {Contender: "b"}}
	if got := Of(of, all).Ordered(); got[0].Label != "b" || got[4].Label != "out" {
		t.Errorf("an excluded contender is not last: %s … %s", got[0].Label, got[4].Label)
	}
}

func TestLimitsIntended(t *testing.T) {
	all := func(r bench.Run) []Contender {
		return Of(r, slices.Concat(rounds("a", 1, 1), rounds("a", 1, 1, variant("half")), rounds("a", 1, 1, variant("more")))).Contenders
	}
	unnamed, other := limited(), limited()
	unnamed.ID, other.ID = "", "s"
	one, none, two := all(limited()), all(unnamed), all(other)
	for _, c := range []struct {
		name string
		a, b Contender
		want [2]bool
	}{
		{"different limits", one[0], one[1], [2]bool{true, true}},
		{"equal limits", one[0], one[2], [2]bool{true, false}},
		{"runs without an ID", none[0], none[1], [2]bool{}},
		{"two runs", one[0], two[1], [2]bool{}},
		{"no run", Contender{}, one[1], [2]bool{}},
		{"no run on the other side", one[1], Contender{}, [2]bool{}},
	} {
		testenv.Equal(t, [2]bool{OneRun(c.a, c.b), LimitsIntended(c.a, c.b)}, c.want, c.name)
	}
	testenv.Equal(t, fmt.Sprint(one[1].Planned(), " ", one[2].Planned(), Contender{}.Planned()), "0.5 CPUs 1 CPU ")
}

func TestContender_At(t *testing.T) {
	c := analyzed(rounds("a", 6, 1, in(2, func(t *bench.TrialResult) { t.Steps[2].Load.Elapsed = 0 }),
		in(3, func(t *bench.TrialResult) { t.Steps[2].Load.Succeeded = 0 }), in(4, func(t *bench.TrialResult) { t.Steps[2].Aborted = "skipped" }),
		in(5, func(t *bench.TrialResult) { t.Steps[2].Step.Connections++ }), errorsAt(1),
		in(6, func(t *bench.TrialResult) { t.Steps = append(t.Steps, t.Steps[2]); t.Steps[4].Load.Succeeded = 1e6 }))).Contenders[0]
	for connections, want := range map[int][]float64{1: nil, 2: nil, 4: {5000, 100_000}, 8: {10_000, 10_110, 9920, 10_040, 9870, 10_070}} {
		got := c.At(measure.Get(measure.Throughput), closed(connections, 0).Step)
		testenv.Check(t, slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1 }),
			"%d connections: %v, want %v", connections, got, want)
	}
}

// Contenders are reduced to the rounds in which they were interleaved with each other, from six on.
func TestTogether(t *testing.T) {
	of := func(name string, n int, change ...func(*bench.TrialResult)) []bench.TrialResult {
		return rounds(name, n, 1, append(change, interleaved)...)
	}
	for _, c := range []struct {
		name       string
		contenders [][]bench.TrialResult
		want       string // rounds of each contender
		paired     []bool
	}{
		{"one contender", [][]bench.TrialResult{of("a", 6)}, "6", []bool{false}},
		{"six rounds", [][]bench.TrialResult{of("a", 6), of("b", 6)}, "6 6", []bool{true, true}},
		{"six rounds in common", [][]bench.TrialResult{of("a", 7), of("b", 6)}, "6 6", []bool{true, true}},
		{"an aborted round of seven", [][]bench.TrialResult{of("a", 7), of("b", 7, in(2, aborted))}, "6 6", []bool{true, true}},
		{"an aborted round of six", [][]bench.TrialResult{of("a", 6), of("b", 6, in(2, aborted))}, "6 6", []bool{false, false}},
		{"five in common of seven and seven", [][]bench.TrialResult{of("a", 7, in(1, aborted)), of("b", 7, in(2, aborted))}, "7 7", []bool{false, false}},
		{"a third has five rounds", [][]bench.TrialResult{of("a", 7), of("b", 5), of("c", 7, in(2, failed))}, "6 5 6",
			[]bool{true, false, true}},
		{"a third has five complete rounds", [][]bench.TrialResult{of("a", 7), of("b", 6, in(2, aborted)), of("c", 7)}, "7 6 7",
			[]bool{true, false, true}},
		{"a third is not interleaved", [][]bench.TrialResult{of("a", 7), rounds("b", 7, 1), of("c", 6)}, "6 7 6", []bool{true, false, true}},
	} {
		got := ""
		kept, paired := Together(analyzed(c.contenders...).Contenders)
		for i, k := range kept {
			if got += fmt.Sprint(len(k.Results)); i < len(kept)-1 {
				got += " "
			}
		}
		testenv.Check(t, got == c.want && slices.Equal(paired, c.paired),
			"%s: rounds %s, paired %v, want %s, %v", c.name, got, paired, c.want, c.paired)
	}
}

// The peak step stays that of all rounds, and the exclusion and the cost those of the contender.
func TestTogether_PeakOfAllRounds(t *testing.T) {
	odd := func(t *bench.TrialResult) { // at 4 connections a little more than at 8, in four of seven rounds
		if t.Steps = t.Steps[2:]; t.Trial.Round%2 == 1 {
			t.Steps[0].Load.Succeeded = t.Steps[1].Load.Succeeded * 6 / 5
		}
	}
	all := analyzed(rounds("a", 7, 1, interleaved, odd), rounds("b", 6, 1, interleaved)).Contenders
	all[0].Cost, all[0].Excluded = &stats.Cost{}, &bench.Exclusion{}
	kept, _ := Together(all)
	a := kept[0]
	if len(a.Results) != 6 || all[0].Peak != 0 || a.Peak != 0 || a.Cost != all[0].Cost || a.Excluded != all[0].Excluded || len(a.Bounds) != 2 {
		t.Errorf("%d rounds, peak %d of all, %d of those kept", len(a.Results), all[0].Peak, a.Peak)
	}
}
