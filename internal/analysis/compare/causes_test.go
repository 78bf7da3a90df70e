package compare

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/testenv"
)

// counters makes what the counters of each step say: switches and bytes of log per request, CPU time of the step,
// CPU time of a need.
type counters struct {
	voluntary, involuntary, log float64
	cpu, db, engine             time.Duration
	p50                         time.Duration
	collected                   float64 // of the CPU time
}

func (c counters) of(l *bench.TrialResult) {
	for i := range l.Steps {
		s := &l.Steps[i]
		n := func(each float64) int64 { return int64(each * float64(s.Load.Ended())) }
		s.Before.Switches, s.Before.Log = &bench.Switches{Source: "x"}, &bench.Log{EngineCPU: new(time.Second)}
		s.After.Switches = &bench.Switches{Source: "x", Voluntary: n(c.voluntary), Involuntary: n(c.involuntary)}
		s.After.Log = &bench.Log{Bytes: n(c.log), Lines: n(1), EngineCPU: new(time.Second + c.engine)}
		s.After.CPU = s.Before.CPU + c.cpu
		s.Load.Latency.P50 = c.p50
		s.Before.ThreadTime = &bench.ThreadTime{}
		s.After.ThreadTime = &bench.ThreadTime{Served: c.cpu, Collected: time.Duration(c.collected * float64(c.cpu))}
		s.HostBefore = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: time.Unix(1, 0), Source: "x"}}}
		s.HostAfter = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: time.Unix(11, 0), Source: "x", CPU: c.db}}}
	}
}

// A cause is named for the side that is worse, where its counters differ decidedly, and never for a
// healthy one.
func TestCauses(t *testing.T) {
	healthy := counters{voluntary: 2, involuntary: .1, log: 0, cpu: 10 * time.Second, db: time.Second, p50: 10 * time.Millisecond}
	lock := healthy
	lock.voluntary, lock.cpu, lock.db = 12, 4*time.Second, 400*time.Millisecond
	with := func(c counters, change func(*counters)) counters { change(&c); return c }
	const wait = "the new has 12.1 context switches per request at 8 connections, the old 2.1, with fewer CPUs in use: its threads wait for a lock or a pool."
	for name, c := range map[string]struct {
		slower float64
		fresh  counters
		want   string
	}{
		"a lock":                             {.4, lock, wait},
		"a lock without an effect":           {1, lock, ""},
		"switches below three times":         {.4, with(lock, func(c *counters) { c.voluntary = 6.1 }), ""},
		"switches for a lack of CPUs":        {.4, with(lock, func(c *counters) { c.voluntary, c.involuntary = 5, 7 }), ""},
		"CPUs as busy, p50 as high":          {.8, with(lock, func(c *counters) { c.cpu = 8 * time.Second; c.db = 800 * time.Millisecond }), ""},
		"CPUs as busy, p50 lower":            {.8, with(lock, func(c *counters) { c.cpu = 9 * time.Second; c.p50 /= 2 }), strings.Replace(wait, "fewer CPUs in use", "a lower p50", 1)},
		"more work for the need":             {.4, with(lock, func(c *counters) { c.db = 600 * time.Millisecond }), ""},
		"more work":                          {.4, with(lock, func(c *counters) { c.cpu = 6 * time.Second }), ""},
		"a log":                              {.6, with(healthy, func(c *counters) { c.log = 412 }), "the new logs 412 B per request, the old 0 B."},
		"a log that the engine works for":    {.6, with(healthy, func(c *counters) { c.log, c.engine = 412, 3900*time.Millisecond }), "the new logs 412 B per request, the old 0 B; the engine uses 0.39 CPUs for that."},
		"a log without an effect":            {1, with(healthy, func(c *counters) { c.log = 412 }), ""},
		"a log of a few bytes":               {.6, with(healthy, func(c *counters) { c.log = 15 }), ""},
		"a log of the better side":           {1.6, with(healthy, func(c *counters) { c.log = 412; c.cpu = 16 * time.Second }), ""},
		"a service that is slower, no cause": {.4, healthy, ""},
		"a collector": {.6, with(healthy, func(c *counters) { c.cpu, c.collected = 16*time.Second, 1 }),
			"the new web: the collector took 50% of its CPU time at 8 connections: its heap is small for what it keeps and allocates; give it a larger heap."},
	} {
		t.Run(name, func(t *testing.T) {
			f := usual()
			f.peak *= c.slower
			r := compared(t, of(trials("web", 6, usual(), healthy.of)), of(trials("web", 6, f, c.fresh.of)), Options{})
			testenv.Equal(t, strings.Join(r.Contenders[0].Causes, "|"), c.want)
			var b strings.Builder
			testenv.OK(t, r.Text(&b, 0))
			testenv.Check(t, strings.Contains(b.String(), c.want), "not in the text: %s", b.String())
		})
	}
}

