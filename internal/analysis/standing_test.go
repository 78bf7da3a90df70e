package analysis

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// describe returns everything that a standing says, in a line for each place.
func describe(s Standing) string {
	leaders, behind := s.Leaders()
	var members []string
	for i := range s.Members {
		members = append(members, s.Member(i).Contender)
	}
	text := fmt.Sprintf("  paired %v, members %v, tiers %v, leaders %v, behind %v, alike %v",
		s.Paired, members, s.Tiers, leaders, behind, s.Alike())
	for _, p := range s.Places {
		text += fmt.Sprintf("\n  %s at %q: tier %d, %.4g of %d rounds; %q", p.Contender, p.Step.Name, p.Tier,
			p.Value.Median, len(p.Value.Values), p.Out)
	}
	for b := range s.Members {
		for a := range b {
			if c, ok := s.Pair(a, b); ok {
				text += fmt.Sprintf("\n  members %d and %d: %s, p %.2g", a, b, c.Verdict, c.Adjusted)
			}
		}
	}
	if open := s.Open(); len(open) > 0 {
		text += fmt.Sprintf("\n  %d open, first %+v", len(open), open[0])
	}
	return text
}

func TestRun_Standing(t *testing.T) {
	text := ""
	never := func(t *bench.TrialResult) { t.StartUp = nil }
	for _, c := range []struct {
		name string
		run  *Run
		of   measure.ID
		rule stats.Rule
	}{
		{"no contender", analyzed(), measure.Throughput, stats.Rule{}},
		{"alone", analyzed(rounds("a", 6, 1)), measure.Throughput, stats.Rule{}},
		{"six rounds, and five", analyzed(rounds("a", 6, 1), rounds("b", 6, 2), rounds("c", 5, 3)), measure.Throughput, stats.Rule{}},
		{"lower is better", analyzed(rounds("a", 6, 1), rounds("b", 6, 2), rounds("c", 6, 1.99)), measure.CPURequest, stats.Rule{}},
		{"at half peak", analyzed(rounds("a", 6, 1), rounds("b", 6, 2)), measure.P99Half, stats.Rule{}},
		{"of whole trials", analyzed(rounds("a", 6, 1), rounds("b", 6, 2), rounds("c", 1, 1, never)), measure.StartUp, stats.Rule{}},
		{"a value of zero", analyzed(rounds("a", 6, 1), rounds("b", 6, 2, in(3, func(t *bench.TrialResult) { *t.StartUp = 0 }))), measure.StartUp, stats.Rule{}},
		{"the same", analyzed(rounds("a", 6, 1), rounds("b", 6, 1)), measure.MemoryPeak, stats.Rule{}},
		{"below the noise floor", analyzed(rounds("a", 6, 1), rounds("b", 6, 1.1)), measure.Throughput, stats.Rule{Floor: .2}},
		{"another margin", analyzed(rounds("a", 6, 1), rounds("b", 6, 1.01)), measure.Throughput, stats.Rule{Margin: .1}},
		{"left out", analyzed(rounds("a", 6, 1), rounds("b", 6, 1, in(1, failed)), rounds("c", 6, 1, clientBound), rounds("d", 6, 1, driftAt(3)),
			rounds("e", 6, 1, errorsInAll), rounds("f", 6, 1.2)), measure.Throughput, stats.Rule{}},
		{"interleaved", analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, 1.02, interleaved)), measure.Throughput, stats.Rule{}},
		{"2.9% apart", analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, 1.029, interleaved)), measure.Throughput, stats.Rule{}},
		{"3.1% apart", analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, 1.031, interleaved)), measure.Throughput, stats.Rule{}},
		{"2.9% apart, lower is better", analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, 1.029, interleaved)), measure.StartUp, stats.Rule{}},
		{"one is not interleaved", analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, 1.02, interleaved), rounds("c", 8, 1.3)), measure.Throughput, stats.Rule{}},
		{"interleaved, one has too few rounds", analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, 1.1, interleaved), rounds("c", 5, 1.3, interleaved)), measure.Throughput, stats.Rule{}},
		{"interleaved, one is left out", analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, 1.1, interleaved, clientBound)),
			measure.Throughput, stats.Rule{}},
		{"a measure is missing", analyzed(rounds("a", 6, 1, never), rounds("b", 6, 1.1), rounds("c", 6, 1.2, never)), measure.Throughput, stats.Rule{}},
		{"eight at six rounds", analyzed(rounds("a", 6, 1), rounds("b", 6, 2), rounds("c", 6, 3), rounds("d", 6, 4), rounds("e", 6, 5), rounds("f", 6, 6), rounds("g", 6, 7), rounds("h", 6, 8)), measure.Throughput, stats.Rule{}},
	} {
		text += c.name + "\n" + describe(c.run.Standing(c.of, c.rule)) + "\n\n"
	}
	testenv.Golden(t, "testdata/standings.txt", text)
}

