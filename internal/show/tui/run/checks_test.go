package run

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
)

func TestChecks(t *testing.T) {
	alone(newChecks, stateOf(tuitest.Records(t, "faults"))).Frames(t, "checks")
	alone(newChecks, stateOf(tuitest.Records(t, "faults")), "down", "enter").Frames(t, "checks-details")
}

// checked returns the state of contenders with the same three checks, "lifecycle: stops",
// "get: a city" and "get: no city", in rounds rounds. change changes one of them.
func checked(contenders, rounds int, change func(contender, round int, checks []bench.CheckResult)) StateMsg {
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

func checksSame(int, int, []bench.CheckResult) {}

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

// lacks fails if a frame has one of some texts.
func lacks(t *testing.T, frame string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		testenv.Check(t, !strings.Contains(frame, text), "%q is in:\n%s", text, frame)
	}
}

// Groups without a failure are folded, until they are opened.
func TestChecks_Fold(t *testing.T) {
	checksPlay(t, checked(2, 1, checksSame), func(_ *Checks, p *tuitest.Program) {
		frame := p.Frame()
		testenv.Contains(t, frame, "checks of 2 contenders: 6 passed, 0 failed, 0 skipped", "2 groups folded",
			"▸ lifecycle", "● orders-a", "■ orders-b", "✓ 2")
		lacks(t, frame, "stops", "a city")
		p.Press("down", "enter", "down")
		testenv.Contains(t, p.Frame(), "▾ get", "✓ a city", "request   GET /city?id=1", "orders-b  passed: 200")
		p.Press("up", "enter")
		lacks(t, p.Frame(), "a city")
	})
}

// A failure is on top, selected, and explained.
func TestChecks_Failed(t *testing.T) {
	state := checked(2, 1, func(n, _ int, checks []bench.CheckResult) {
		if n == 1 {
			checks[2].Status, checks[2].Value, checks[2].Detail = bench.CheckFailed, "200", "expected status 404, got 200"
		}
	})
	checksPlay(t, state, func(c *Checks, p *tuitest.Program) {
		frame := p.Frame()
		at := func(s string) int { return strings.Index(frame, s) }
		testenv.Check(t, at("▾ get") < at("no city") && at("no city") < at("a city") && at("a city") < at("▸ lifecycle"), "%s", frame)
		testenv.Contains(t, frame, "✗ no city", "orders-b  failed: 200: expected status 404, got 200",
			"excluded from the comparison", "see the failed checks: locbench run")
		p.Press("v")
		testenv.Contains(t, p.Frame(), "failed only", "no city")
		lacks(t, p.Frame(), "lifecycle", "a city")
		state.State.Run.AcceptFailedChecks = true
		testenv.Contains(t, p.Frame(), "compared anyway")
	})
}

// Where contenders differ can be seen although nothing failed.
func TestChecks_Different(t *testing.T) {
	state := checked(2, 1, func(n, _ int, checks []bench.CheckResult) {
		if n == 1 {
			checks[0].Status, checks[0].Value = bench.CheckSkipped, ""
		}
	})
	checksPlay(t, state, func(_ *Checks, p *tuitest.Program) {
		p.Press("v")
		testenv.Contains(t, p.Frame(), "✓ no check failed")
		p.Press("v")
		testenv.Contains(t, p.Frame(), "different only", "stops", "○ skipped")
		lacks(t, p.Frame(), "city")
	})
}

// Of several rounds, the worst counts, and its rounds are named.
func TestChecks_Rounds(t *testing.T) {
	state := checked(1, 6, func(_, round int, checks []bench.CheckResult) {
		if round == 2 || round == 5 {
			checks[1].Status, checks[1].Detail = bench.CheckFailed, fmt.Sprintf("round %d", round)
		}
	})
	checksPlay(t, state, func(_ *Checks, p *tuitest.Program) {
		testenv.Contains(t, p.Frame(), "2 passed, 1 failed", "✗ 2 of 6 rounds", "failed: 200: round 5 (in 2 of 6 rounds: 2, 5)")
	})
}

// The cursor stays on its check when others come, and a filter unfolds what it finds.
func TestChecks_Cursor(t *testing.T) {
	state := checked(1, 1, checksSame)
	checksPlay(t, state, func(c *Checks, p *tuitest.Program) {
		p.Press("down", "enter", "end")
		testenv.Contains(t, p.Frame(), "▸     no city")
		trial := state.State.Trials[0]
		trial.Result.Checks = append(trial.Result.Checks, bench.CheckResult{Group: "new", Name: "x", Status: bench.CheckFailed})
		state.State.Version++
		testenv.Contains(t, p.Frame(), "▾ new", "▸     no city")
		p.Press("/", "S", "T", "O", "enter")
		testenv.Contains(t, p.Frame(), "/ STO", "stops")
		lacks(t, p.Frame(), "no city")
		testenv.Check(t, c.Escape() && !c.Escape(), "esc does not clear the filter, or clears it twice")
		p.Press("/", "z", "z")
		testenv.Contains(t, p.Frame(), "no check matches")
	})
}

