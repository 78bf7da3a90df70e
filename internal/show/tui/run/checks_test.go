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

// Failures are on top, each with what was found, the request and what to do; others have a line, or one for each
// contender where they differ. Rounds with the same failure are one.
func TestChecks_Contents(t *testing.T) {
	state := checkedState(2, 3, func(n, round int, checks []bench.CheckResult) {
		if n == 1 && round < 3 {
			checks[1].Status, checks[1].Value, checks[1].Detail = bench.CheckFailed, "", "expected status 404, got 200"
		}
		if n == 1 {
			checks[0].Status, checks[0].Value = bench.CheckSkipped, ""
		}
	})
	checksPlay(t, state, func(_ *Checks, p *tuitest.Program) {
		frame := p.Frame()
		testenv.Contains(t, frame, "checks  13 passed, 2 failed, 3 skipped", "✗ get: a city", "request  GET /city?id=1", "found    expected status 404, got 200",
			"in       orders-b-1, orders-b-2", "excluded from the comparison", "orders-b  see the failed checks: locbench run",
			"lifecycle 1 check, 1 with different outcomes", "orders-a  ✓ 76 ms", "orders-b  skipped", "orders-b  ✗ 2×, ✓ 200 1×", "no city: ✓ 404")
		testenv.Check(t, strings.Index(frame, "✗ get: a city") < strings.Index(frame, " lifecycle"), "%s", frame)
		state.State.Run.AcceptFailedChecks = true
		state.State.Version++
		testenv.Contains(t, p.Frame(), "compared anyway")
		state.State.Trials = nil
		state.State.Version++
		testenv.Contains(t, p.Frame(), "no checks run yet")
	})
}

// The text scrolls.
func TestChecks_Scroll(t *testing.T) {
	state := checkedState(26, 1, func(n, _ int, checks []bench.CheckResult) {
		checks[1].Status, checks[1].Detail = bench.CheckFailed, fmt.Sprint(n, strings.Repeat(" wrong", 30))
	})
	checksPlay(t, state, func(_ *Checks, p *tuitest.Program) {
		testenv.Contains(t, p.Frame(), "lines 1 to ", "!stops")
		p.Press("end")
		testenv.Contains(t, p.Frame(), "stops: ✓ 76 ms", "!lines 1 to ")
	})
}