// timed returns a run of contenders whose trials take a time each, one after the other.
func timed(each time.Duration, plain *bench.Plain, contenders ...[]bench.TrialResult) *Run {
	of := limited()
	of.Plain, of.Profile.Settings = plain, nil
	trials := analyzed(contenders...).Trials
	for i := range trials {
		trials[i].Started = time.Unix(0, 0).Add(time.Duration(i) * each)
		trials[i].Ended = trials[i].Started.Add(each)
		of.Trials = append(of.Trials, bench.TrialEntry{Trial: trials[i].Trial, State: trials[i].State})
	}
	return Of(of, trials)
}

func TestSettleOpen(t *testing.T) {
	why := func(reason bench.PlainReason) *Run {
		return timed(time.Minute, &bench.Plain{Reason: reason}, rounds("a", 1, 1), rounds("b", 1, 1))
	}
	each := func(d time.Duration) *Run { return timed(d, nil, rounds("a", 1, 1)) }
	quotas := limited()
	quotas.Plain = &bench.Plain{Reason: bench.PlainChosen}
	differ := Of(quotas, append(rounds("a", 1, 1), rounds("a", 1, 1, variant("half"))...))
	restored := each(10 * time.Minute)
	restored.Run.Profile.Needs = []bench.NeedSpec{{Name: "db", Restarts: true}}
	const instead = "No verdict within 30 min: peak throughput is less than 7% apart (95% CI). Longer steps settle more per round"
	open := func(rounds int, more ...int) (all []Open) {
		for _, n := range more {
			all = append(all, Open{Measure: measure.Throughput, Rounds: rounds, More: n, Most: 1.07})
		}
		return all
	}
	const soonest, again = "Soonest settled: peak throughput, by ", "Interleaving settles it soonest: run again with "
	for _, c := range []struct {
		name   string
		open   []Open
		run    *Run
		paired bool
		want   string
	}{
		{"nothing", nil, each(0), false, ""},
		{"below the noise floor", open(8, 0, 0), each(0), false, "More rounds do not help: the changes are below the noise floor."},
		{"two kinds", append(open(8, 4), OpenOf(measure.Throughput, []float64{1, 1, 1, 1, 2, 2, 2, 2}, make([]float64, 8), 9, nil)), each(0), false,
			"More rounds do not help: the rounds of one contender are of two kinds. Look for what differs between two of its starts."},
		{"two kinds of another measure", append(open(8, 4), OpenOf(measure.MemoryPeak, []float64{1, 1, 1, 1, 2, 2, 2, 2}, make([]float64, 8), 9, nil)), each(0),
			false, soonest + "4 more rounds: run again with --rounds 12."},
		{"the least", open(8, 0, 9, 4, 5, 0), each(time.Minute), false, soonest + "4 more rounds: run again with --rounds 12, about 12 min."},
		{"the first of equals", append(open(8, 4), Open{Measure: measure.P99Half, Rounds: 8, More: 4, Most: 1.07}), each(0), false, soonest + "4 more rounds: run again with --rounds 12."},
		{"1 more", open(8, 1), each(0), false, soonest + "1 more round: run again with --rounds 9."},
		{"one less than too many", open(8, stats.MaxRounds-1), each(0), false, soonest + "999 more rounds: run again with --rounds 1007."},
		{"too many", open(8, stats.MaxRounds), each(0), false, instead + "."},
		{"half an hour", open(8, 22), each(time.Minute), false, soonest + "22 more rounds: run again with --rounds 30, about 30 min."},
		{"longer", open(8, 23), each(time.Minute), false, instead + "."},
		{"longer, with restores", open(8, 4), restored, false, instead + "; so does `keep: true` of the needs, which are then not restored before each trial."},
		{"longer, also interleaved", open(6, 3), timed(4*time.Minute, &bench.Plain{Reason: bench.PlainRounds}, rounds("a", 1, 1)), false, instead + "."},
		{"two runs", open(8, 4), nil, false, soonest + "4 more rounds per side; sooner in one run, interleaved."},
		{"a minute", open(6, 2), each(7500 * time.Millisecond), false, soonest + "2 more rounds: run again with --rounds 8, about 1 min."},
		{"less than that", open(6, 2), each(7499 * time.Millisecond), false, soonest + "2 more rounds: run again with --rounds 8, less than 1 min."},
		{"as soon in plain", open(6, 2), why(bench.PlainChosen), false, soonest + "2 more rounds: run again with --rounds 8, about 16 min."},
		{"by choice", open(6, 3), why(bench.PlainChosen), false, again + "--interleave auto --rounds 8, about 16 min."},
		{"by choice, but interleaved", open(6, 3), why(bench.PlainChosen), true, soonest + "3 more rounds: run again with --rounds 9, about 18 min."},
		{"too many in plain", open(6, stats.MaxRounds), why(bench.PlainChosen), false, again + "--interleave auto --rounds 8, about 16 min."},
		{"too few rounds", open(6, 3), why(bench.PlainRounds), false, again + "--rounds 8, about 16 min."},
		{"too little memory", open(6, 3), why(bench.PlainMemory), false, soonest + "3 more rounds: run again with --rounds 9, about 18 min."},
		{"two quotas", open(6, 3), differ, false, again + "--interleave auto --rounds 8."},
	} {
		got := SettleOpen(c.open, c.run, c.paired, c.run != nil)
		testenv.Check(t, got.Text == c.want, "%s: %q, want %q", c.name, got.Text, c.want)
	}
}