// A certain change of the CPU time per request is said to be that of the runtime's compilers or collectors
// where it mostly is, and where both sides would show it.
func TestCauses_KindOfThread(t *testing.T) {
	type spent struct {
		language                             string
		served, compiled, collected, runtime float64 // s of each step
		p99                                  float64 // times the usual one
	}
	java := spent{"Java", 9, .5, .5, 0, 1}
	with := func(s spent, change func(*spent)) spent { change(&s); return s }
	collects := with(java, func(s *spent) { s.collected += 2 })
	for name, c := range map[string]struct {
		old, fresh spent
		want       string
	}{
		"all of it":                {java, collects, "CPU per request 20.0% higher at 8 connections: all of it the collectors'."},
		"better":                   {collects, java, "CPU per request 16.7% lower at 8 connections: all of it the collectors'."},
		"compilers":                {java, with(java, func(s *spent) { s.compiled += 2 }), "CPU per request 20.0% higher at 8 connections: all of it the compilers'."},
		"one of these two":         {java, with(java, func(s *spent) { s.runtime += 2 }), "CPU per request 20.0% higher at 8 connections: all of it the compilers' and collectors'."},
		"96%":                      {java, with(java, func(s *spent) { s.collected += 1.92; s.served += .08 }), "CPU per request 20.0% higher at 8 connections: all of it the collectors'."},
		"94%":                      {java, with(java, func(s *spent) { s.collected += 1.88; s.served += .12 }), "CPU per request 20.0% higher at 8 connections: most of it the collectors'."},
		"67%":                      {java, with(java, func(s *spent) { s.collected += 1.34; s.served += .66 }), "CPU per request 20.0% higher at 8 connections: most of it the collectors'."},
		"66%":                      {java, with(java, func(s *spent) { s.collected += 1.32; s.served += .68 }), ""},
		"more than all of it":      {java, with(java, func(s *spent) { s.collected += 3; s.served-- }), "CPU per request 20.0% higher at 8 connections: all of it the collectors'."},
		"the other way":            {java, with(java, func(s *spent) { s.collected -= .4; s.served += 2 }), ""},
		"served":                   {java, with(java, func(s *spent) { s.served += 2 }), ""},
		"no change":                {java, with(java, func(s *spent) { s.collected += 2; s.served -= 2 }), ""},
		"none in old, one runtime": {spent{"C#", 10, 0, 0, 0, 1}, spent{"C#", 10, 2, 0, 0, 1}, "CPU per request 20.0% higher at 8 connections: all of it the compilers'."},
		"none in old, another":     {spent{"Go", 10, 0, 0, 0, 1}, spent{"Java", 10, 2, 0, 0, 1}, ""},
		"none in old, unknown":     {spent{"", 10, 0, 0, 0, 1}, spent{"", 10, 2, 0, 0, 1}, ""},
		"two runtimes with both":   {with(java, func(s *spent) { s.language = "C#" }), collects, "CPU per request 20.0% higher at 8 connections: all of it the collectors'."},
		"within 3%":                {java, with(java, func(s *spent) { s.collected += .1; s.p99 = 3 }), ""},
		"not read in old":          {spent{"Java", -1, 0, 0, 0, 1}, spent{"Java", 1, .5, 11, 0, 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			side := func(c spent) raw {
				f := usual()
				f.p99 = scaled(f.p99, c.p99)
				return of(trials("web", 6, f, func(l *bench.TrialResult) {
					l.Service.Language = c.language
					for i := range l.Steps {
						s, of := &l.Steps[i], func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
						s.After.CPU = s.Before.CPU + of(c.served+c.compiled+c.collected+c.runtime)
						s.Before.ThreadTime = &bench.ThreadTime{}
						s.After.ThreadTime = &bench.ThreadTime{Served: of(c.served), Compiled: of(c.compiled), Collected: of(c.collected), Runtime: of(c.runtime)}
						if c.served < 0 {
							s.After.CPU, s.After.ThreadTime = s.Before.CPU+of(10), nil
						}
					}
				}))
			}
			why := compared(t, side(c.old), side(c.fresh), Options{}).Contenders[0].Why()
			got := slices.DeleteFunc(why, func(line string) bool { return !strings.Contains(line, " of it ") })
			testenv.Equal(t, strings.Join(got, "|"), c.want)
		})
	}
}

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
