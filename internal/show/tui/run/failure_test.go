package run

import (
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/testenv"
)

// Each problem of a recorded run says what happened and what to do, from the moment it happens.
func TestProblems(t *testing.T) {
	s := &fold.State{}
	first := ""
	for _, rec := range tuitest.Records(t, "faults") {
		s.Apply(rec)
		_, closed := rec.Event.(bench.WindowClosed)
		if all := problems(s); !closed && len(all) > 0 && first == "" {
			first = all[0].head
			testenv.Check(t, s.Ended == nil, "the first problem is known only at the end")
		}
	}
	all := problems(s)
	testenv.Check(t, len(all) == 2, "%d problems: %v", len(all), all)
	for _, p := range all {
		testenv.Check(t, p.remedy != "", "%+v", p)
	}
}

// A run that ends before its first trial says why, and how to continue.
func TestProblems_OfTheRun(t *testing.T) {
	s := over(runOf("orders"), nil).State
	testenv.Equal(t, len(problems(s)), 0)
	s.Ended = &bench.RunEnded{State: bench.RunFailed, Err: "start the store: port 9200 is in use"}
	s.Trials = []*fold.Trial{{Result: bench.TrialResult{State: bench.TrialPending}}}
	all := problems(s)
	testenv.Check(t, len(all) == 1, "%v", all)
	testenv.Equal(t, all[0].head, "the run is failed: start the store: port 9200 is in use")
	testenv.Equal(t, all[0].remedy, "run what is missing: locbench run --resume results/20261122-080000-orders")
}

// Failed checks exclude a contender although its trial is complete.
func TestProblems_Checks(t *testing.T) {
	trials := slices.Concat(nethttp.rounds(1), actix.rounds(1))
	trials[1].Checks[0].Status, trials[1].Checks[0].Detail = bench.CheckFailed, "expected status 404, got 200"
	all := problems(over(runOf("orders", trials...), trials).State)
	testenv.Check(t, len(all) == 1, "%v", all)
	testenv.Equal(t, all[0].head, "rs-actix failed 1 of 36 checks; first: get: a city: expected status 404, got 200")
}

// What is missing is run after a failed build, not after a contender has failed itself.
func TestProblems_Resume(t *testing.T) {
	trials := slices.Concat(killed(ktor.rounds(1), 1), []bench.TrialResult{benchtest.Trial("orders-go", 1)})
	trials[1].State, trials[1].Failure = bench.TrialFailed, "build contender orders-go: exit status 1"
	all := problems(over(runOf("orders", trials...), trials).State)
	testenv.Check(t, len(all) == 2, "%v", all)
	testenv.Equal(t, all[0].remedy, "raise its limit: locbench run --profile orders kt-ktor --memory 768MiB")
	testenv.Equal(t, all[1].remedy, "see whether it builds: locbench run --profile orders orders-go --rounds 1 --connections 1 --duration 1s\n"+
		"then run what is missing: locbench run --resume results/20261122-080000-orders")
}

// Results are summed up again when a step, a trial or a check has changed them, and only then.
func TestKept(t *testing.T) {
	trials := slices.Concat(nethttp.rounds(2), actix.rounds(2))
	state := over(runOf("orders", trials...), trials).State
	var k kept[*ending]
	first := k.of(state, soFar)
	testenv.Check(t, first == k.of(state, soFar), "summed up twice")
	r := &state.Trials[0].Result
	for _, c := range []struct {
		what   string
		change func()
	}{
		{"a step", func() { r.Steps = append(r.Steps, benchtest.Step(1)) }},
		{"a check", func() { r.Checks[0].Status = bench.CheckFailed }},
		{"a trial", func() { r.State = bench.TrialFailed }},
		{"a start", func() { r.StartUp = nil }},
	} {
		c.change()
		now := k.of(state, soFar)
		testenv.Check(t, now != first, "not summed up after %s", c.what)
		first = now
	}
}
