package compare

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
)

// timed returns a run of two contenders, the second with cpu times the CPU time. A round takes one
// minute, or each of two minutes interleaved.
func timed(interleaved bool, plain *bench.Plain, cpu float64) raw {
	all := flat(rand.New(rand.NewPCG(3, 4)), 8, interleaved, 1, cpu)
	r := inRun(all)
	r.Run.Plain = plain
	if interleaved {
		r.Run.Profile.Interleave = 100 * time.Millisecond
	}
	for i := range all {
		all[i].Started = time.Date(2026, 11, 27, 8, i, 0, 0, time.UTC)
		if interleaved {
			all[i].Started = time.Date(2026, 11, 27, 8, all[i].Trial.Round, 0, 0, time.UTC)
		}
		all[i].Ended = all[i].Started.Add(time.Minute)
		r.Run.Trials = append(r.Run.Trials, bench.TrialEntry{Trial: all[i].Trial, State: bench.TrialComplete})
		r.Run.Profile.Contenders = []bench.Selection{{Contender: "a"}, {Contender: "b"}}
	}
	return r
}

func settledPair(r raw) string {
	set := r.set()
	return Pair(set.Run.Contenders[0], set.Run.Contenders[1], nil, Options{}).Settle
}

// An inconclusive comparison says what settles it soonest and how long that takes: interleaving
// only where the run could have been interleaved.
func TestWhatSettlesIt(t *testing.T) {
	why := func(reason bench.PlainReason) *bench.Plain { return &bench.Plain{Reason: reason} }
	const soonest = "Interleaving settles it soonest: run again with "
	for name, c := range map[string]struct {
		interleaved bool
		plain       *bench.Plain
		want        string
	}{
		"too few rounds":    {false, why(bench.PlainRounds), soonest + "--rounds 8, about 16 min."},
		"by choice":         {false, why(bench.PlainChosen), soonest + "--interleave 100ms --rounds 8, about 16 min."},
		"too little memory": {false, why(bench.PlainMemory), "Soonest settled: "},
		"steps":             {false, why(bench.PlainSteps), "Soonest settled: "},
		"first requests":    {false, why(bench.PlainFirstRequests), "Soonest settled: "},
		"many contenders":   {false, why(bench.PlainContenders), "Soonest settled: "},
		"not known":         {false, nil, "Soonest settled: "},
		"interleaved":       {true, nil, "Soonest settled: "},
	} {
		got := settledPair(timed(c.interleaved, c.plain, 1.04))
		if !strings.HasPrefix(got, c.want) || strings.HasPrefix(c.want, "Soonest") && !strings.Contains(got, " more round") || !strings.Contains(got, ", about ") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The run and the comparison of its two contenders say the same.
func TestRunAndPairSettleAlike(t *testing.T) {
	for _, interleaved := range []bool{false, true} {
		r := timed(interleaved, &bench.Plain{Reason: bench.PlainMemory}, 1.04)
		pair := settledPair(r)
		if run := r.set().Run.Settle(func(measure.ID) stats.Rule { return stats.Rule{} }); run == "" || run != pair {
			t.Errorf("interleaved %v: the run says %q, the pair %q", interleaved, run, pair)
		}
	}
}

// A margin that is not that of the other outputs is on record.
func TestOtherMarginIsOnRecord(t *testing.T) {
	r := timed(true, nil, 1)
	side := func(c string) raw { return raw{Run: r.Run, Trials: r.Trials, Contender: c} }
	for margin, want := range map[float64]float64{0: 0, stats.DefaultMargin: 0, .01: .01} {
		result := compared(t, side("a"), side("b"), Options{Rule: stats.Rule{Margin: margin}})
		var text bytes.Buffer
		if err := result.Text(&text); err != nil {
			t.Fatal(err)
		}
		const line = "Same: within 1% here (--same); the final table and the report of a run use 3%."
		if result.Margin != want || strings.Contains(text.String(), line) != (want > 0) {
			t.Errorf("--same %g: %g on record\n%s", margin, result.Margin, text.String())
		}
	}
}

func TestSettleOpen(t *testing.T) {
	run := timed(false, nil, 1).set().Run
	open := func(rounds int, more ...int) (all []analysis.Open) {
		for _, n := range more {
			all = append(all, analysis.Open{Measure: measure.Throughput, Rounds: rounds, More: n})
		}
		return all
	}
	chosen := timed(false, &bench.Plain{Reason: bench.PlainChosen}, 1).set().Run
	for name, c := range map[string]struct {
		open []analysis.Open
		run  *analysis.Run
		want string
	}{
		"nothing":          {nil, run, ""},
		"below the floor":  {open(8, 0, 0), run, "More rounds do not help: the changes are below the noise floor."},
		"the least":        {open(8, 0, 9, 4), run, "Soonest settled: peak throughput, by 4 more rounds: run again with --rounds 12, about 24 min."},
		"too many":         {open(8, stats.MaxRounds), run, ""},
		"two runs":         {open(8, 4), nil, "Soonest settled: peak throughput, by 4 more rounds per side; sooner in one run, interleaved."},
		"as soon in plain": {open(6, 2), chosen, "Soonest settled: peak throughput, by 2 more rounds: run again with --rounds 8, about 16 min."},
		"sooner":           {open(6, 3), chosen, "Interleaving settles it soonest: run again with --interleave 100ms --rounds 8, about 16 min."},
	} {
		if got := analysis.SettleOpen(c.open, c.run, false); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
