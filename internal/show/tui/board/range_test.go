package board

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/testenv"
)

func mouse(t *testing.T, b *Board, s *fold.State, msgs ...tea.Msg) string {
	t.Helper()
	view := ""
	for _, msg := range msgs {
		_, handled := b.Update(msg, s)
		testenv.Check(t, handled, "%T %v is not taken", msg, msg)
		view = text(b, s, 80, 23)
	}
	return view
}

func TestDraggingZoomsTime(t *testing.T) {
	s, b := middle(t), New()
	press(t, b, s, "enter")
	press(t, b, s, "home")
	view := text(b, s, 80, 23)
	testenv.Contains(t, view, "whole trial", "1 connection", "64 connections")
	x, y := find(t, view, "0:05")
	y -= 4
	left := tea.MouseLeft
	view = mouse(t, b, s, tea.MouseClickMsg{X: x, Y: y, Button: left})
	testenv.Contains(t, view, "range from 0:05")
	view = mouse(t, b, s, tea.MouseMotionMsg{X: x + 10, Y: y, Button: left})
	testenv.Contains(t, view, "range from 0:05", " to 0:07")
	view = mouse(t, b, s, tea.MouseReleaseMsg{X: x + 20, Y: y, Button: left})
	testenv.Contains(t, view, "0:05", "0:06", "0:07", "0:08", "0:09")
	testenv.Contains(t, view, "!0:12", "!whole trial")
	// All charts keep it, x continues to the whole trial and round to the range.
	press(t, b, s, "esc")
	view = text(b, s, 80, 23)
	testenv.Check(t, !strings.Contains(view, "whole trial"), "the range is lost:\n%s", view)
	for i, want := range []string{"whole trial", "last 60 s", "last step", "0:0"} {
		press(t, b, s, "x")
		view = text(b, s, 120, 39)
		testenv.Check(t, strings.Contains(view, want), "x for the %d. time: no %q in:\n%s", i+1, want, view)
	}
}

func TestClickMovesOnlyTheCursor(t *testing.T) {
	s, b := middle(t), New()
	press(t, b, s, "enter")
	x, y := find(t, text(b, s, 80, 23), "0:05")
	view := mouse(t, b, s, tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}, tea.MouseReleaseMsg{X: x, Y: y, Button: tea.MouseLeft})
	testenv.Contains(t, view, "whole trial", "at 0:05")
	testenv.Contains(t, view, "!range", "!newest")
	// Without the button, or with no zoomed chart, the mouse moves nothing.
	for _, msg := range []tea.Msg{tea.MouseMotionMsg{X: x + 9, Y: y}, tea.MouseReleaseMsg{X: x + 9, Y: y}} {
		_, handled := b.Update(msg, s)
		testenv.Check(t, !handled, "%T was taken", msg)
	}
}

func TestRangeByKeys(t *testing.T) {
	s, b := middle(t), New()
	shows(t, b, s, "enter home v", "(v: zoom)")
	shows(t, b, s, "right right right v", "0:00.5 to 0:03.5")
	shows(t, b, s, "v v", "0:00.5 to 0:03.5")
	shows(t, b, s, "[", "whole trial")
	_, handled := New().Update(tuitest.Key("v"), s)
	testenv.Check(t, !handled, "v without a zoomed chart was taken")
}

func TestSpanOfTheStepOfTheCursor(t *testing.T) {
	s, b := middle(t), New()
	shows(t, b, s, "enter x x", "last step")
	press(t, b, s, "home")
	view := text(b, s, 80, 23)
	testenv.Contains(t, view, "step 1: 1 connection", "0:02")
	testenv.Contains(t, view, "!0:12")
}

func TestRangeInAnySize(t *testing.T) {
	s := middle(t)
	l := ui.NewLook(ui.LookOptions{ASCII: true, NoColor: true})
	for w := 1; w < 210; w += 13 {
		for h := 1; h < 50; h += 7 {
			b, size := New(), tuitest.Size{Width: w, Height: h}
			b.Update(tuitest.Key("enter"), s)
			draw := func() {
				tuitest.Exact(t, b.View(ui.Frame{Width: w, Height: h, Look: l, Now: s.Last}, s, ""), size, true)
			}
			draw()
			for _, msg := range []tea.Msg{tea.MouseClickMsg{X: w / 3, Y: h / 2, Button: tea.MouseLeft}, tea.MouseMotionMsg{X: w / 2, Y: h / 2}, tea.MouseReleaseMsg{X: 3 * w, Y: -1}} {
				b.Update(msg, s)
				draw()
			}
		}
	}
}