// What is open in a run, with the rule of each measure, settles it.
func TestSettleOpen_Run(t *testing.T) {
	floor := func(measure.ID) stats.Rule { return stats.Rule{Floor: .2} }
	slow := in(1, func(t *bench.TrialResult) { t.Steps[3].Load.Succeeded /= 2 })
	chosen := &bench.Plain{Reason: bench.PlainChosen}
	for _, c := range []struct {
		name string
		run  *Run
		rule func(measure.ID) stats.Rule
		want string
	}{
		{"certain", timed(0, nil, rounds("a", 6, 1), rounds("b", 6, 2)), nil, ""},
		{"not certain", timed(30*time.Second, nil, rounds("a", 6, 1), rounds("b", 6, 1.1, slow)), nil,
			"Soonest settled: peak throughput, by 12 more rounds: run again with --rounds 18, about 18 min."},
		{"below the noise floor", timed(0, nil, rounds("a", 6, 1), rounds("b", 6, 1.1)), floor,
			"More rounds do not help: the changes are below the noise floor."},
		{"not interleaved", timed(0, chosen, rounds("a", 6, 1), rounds("b", 6, 1.1, slow)), nil,
			"Interleaving settles it soonest: run again with --interleave auto --rounds 8."},
		{"interleaved", timed(0, chosen, rounds("a", 6, 1, interleaved), rounds("b", 6, 1.1, slow, interleaved)), nil,
			"Soonest settled: p99, by 2 more rounds: run again with --rounds 8."},
	} {
		if c.rule == nil {
			c.rule = func(measure.ID) stats.Rule { return stats.Rule{} }
		}
		var open []Open
		paired := false
		for _, m := range measure.Tested() {
			s := c.run.Standing(m.ID, c.rule(m.ID))
			open, paired = append(open, s.Open()...), paired || s.Paired
		}
		got := SettleOpen(open, c.run, paired, true)
		testenv.Check(t, got.Text == c.want, "%s: %q, want %q", c.name, got.Text, c.want)
	}
}

// froze makes the first responses of a step of rounds take this many seconds, and usual ones 20 ms.
func froze(step int, seconds float64) func(*bench.TrialResult) {
	return func(t *bench.TrialResult) {
		t.Steps[step].Load.FirstResponse = time.Duration(seconds * 1e9)
		t.Steps[step].Load.Latency.P50 = 20 * time.Millisecond
	}
}

// said returns the sentences about frozen contenders.
func said(r *Run) string {
	var all []string
	for _, f := range Freezes(r.Contenders, nil) {
		all = append(all, f.Text)
	}
	return strings.Join(all, " ")
}

