package analysis

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

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
	got := Of(of, all).Ordered()
	testenv.Check(t, got[0].Label == "b" && got[4].Label == "out", "an excluded contender is not last: %s … %s", got[0].Label, got[4].Label)
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
	testenv.Check(t, len(a.Results) == 6 && all[0].Peak == 0 && a.Peak == 0 && a.Cost == all[0].Cost && a.Excluded == all[0].Excluded && len(a.Bounds) == 2,
		"%d rounds, peak %d of all, %d of those kept", len(a.Results), all[0].Peak, a.Peak)
}

// The rate for all is two thirds of the lowest peak, rounded down to one digit.
func TestEqualLoad(t *testing.T) {
	at := func(rate, throughput float64) func(*bench.TrialResult) {
		return func(t *bench.TrialResult) {
			share(rate)(t)
			t.Steps[len(t.Steps)-1].Load.Succeeded = int64(throughput * 10)
		}
	}
	ramp := func(t *bench.TrialResult) { share(4000)(t); t.Steps[len(t.Steps)-1].Step.RampTo = 5000 }
	open := func(t *bench.TrialResult) { share(1000)(t); t.Steps = t.Steps[4:] }
	for _, c := range []struct {
		name string
		all  [][]bench.TrialResult
		want float64
	}{
		{"none", nil, 0},
		{"alone", [][]bench.TrialResult{rounds("a", 1, 1)}, 0},
		{"two", [][]bench.TrialResult{rounds("a", 1, 1), rounds("b", 1, 2)}, 6000},
		{"the lowest is last", [][]bench.TrialResult{rounds("a", 1, 1), rounds("b", 1, .1), rounds("c", 1, .5)}, 600},
		{"an excluded one does not count", [][]bench.TrialResult{rounds("a", 1, 1), rounds("b", 1, .1, errorsInAll), rounds("c", 1, .5)}, 3000},
		{"open loops do not count", [][]bench.TrialResult{rounds("a", 1, 1), rounds("b", 1, .5, open)}, 0},
		{"a rate that both sustain", [][]bench.TrialResult{rounds("a", 1, 1, share(4000)), rounds("b", 1, 2, share(4000))}, 4000},
		{"the highest of two", [][]bench.TrialResult{rounds("a", 1, 1, share(4000), share(5000)), rounds("b", 1, 2, share(5000), share(4000))}, 5000},
		{"rates 5.1% apart", [][]bench.TrialResult{rounds("a", 1, 1, share(4000)), rounds("b", 1, 2, share(4204))}, 6000},
		{"one has none", [][]bench.TrialResult{rounds("a", 1, 1, share(4000)), rounds("b", 1, 2)}, 6000},
		{"an excluded one has none", [][]bench.TrialResult{rounds("a", 1, 1, share(4000)), rounds("b", 1, 2, share(4000)), rounds("c", 1, 1, errorsInAll)}, 4000},
		{"95% of the rate", [][]bench.TrialResult{rounds("a", 1, 1, at(4000, 3800)), rounds("b", 1, 2, at(4000, 4000))}, 4000},
		{"less than 95% of the rate", [][]bench.TrialResult{rounds("a", 1, 1, at(4000, 3799)), rounds("b", 1, 2, at(4000, 4000))}, 6000},
		{"a ramp", [][]bench.TrialResult{rounds("a", 1, 1, ramp), rounds("b", 1, 2, ramp)}, 6000},
		{"exactly 2", [][]bench.TrialResult{rounds("a", 1, 1), rounds("b", 1, .0002)}, 1},
		{"below 2", [][]bench.TrialResult{rounds("a", 1, 1), rounds("b", 1, .00019)}, 0},
	} {
		got := EqualLoad(analyzed(c.all...).Contenders)
		testenv.Check(t, got == c.want, "%s: %v, want %v", c.name, got, c.want)
	}
}

