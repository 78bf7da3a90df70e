package analysis

import (
	"fmt"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// mix gives each step two kinds of requests, the second one with errors and, by slow, with a latency.
func mix(slow func(round int) bench.Latencies) func(*bench.TrialResult) {
	return func(t *bench.TrialResult) {
		for i := range t.Steps {
			n := t.Steps[i].Load.Succeeded / 4
			t.Steps[i].Load.Requests = []bench.RequestLoad{
				{Name: "list", Outcomes: bench.Outcomes{Succeeded: 3 * n}, Latency: benchtest.Latencies(100, time.Millisecond)},
				{Name: "one", Outcomes: bench.Outcomes{Succeeded: n, Failed: map[bench.ErrorKind]int64{bench.ErrReset: 2}}, Latency: slow(t.Trial.Round)},
			}
		}
	}
}

func slower(round int) bench.Latencies {
	return benchtest.Latencies(int64(100*round), time.Duration(round)*10*time.Millisecond)
}

// Outcomes of a kind are those of all rounds, its quantiles those of the latencies of all rounds together.
func TestContender_Requests(t *testing.T) {
	say := func(all []bench.RequestLoad) (text string) {
		for _, r := range all {
			text += fmt.Sprintf("%s: %d, %d errors, %d latencies, p50 %v; ", r.Name, r.Succeeded, r.Failed[bench.ErrReset], r.Latency.Count,
				r.Latency.P50.Round(time.Millisecond))
		}
		return text
	}
	run := analyzed(rounds("a", 2, 1, mix(slower)))
	step, _ := run.Contenders[0].MixStep()
	want := "list: 150822, 0 errors, 200 latencies, p50 1ms; one: 50274, 4 errors, 300 latencies, p50 20ms; "
	testenv.Equal(t, say(run.Contenders[0].Requests(step)), want, "requests")
	testenv.Equal(t, say(run.Contenders[0].Requests(step)), want, "again")
	testenv.Equal(t, say(Contender{}.Requests(step)), want, "of no run")
	broken := analyzed(rounds("a", 2, 1, mix(func(int) bench.Latencies { return bench.Latencies{Count: 1, P50: 1, HDR: "?"} })))
	step, _ = broken.Contenders[0].MixStep()
	testenv.Equal(t, say(broken.Contenders[0].Requests(step)),
		"list: 150822, 0 errors, 200 latencies, p50 1ms; one: 50274, 4 errors, 0 latencies, p50 0s; ", "of latencies that cannot be read")
}

// Kinds of requests are compared over all rounds, and round by round where rounds are pairs.
func TestCouple_Kinds(t *testing.T) {
	only := func(name string) func(*bench.TrialResult) {
		return func(t *bench.TrialResult) {
			for i := range t.Steps {
				for k := range t.Steps[i].Load.Requests {
					if r := &t.Steps[i].Load.Requests[k]; r.Name == "one" {
						r.Name = name
					}
				}
			}
		}
	}
	run := analyzed(rounds("a", 3, 1, mix(slower)), rounds("b", 3, 2, mix(slower), only("other")))
	kinds, at := CoupleOf(run.Contenders[0], run.Contenders[1]).Kinds()
	text := at.Name + ": "
	for _, k := range kinds {
		text += fmt.Sprintf("%s %q %q, rounds %d and %d; ", k.Name, k.Sides[0].Name, k.Sides[1].Name, len(k.Rounds[0]), len(k.Rounds[1]))
	}
	testenv.Equal(t, text, `4 connections: list "list" "list", rounds 3 and 3; one "one" "", rounds 3 and 0; other "" "other", rounds 0 and 3; `, "kinds")
	third := kinds[1].Rounds[0][2].Latency
	testenv.Check(t, third.Count == 300 && third.P50.Round(time.Millisecond) == 30*time.Millisecond, "third round: %+v", third)
	none := analyzed(rounds("a", 3, 1, mix(slower)), rounds("b", 3, 2, func(t *bench.TrialResult) { t.Steps = t.Steps[:1] }))
	kinds, _ = CoupleOf(none.Contenders[0], none.Contenders[1]).Kinds()
	testenv.Check(t, kinds == nil, "a side without the step: %+v", kinds)
}

// Leaders are those that none is better than; alone is who differs from each of the others.
func TestStanding_Leaders(t *testing.T) {
	for name, c := range map[string]struct {
		run  *Run
		want string
	}{
		"one leads":           {analyzed(rounds("a", 6, 1), rounds("b", 6, 2), rounds("c", 6, 1.5)), "[0] [1 2] true true false"},
		"two lead":            {analyzed(rounds("a", 6, 1), rounds("b", 6, 2), rounds("c", 6, 2)), "[0 1] [2] false true false"},
		"of two contenders":   {analyzed(rounds("a", 6, 1), rounds("b", 6, 2)), "[0] [1] true true false"},
		"one, without others": {analyzed(rounds("b", 6, 1)), "[] [] false false false"},
	} {
		s := c.run.Standing(measure.Throughput, stats.Rule{})
		var leaders, behind []int
		if len(s.Members) > 1 {
			leaders, behind = s.Leaders()
		}
		testenv.Equal(t, fmt.Sprint(leaders, behind, s.Alone("b"), s.Alone("a"), s.Alone("x")), c.want, name)
	}
}

// A sentence for each reason why nothing succeeded; of one reason, the step that all of them need. Excluded
// contenders are said elsewhere.
func TestSilences(t *testing.T) {
	later := load(func(l *bench.Load) { l.Lead, l.Drain, l.FirstResponse = 1, 1, 4*time.Second })
	unsent := load(func(l *bench.Load) { l.Sent, l.Dropped = 0, 9 })
	failed := load(func(l *bench.Load) { l.Failed = map[bench.ErrorKind]int64{bench.ErrReset: 9} })
	run := analyzed(rounds("a", 1, 1, late, one), rounds("b", 1, 1), rounds("c", 1, 1, later, one), rounds("d", 1, 1, unsent, one),
		rounds("e", 1, 1, failed))
	said, of := Silences(run.Contenders, func(i int) string { return run.Contenders[i].Label })
	testenv.Equal(t, said, "a and c: no request ended within the step: give steps of at least 15s. d: no request was sent in the step.", "said")
	testenv.Equal(t, fmt.Sprint(of), "[0 2 3]", "of")
}
