package compare

import (
	"slices"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// uses makes each request take CPU time of a need, with the noise of the round.
func uses(need string, each time.Duration) change {
	return func(l *bench.TrialResult) {
		for i := range l.Steps {
			s := &l.Steps[i]
			at := func(h *bench.HostReading, second int64, cpu time.Duration) *bench.HostReading {
				if h == nil {
					h = &bench.HostReading{Needs: map[string]*bench.NeedUsage{}}
				}
				h.Needs[need] = &bench.NeedUsage{At: time.Unix(second, 0), Source: "cgroup v2", CPU: cpu}
				return h
			}
			s.HostBefore = at(s.HostBefore, 0, 0)
			s.HostAfter = at(s.HostAfter, 10, (each+time.Duration(l.Trial.Round*1000))*time.Duration(s.Load.Succeeded))
		}
	}
}

// The CPU time of a need gets a verdict as a headline measure where it is that of one contender.
func TestNeeds_Judged(t *testing.T) {
	const us = time.Microsecond
	own := func(n bench.NeedSpec) bench.NeedSpec { n.Own = true; return n }
	db := bench.NeedSpec{Name: "db", From: bench.NeedContainer}
	external := bench.NeedSpec{Name: "db", From: bench.NeedExternal}
	gates := testenv.Must(ParseGates("db cpu>+20%,mail cpu>+20%"))(t)
	for _, c := range []struct {
		name           string
		n              int
		need           bench.NeedSpec
		a, b           []change
		sentence, gate string
	}{
		{"more", 6, db, []change{uses("db", 100*us)}, []change{uses("db", 200*us)}, "worse: +96.6% (+92.5% to +101.0%), p 0.015", "failed"},
		{"as much", 6, db, []change{uses("db", 100*us)}, []change{uses("db", 100*us)}, "same within 3%: 0.0% (−2.8% to +2.9%)", "passed"},
		{"few rounds", 5, db, []change{uses("db", 100*us)}, []change{uses("db", 200*us)}, "inconclusive: 5 rounds, need ≥ 6: 1 more round per side", "open"},
		{"only one uses it", 6, db, nil, []change{uses("db", 200*us)}, "no data in old", "open"},
		{"external", 6, external, []change{uses("db", 100*us)}, []change{uses("db", 200*us)}, "no verdict, external: +96.6% (+92.5% to +101.0%)", "open"},
		{"external, not measured", 6, external, nil, nil, "", "open"},
		{"interleaved, shared", 8, db, []change{uses("db", 100*us), paired}, []change{uses("db", 200*us), paired},
			"no verdict, shared by interleaved contenders: +95.7% (+93.5% to +98.0%)", "open"},
		{"interleaved, its own copy", 8, own(db), []change{uses("db", 100*us), paired}, []change{uses("db", 200*us), paired}, "worse: +95.7% (+93.5% to +98.0%), p 0.047", "failed"},
	} {
		both := of(trials("a", c.n, usual(), c.a...), trials("b", c.n, faster(.8), c.b...)).with(func(r *bench.Run) {
			r.ID, r.Profile.Needs = "1", []bench.NeedSpec{c.need}
		})
		result := compared(t, both.only("a"), both.only("b"), Options{})
		got := ""
		for _, r := range result.Contenders[0].Rows {
			if measure.Get(r.Measure).NeedName() != "" {
				got += r.Sentence
			}
		}
		testenv.Equal(t, got, c.sentence, c.name)
		outcomes := result.CheckGates(gates)
		testenv.Check(t, string(outcomes[0].Outcome) == c.gate && outcomes[1].Outcome == Open &&
			outcomes[1].Why == `no need "mail" in these results`, "%s: %+v", c.name, outcomes)
	}
}

// Several needs have one place in the family: eight interleaved rounds still decide the other
// measures, the needs take one more, and tiers have the p values of the comparison.
func TestNeeds_Family(t *testing.T) {
	two := func(n int) *analysis.Run {
		of := func(name string, f values, each time.Duration) []bench.TrialResult {
			f.p99 = usual().p99
			return trials(name, n, f, uses("db", each), uses("redis", each), paired, func(l *bench.TrialResult) { l.Steps[0].Load.Windows = nil })
		}
		r := run()
		r.ID, r.Profile.Needs = "1", []bench.NeedSpec{{Name: "db", Own: true}, {Name: "redis", Own: true}}
		return analysis.Of(r, slices.Concat(of("a", usual(), 1e5), of("b", faster(.5), 3e5)))
	}
	for n, want := range map[int]stats.Verdict{8: stats.Inconclusive, 9: stats.Worse} {
		r := two(n)
		tested := 0
		for _, row := range Pair(r.Contenders[0], r.Contenders[1], nil, Options{}).Rows {
			if row.PHolm == nil {
				continue
			}
			tested++
			verdict := want
			switch row.Measure {
			case measure.Throughput, measure.CPURequest:
				verdict = stats.Worse
			case measure.P99Half, measure.StartUp, measure.MemoryPeak:
				verdict = stats.Same
			}
			testenv.Check(t, row.Verdict == verdict, "%d rounds: %s: %s", n, row.Measure, row.Sentence)
			s := r.Standing(row.Measure, stats.Rule{})
			c, ok := s.Pair(0, 1)
			testenv.Check(t, ok && c.Adjusted == *row.PHolm, "%d rounds: %s: p %g of the tiers, %g of the comparison", n, row.Measure, c.Adjusted, *row.PHolm)
		}
		testenv.Check(t, tested == 7, "%d measures tested", tested)
	}
}