// The latency at a rate is interpolated between the two closed-loop steps around it.
func TestContender_P99At(t *testing.T) {
	at := func(step int, change func(*bench.StepResult)) func(*bench.TrialResult) {
		return func(t *bench.TrialResult) { change(&t.Steps[step]) }
	}
	slow := func(d time.Duration) func(*bench.StepResult) {
		return func(s *bench.StepResult) { s.Load.Latency.P99 = d }
	}
	known := []func(*bench.TrialResult){at(1, slow(time.Millisecond)), at(2, slow(2*time.Millisecond)), at(3, slow(8*time.Millisecond))}
	for _, c := range []struct {
		name   string
		rate   float64
		change func(*bench.TrialResult)
		want   string
	}{
		{"at a step", 5000, nil, "2ms"},
		{"between two steps", 7500, nil, "4ms"},
		{"at peak", 10_000, nil, "8ms"},
		{"above the peak", 10_001, nil, "none"},
		{"below the first step", 500, nil, "≤ 1ms"},
		{"below the first step, which is slow", 500, at(1, slow(3*time.Millisecond)), "≤ 2ms"},
		{"no rate", 0, nil, "none"},
		{"without the step below", 7500, at(2, func(s *bench.StepResult) { s.Load.Failed = map[bench.ErrorKind]int64{bench.ErrTimeout: 1e6} }), "4.177ms"},
		{"no valid step", 5000, errorsInAll, "none"},
		{"a step with this rate", 7500, share(7500), "= 2ms"},
		{"a step with another rate", 7500, share(7100), "4ms"},
	} {
		changes := slices.Clone(known)
		if c.change != nil {
			changes = append(changes, c.change)
		}
		got, ok := analyzed(rounds("a", 1, 1, changes...)).Contenders[0].P99At(c.rate)
		text := fmt.Sprint(got.Value.Round(time.Microsecond))
		switch {
		case !ok:
			text = "none"
		case got.Measured:
			text = "= " + text
		case got.AtMost:
			text = "≤ " + text
		}
		testenv.Check(t, text == c.want, "%s: %s, want %s", c.name, text, c.want)
	}
}

// loaded returns the contender of a run whose only trial has these loads, one for each step.
func loaded(p bench.Profile, loads ...bench.Load) Contender {
	trial := bench.TrialResult{Trial: bench.Trial{Contender: "a"}, State: bench.TrialComplete}
	for i, l := range loads {
		trial.Steps = append(trial.Steps, bench.StepResult{Index: i, Load: l})
	}
	return Of(bench.Run{Profile: p}, []bench.TrialResult{trial}).Contenders[0]
}

