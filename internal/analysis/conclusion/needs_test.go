package conclusion

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/testenv"
)

// What a worse version requests from a need is where to look first, before its own CPU time and more
// rounds; nothing is proposed for what is open then.
func TestNext_Cause(t *testing.T) {
	requests := func(each time.Duration) func(*bench.StepResult) {
		return func(s *bench.StepResult) {
			s.HostBefore = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: benchtest.Start(), Source: "cgroup v2"}}}
			s.HostAfter = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: benchtest.Start().Add(benchtest.Length),
				Source: "cgroup v2", CPU: each * time.Duration(s.Load.Succeeded)}}}
		}
	}
	logs := func(s *bench.StepResult) {
		s.Before.Log, s.After.Log = &bench.Log{}, &bench.Log{Bytes: 150 * s.Load.Succeeded, Lines: s.Load.Succeeded}
	}
	collects := func(s *bench.StepResult) { // with all CPUs of the machine in use
		s.HostBefore, s.HostAfter = &bench.HostReading{Host: &bench.HostUsage{}}, &bench.HostReading{Host: &bench.HostUsage{Busy: time.Second}}
		s.Before.ThreadTime, s.After.ThreadTime = &bench.ThreadTime{}, &bench.ThreadTime{Served: s.After.CPU / 2, Collected: s.After.CPU / 2}
	}
	silent := func(s *bench.StepResult) { s.Before.Log, s.After.Log = &bench.Log{}, &bench.Log{} }
	const us = time.Microsecond
	for name, c := range map[string]struct {
		a, b []bench.TrialResult
		want string
	}{
		"its queries": {rounds("a", 6, 9000, 9e4, requests(100*us)), rounds("b", 6, 8000, 9.5e4, requests(300*us)),
			"Look at what b requests from db: its CPU time per request ×3.00 (×3.00 to ×3.00)"},
		"its log, though the need uses more, too": {rounds("a", 6, 9000, 9e4, requests(100*us), silent), rounds("b", 6, 8000, 9.5e4, requests(120*us), logs),
			"Look at what b logs"},
		"its collector, though the need uses more, too": {rounds("a", 6, 9000, 9e4, requests(100*us)), rounds("b", 6, 8000, 9.5e4, requests(120*us), collects),
			"b: give it a larger heap"},
		"fewer queries": {rounds("a", 6, 9000, 9e4, requests(300*us)), rounds("b", 6, 9000, 9e4, requests(100*us)),
			"Hold it in CI: locbench compare DIR --fail-on 'throughput<-5%'"},
		"its own CPU time": {rounds("a", 6, 9000, 9e4, requests(100*us)), rounds("b", 6, 8000, 9.5e4, requests(100*us)),
			"Profile the CPU time of b: per request +5.6% (+4.7% to +6.4%)"},
	} {
		all := slices.Concat(c.a, c.b)
		testenv.Equal(t, Of(analysis.Of(benchtest.Run(all...), all), nil).NextStep(), c.want, name)
	}
}

// The cost of needs is next to that of contenders, never part of it.
func TestCost_Needs(t *testing.T) {
	uses := func(share int) func(*bench.StepResult) { // of one CPU, in tenths
		return func(s *bench.StepResult) {
			s.HostBefore = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: benchtest.Start(), Source: "cgroup v2"}}}
			s.HostAfter = &bench.HostReading{Needs: map[string]*bench.NeedUsage{"db": {At: benchtest.Start().Add(benchtest.Length),
				Source: "cgroup v2", CPU: benchtest.Length / 10 * bench.Duration(share)}}}
		}
	}
	of := func(trials ...[]bench.TrialResult) string {
		all := slices.Concat(trials...)
		return Of(analysis.Of(benchtest.Run(all...), all), nil).Cost
	}
	testenv.Equal(t, of(rounds("a", 1, 9000, 9e4, uses(2))), "$0.69 per billion requests; at 1,000 req/s: 0.09 CPUs, about $2 a month; "+
		"with needs, by CPU time used, not by their limits: $0.69 + db $0.17 = $0.86", "one contender")
	testenv.Equal(t, of(rounds("a", 1, 9000, 9e4, uses(2)), rounds("bb", 1, 9000, 9e4, uses(4)), rounds("c", 1, 9000, 9e4)),
		"bb $0.69 per billion requests, a $0.69, c $0.69; with needs, by CPU time used, not by their limits: "+
			"bb $0.69 + db $0.34 = $1.03, a $0.69 + db $0.17 = $0.86", "several")

	all := slices.Concat(rounds("a", 1, 9000, 9e4, uses(2)), rounds("bb", 1, 9000, 9e4))
	run := benchtest.Run(all...)
	run.Profile.Needs = []bench.NeedSpec{{Name: "db", From: bench.NeedContainer},
		{Name: "mail", From: bench.NeedExternal, For: []bench.Selection{{Contender: "a"}}}}
	testenv.Equal(t, Of(analysis.Of(run, all), nil).Cost, "bb $0.69 per billion requests, a $0.69; with needs, by CPU time used, not by their limits: "+
		"a $0.69 + db $0.17 + mail, not measured", "an external one")
	run.Profile.Needs[1].For = nil
	all = slices.Concat(rounds("a", 1, 9000, 9e4), rounds("bb", 1, 9000, 9e4))
	testenv.Equal(t, Of(analysis.Of(run, all), nil).Cost, "bb $0.69 per billion requests, a $0.69; needs not measured", "no other one")
}

// What a contender's threads do is a problem, and the likely cause of one that is excluded for its errors.
func TestProblems_Causes(t *testing.T) {
	starves := func(s *bench.StepResult) {
		s.Warnings = bench.Warnings{{Kind: bench.WarnFirstResponses, Values: map[string]float64{
			"first_response_ns": 15e9, "threads_before": 18, "threads": 82}}}
	}
	const what = "its threads grew from 18 to 82 at 64 connections, while its CPUs were idle (0.00 of 1 CPU in use) and the first responses took 15.0 s"
	const why = "requests hold threads while they wait, and the pool gets new ones slowly"
	for name, c := range map[string]struct {
		change      func(*bench.StepResult)
		what, cause string
	}{
		"slow":              {func(*bench.StepResult) {}, what, why},
		"excluded for that": {benchtest.Errors(bench.ErrTimeout, 90_000), "failed", what + ": " + why},
		"wrong, not slow":   {func(s *bench.StepResult) { benchtest.Errors(bench.ErrWrong, 900)(s); s.Load.Checked = 1000 }, "sent unexpected", ""},
	} {
		all := rounds("a", 3, 9000, 9e4, starves, c.change)
		p := Of(analysis.Of(benchtest.Run(all...), all), nil).Problems
		testenv.Check(t, len(p) == 1 && strings.HasPrefix(p[0].What, c.what) && p[0].Cause == c.cause, "%s: %+v", name, p)
	}
}