// A check of many contenders does not fit below the table: enter shows all of it, esc goes back.
func TestChecks_Whole(t *testing.T) {
	state := checked(26, 1, func(_, _ int, checks []bench.CheckResult) {
		checks[1].Status, checks[1].Detail = bench.CheckFailed, strings.Repeat("wrong ", 30)
	})
	checksPlay(t, state, func(c *Checks, p *tuitest.Program) {
		// Nine of 56 lines: two of each contender, what it is, the request, the effect and the remedy.
		testenv.Contains(t, p.Frame(), "✗ 26", "enter: 47 more lines")
		p.Press("enter")
		testenv.Contains(t, p.Frame(), "orders-a")
		lacks(t, p.Frame(), "orders-z", "lifecycle ")
		p.Press("end")
		testenv.Contains(t, p.Frame(), "orders-z  failed", "effect")
		testenv.Check(t, c.Escape(), "esc does not leave the details")
		testenv.Contains(t, p.Frame(), "▸ lifecycle")
		p.Press("enter")
		testenv.Contains(t, p.Frame(), "orders-a")
		state.State.Trials = nil
		state.State.Version++
		testenv.Contains(t, p.Frame(), "no checks run yet")
	})
}

// More contenders than have a column are counted.
func TestChecks_ManyContenders(t *testing.T) {
	for n, want := range map[int]string{24: "● orders-a", 25: "contenders"} {
		page := alone(newChecks, checked(n, 1, checksSame))
		page.Play(t, tuitest.Size{Width: 600, Height: 30}, tuitest.Look{}, func(p *tuitest.Program) {
			testenv.Contains(t, strings.Split(p.Frame(), "\n")[1], want)
		})
	}
}

// Columns of contenders leave 32 cells to names, else they have signs without values. One column
// has only counts.
func TestChecks_Narrow(t *testing.T) {
	state := checked(8, 1, func(n, _ int, checks []bench.CheckResult) {
		checks[0].Name, checks[0].Value = strings.Repeat("long name ", 9), "exit code 1"
		checks[0].Status = bench.CheckFailed
	})
	const wide = 2 + 32 + 8*(2+len("✗ exit code 1")-2)
	for width, want := range map[int]string{wide: "✗ exit code 1  ✗ exit", wide - 1: "✗           ✗", 79: "✗ 8"} {
		alone(newChecks, state).Play(t, tuitest.Size{Width: width, Height: 30}, tuitest.Look{}, func(p *tuitest.Program) {
			_, row, _ := strings.Cut(p.Frame(), "▸     long name")
			testenv.Contains(t, row[:strings.Index(row, "\n")], want)
		})
	}
}

// A value that is too long for the table is in the details alone.
func TestChecks_LongValue(t *testing.T) {
	state := checked(2, 1, func(n, _ int, checks []bench.CheckResult) { checks[0].Value = strings.Repeat("x", 20+n) })
	checksPlay(t, state, func(_ *Checks, p *tuitest.Program) {
		p.Press("enter", "down")
		testenv.Contains(t, p.Frame(), "✓ "+strings.Repeat("x", 20)+"  ✓\n", "passed: "+strings.Repeat("x", 21))
	})
}

// Text from outside moves and colors nothing, in both tabs.
func TestLogAndChecks_Hostile(t *testing.T) {
	for _, text := range []string{"\x1b[31mred\x1b[2J\r\n\x07", "日本語 e\u0301 🇩🇪\u202e", strings.Repeat("long", 500)} {
		at, trial := benchtest.Start(), bench.Trial{Contender: text, Round: 1}
		s := &fold.State{}
		for _, e := range []bench.Event{
			bench.TrialStarted{Number: 1, Of: 1}, bench.Notice{Level: "warning", Text: text},
			bench.CheckDone{Check: bench.CheckResult{Group: text, Name: text, Status: bench.CheckFailed, Value: text, Detail: text, Request: text}},
			bench.LogLines{Lines: []bench.LogLine{{At: at, Stream: text, Text: text}}}, bench.Notice{Level: "error", Text: text},
		} {
			s.Apply(bench.Record{At: at, Trial: &trial, Event: e})
		}
		state := StateMsg{State: s, Trial: s.Current, At: at}
		alone(newLog, state, "right").Whole(t)
		alone(newLog, state, "v").Whole(t)
		alone(newChecks, state).Whole(t)
		alone(newChecks, state, "enter").Whole(t)
	}
}