func TestFreezes(t *testing.T) {
	usual := froze(3, .03)
	timedOut := func(t *bench.TrialResult) {
		t.Steps[3].Load.Timeouts = bench.Latencies{Count: 64, Min: 10 * time.Second}
	}
	open := func(t *bench.TrialResult) { t.Steps[3].Step.Rate = 10 }
	skipped := func(t *bench.TrialResult) { t.Steps[3].Aborted = bench.AbortedSkipped }
	slow := func(t *bench.TrialResult) { t.Steps[3].Load.Latency.P50 = 2 * time.Second }
	for name, c := range map[string]struct {
		run  *Run
		want string
	}{
		"none": {analyzed(rounds("a", 6, 1, usual), rounds("b", 6, 1, usual)), ""},
		"one of two": {analyzed(rounds("a", 6, 1, usual), rounds("b", 6, 1, froze(3, 8))),
			"The first responses of b at 8 connections took 8.00 s (a: 30.0 ms)."},
		"both, one much longer": {analyzed(rounds("a", 6, 1, froze(3, 1.9)), rounds("b", 6, 1, froze(3, 8))),
			"The first responses of b at 8 connections took 8.00 s (a: 1.90 s)."},
		"half as long": {analyzed(rounds("a", 6, 1, froze(3, 4)), rounds("b", 6, 1, froze(3, 8))),
			"The first responses of b at 8 connections took 8.00 s (a: 4.00 s)."},
		"both, about as long": {analyzed(rounds("a", 6, 1, froze(3, 4.01)), rounds("b", 6, 1, froze(3, 8))),
			"The first responses of b and a at 8 connections took 8.00 s and 4.01 s."},
		"at two loads": {analyzed(rounds("a", 6, 1, froze(2, 3)), rounds("b", 6, 1, froze(3, 8))),
			"The first responses of b at 8 connections took 8.00 s. The first responses of a at 4 connections took 3.00 s."},
		"the longest of two loads": {analyzed(rounds("a", 6, 1, froze(2, 3), froze(3, 8))),
			"The first responses of a at 8 connections took 8.00 s."},
		"the warm-up is longer": {analyzed(rounds("a", 6, 1, usual), rounds("b", 6, 1, froze(0, 5), froze(3, 3))),
			"The first responses of b at 8 connections (warm-up) took 5.00 s (a: 30.0 ms)."},
		"most rounds": {analyzed(rounds("a", 5, 1, usual, in(1, froze(3, 8)), in(3, froze(3, 8)), in(4, froze(3, 8)))),
			"The first responses of a at 8 connections took 8.00 s."},
		"half of the rounds": {analyzed(rounds("a", 4, 1, usual, in(1, froze(3, 8)), in(3, froze(3, 8)))), ""},
		"timed out":          {analyzed(rounds("a", 1, 1, froze(3, 10), timedOut)), "The first responses of a at 8 connections took at least 10.0 s."},
		"a slow service":     {analyzed(rounds("a", 1, 1, froze(3, 8), slow)), ""},
		"an open loop":       {analyzed(rounds("a", 1, 1, froze(3, 8), open)), ""},
		"a skipped step":     {analyzed(rounds("a", 1, 1, froze(3, 8), skipped)), ""},
		"a failed round": {analyzed(rounds("a", 1, 1, froze(3, 8), failed)),
			"The first responses of a at 8 connections took 8.00 s."},
		"five others": {analyzed(rounds("a", 1, 1, usual), rounds("b", 1, 1, usual), rounds("c", 1, 1, usual), rounds("d", 1, 1, usual),
			rounds("e", 1, 1, usual), rounds("f", 1, 1, froze(3, 8))),
			"The first responses of f at 8 connections took 8.00 s (a: 30.0 ms, b: 30.0 ms, c: 30.0 ms, 2 more)."},
		"four others": {analyzed(rounds("a", 1, 1, usual), rounds("b", 1, 1, usual), rounds("c", 1, 1, usual), rounds("d", 1, 1, usual),
			rounds("e", 1, 1, froze(3, 8))),
			"The first responses of e at 8 connections took 8.00 s (a: 30.0 ms, b: 30.0 ms, c: 30.0 ms, d: 30.0 ms)."},
	} {
		testenv.Equal(t, said(c.run), c.want, name)
	}
}

// A freeze changes no p value, tier or sample of another measure.
func TestFreezes_OtherMeasures(t *testing.T) {
	without := analyzed(rounds("a", 8, 1, interleaved), rounds("b", 8, .9, interleaved))
	with := analyzed(rounds("a", 8, 1, froze(3, .03), interleaved), rounds("b", 8, .9, froze(3, 8), interleaved))
	for _, m := range measure.Tested() {
		got, _ := with.family().otherMeasures(m.ID, 0, 1)
		want, _ := without.family().otherMeasures(m.ID, 0, 1)
		testenv.Equal(t, got, want, string(m.ID))
	}
	old, fresh, at := Samples(measure.Get(measure.First), with.Contenders[0], with.Contenders[0], with.Contenders[1])
	testenv.Check(t, len(old) == 8 && len(fresh) == 8 && old[0] == 3e7 && fresh[7] == 8e9 && at == "8 connections", "%v, %v at %s", old, fresh, at)
	old, fresh, at = Samples(measure.Get(measure.First), with.Contenders[1], with.Contenders[1], with.Contenders[0])
	testenv.Check(t, old[0] == 8e9 && fresh[0] == 3e7 && at == "8 connections", "%v, %v at %s", old, fresh, at)
}
