package board

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/testenv"
)

func TestDetailsOfAStep(t *testing.T) {
	s, b := at(t, "limits", 1, never), New()
	shows(t, b, s, "2 home", "!esc: all steps", "!p75")
	shows(t, b, s, "enter", "step 1: ", "p75", "bars: share of")
	shows(t, b, s, "down", "latencies  step 2: ")
	press(t, b, s, "esc")
	view := text(b, s, 80, 23)
	testenv.Contains(t, view, "!esc: all steps")
	_, mine := b.Update(tuitest.Key("esc"), s)
	testenv.Check(t, !mine, "a second esc is not the board's own")
	// One click selects a step, a second one opens its details.
	x, y := find(t, view, "1 connection ")
	for _, want := range []bool{false, true} {
		b.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}, s)
		if view = text(b, s, 80, 23); strings.Contains(view, "esc: all steps") != want {
			t.Errorf("closer after a click is not %t:\n%s", want, view)
		}
	}
}

func TestRunningStepShowsTheSpreadOfTheOneBefore(t *testing.T) {
	s, b := middle(t), New()
	press(t, b, s, "2")
	testenv.Contains(t, text(b, s, 120, 39), "step 3: 64 connections", "latencies  step 2: 8 connections")
	press(t, b, s, "enter")
	testenv.Contains(t, text(b, s, 120, 39), "!latencies")
}