func TestContender_Failures(t *testing.T) {
	type errors = map[bench.ErrorKind]int64
	one := bench.Profile{Requests: []bench.Request{{Name: "prepare", SetUp: true}, {Name: "get"}}}
	two := bench.Profile{Requests: []bench.Request{{Name: "get"}, {Name: "buy", Session: "shop"}}}
	first := map[bench.ErrorKind]string{bench.ErrTimeout: "after 1 s", bench.ErrReset: "broken pipe"}
	for _, c := range []struct {
		name  string
		p     bench.Profile
		loads []bench.Load
		want  []Failure
	}{
		{"none", one, []bench.Load{{Outcomes: bench.Outcomes{Succeeded: 10, Failed: errors{bench.ErrTimeout: 0}}}}, nil},
		{"of the only request, over all steps", one, []bench.Load{
			{Outcomes: bench.Outcomes{Succeeded: 5, Failed: errors{bench.ErrTimeout: 1}}},
			{Outcomes: bench.Outcomes{Succeeded: 3, Rejected: bench.Statuses{429: 4}, Failed: errors{bench.ErrTimeout: 2, bench.ErrReset: 2}, Examples: first}, Counts: bench.Counts{Lead: 2, Drain: 1}},
		}, []Failure{
			{Request: "get", Kind: bench.ErrTimeout, Count: 3, Share: .15, First: "after 1 s"},
			{Request: "get", Kind: bench.ErrReset, Count: 2, Share: .1, First: "broken pipe"},
		}},
		{"of several requests", two, []bench.Load{{Outcomes: bench.Outcomes{Failed: errors{bench.ErrTimeout: 9}}, Requests: []bench.RequestLoad{
			{Name: "get", Outcomes: bench.Outcomes{Succeeded: 4, Failed: errors{bench.ErrTimeout: 1}, Examples: first}},
			{Name: "buy", Outcomes: bench.Outcomes{Succeeded: 6, Rejected: bench.Statuses{409: 3}, Failed: errors{bench.ErrTimeout: 1}, Examples: map[bench.ErrorKind]string{bench.ErrTimeout: "its own"}}},
		}}}, []Failure{
			{Request: "get", Kind: bench.ErrTimeout, Count: 1, Share: .2, First: "after 1 s"},
			{Request: "buy", Session: "shop", Kind: bench.ErrTimeout, Count: 1, Share: .1, First: "its own"},
		}},
		{"of the mix", two, []bench.Load{{Outcomes: bench.Outcomes{Succeeded: 1, Failed: errors{bench.ErrTimeout: 1}}}}, []Failure{{Kind: bench.ErrTimeout, Count: 1, Share: .5}}},
		{"of compared bodies", one, []bench.Load{{Outcomes: bench.Outcomes{Succeeded: 90, Checked: 15, Failed: errors{bench.ErrWrong: 10}}}, {Outcomes: bench.Outcomes{Checked: 5}}},
			[]Failure{{Request: "get", Kind: bench.ErrWrong, Count: 10, Share: .5, Compared: 20}}},
		{"each compared body", one, []bench.Load{{Outcomes: bench.Outcomes{Succeeded: 10, Checked: 10, Failed: errors{bench.ErrWrong: 10}}}},
			[]Failure{{Request: "get", Kind: bench.ErrWrong, Count: 10, Share: 1, Compared: 10}}},
		{"of bodies not known to be compared", one, []bench.Load{{Outcomes: bench.Outcomes{Succeeded: 10, Checked: 9, Failed: errors{bench.ErrWrong: 10}}}},
			[]Failure{{Request: "get", Kind: bench.ErrWrong, Count: 10, Share: .5}}},
		{"other errors next to compared bodies", one, []bench.Load{{Outcomes: bench.Outcomes{Succeeded: 10, Checked: 20, Failed: errors{bench.ErrReset: 10}}}},
			[]Failure{{Request: "get", Kind: bench.ErrReset, Count: 10, Share: .5}}},
	} {
		testenv.Equal(t, loaded(c.p, c.loads...).Failures(), c.want, c.name)
	}
	lost := bench.TrialResult{Trial: bench.Trial{Contender: "a"}, State: bench.TrialFailed, Steps: []bench.StepResult{
		{Ending: bench.EndedByNeed, Load: bench.Load{Outcomes: bench.Outcomes{Succeeded: 1, Failed: errors{bench.ErrReset: 9}}}},
	}}
	got := Of(bench.Run{Profile: one}, []bench.TrialResult{lost}).Contenders[0].Failures()
	testenv.Check(t, len(got) == 0, "errors after the end of a need: %+v", got)
	step := bench.Step{Request: "buy"}
	testenv.Equal(t, loaded(one).sole(step)+loaded(two).sole(step), "buybuy")
}

func TestContender_Sessions(t *testing.T) {
	type failed = map[string]int64
	got := loaded(bench.Profile{},
		bench.Load{Sessions: []bench.SessionLoad{{Name: "shop", Begun: 9, Completed: 5, Rejected: 1, Failed: failed{"buy": 2}}}},
		bench.Load{Sessions: []bench.SessionLoad{{Name: "read", Begun: 1}, {Name: "shop", Begun: 4, Completed: 1, Rejected: 1, Failed: failed{"buy": 1, "pay": 1}}}},
	).Sessions()
	want := []bench.SessionLoad{
		{Name: "shop", Begun: 13, Completed: 6, Rejected: 2, Failed: failed{"buy": 3, "pay": 1}},
		{Name: "read", Begun: 1, Failed: failed{}},
	}
	testenv.Check(t, reflect.DeepEqual(got, want), "%+v, want\n%+v", got, want)
}
