package analysis

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

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
