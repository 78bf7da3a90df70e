package run

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

func TestChecks(t *testing.T) {
	alone(newChecks, stateOf(tuitest.Records(t, "faults"))).Frames(t, "checks")
}

// checkedState returns the state of contenders with the same three checks, "lifecycle: stops",
// "get: a city" and "get: no city", in rounds rounds. change changes one of them.
func checkedState(contenders, rounds int, change func(contender, round int, checks []bench.CheckResult)) StateMsg {
	var trials []bench.TrialResult
	for n := range contenders {
		for round := range rounds {
			trial := benchtest.Trial("orders-"+string(rune('a'+n)), round+1)
			trial.Checks = []bench.CheckResult{
				{Group: "lifecycle", Name: "stops", Status: bench.CheckPassed, Value: "76 ms"},
				{Group: "get", Name: "a city", Status: bench.CheckPassed, Value: "200", Request: "GET /city?id=1"},
				{Group: "get", Name: "no city", Status: bench.CheckPassed, Value: "404"},
			}
			change(n, round+1, trial.Checks)
			trials = append(trials, trial)
		}
	}
	state := over(benchtest.Run(trials...), trials)
	return state
}

// checksPlay opens the checks of a state in 120×40.
func checksPlay(t *testing.T, state StateMsg, use func(c *Checks, p *tuitest.Program)) {
	t.Helper()
	var c *Checks
	page := tuitest.Page{Msgs: []tea.Msg{state}, New: func(*testing.T) ui.Page {
		c = newChecks().(*Checks)
		return c
	}}
	page.Play(t, tuitest.Size{Width: 120, Height: 40}, tuitest.Look{}, func(p *tuitest.Program) { use(c, p) })
}

// Failures are on top, each with what the contenders gave, the request and what to do; others have a line.
func TestChecks_Failed(t *testing.T) {
	state := checkedState(2, 1, func(n, _ int, checks []bench.CheckResult) {
		if n == 1 {
			checks[2].Status, checks[2].Value, checks[2].Detail = bench.CheckFailed, "200", "expected status 404, got 200"
		}
	})
	checksPlay(t, state, func(_ *Checks, p *tuitest.Program) {
		frame := p.Frame()
		testenv.Contains(t, frame, "checks  5 passed, 1 failed, 0 skipped", "✗ no city",
			"orders-a  passed: 404", "orders-b  failed: 200: expected status 404, got 200", "excluded from the comparison",
			"see the failed checks: locbench run", "✓ a city: 200")
		at := func(s string) int { return strings.Index(frame, s) }
		testenv.Check(t, at("no city") < at("a city") && at("a city") < at(" lifecycle"), "%s", frame)
		p.Press("v")
		testenv.Contains(t, p.Frame(), "failed only", "no city", "!lifecycle", "!a city")
		state.State.Run.AcceptFailedChecks = true
		state.State.Version++
		testenv.Contains(t, p.Frame(), "compared anyway")
	})
}

// Where contenders differ can be seen although nothing failed.
func TestChecks_Different(t *testing.T) {
	state := checkedState(2, 1, func(n, _ int, checks []bench.CheckResult) {
		if n == 1 {
			checks[0].Status, checks[0].Value = bench.CheckSkipped, ""
		}
	})
	checksPlay(t, state, func(_ *Checks, p *tuitest.Program) {
		testenv.Contains(t, p.Frame(), "✓ stops\n", "orders-a  passed: 76 ms", "orders-b  skipped", "✓ a city: 200")
		p.Press("v")
		testenv.Contains(t, p.Frame(), "failed only", "✓ no check failed")
	})
}

// Of several rounds, the worst counts, and its rounds are named.
func TestChecks_Rounds(t *testing.T) {
	state := checkedState(1, 6, func(_, round int, checks []bench.CheckResult) {
		if round == 2 || round == 5 {
			checks[1].Status, checks[1].Detail = bench.CheckFailed, fmt.Sprintf("round %d", round)
		}
	})
	checksPlay(t, state, func(_ *Checks, p *tuitest.Program) {
		testenv.Contains(t, p.Frame(), "2 passed, 1 failed", "request   GET /city?id=1", "failed: 200: round 5 (in 2 of 6 rounds: 2, 5)")
	})
}

// The text scrolls, and starts at its top in another view.
func TestChecks_Scroll(t *testing.T) {
	state := checkedState(26, 1, func(_, _ int, checks []bench.CheckResult) {
		checks[1].Status, checks[1].Detail = bench.CheckFailed, strings.Repeat("wrong ", 30)
	})
	checksPlay(t, state, func(_ *Checks, p *tuitest.Program) {
		testenv.Contains(t, p.Frame(), "lines 1 to ", "!orders-z  failed")
		p.Press("end")
		testenv.Contains(t, p.Frame(), "✓ stops", "!lines 1 to ")
		p.Press("v")
		testenv.Contains(t, p.Frame(), "lines 1 to ")
		state.State.Trials = nil
		state.State.Version++
		testenv.Contains(t, p.Frame(), "no check failed")
	})
}
