package board

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
	"locbench/internal/tui/fold"
	"locbench/internal/tui/look"
	"locbench/internal/tui/tuitest"
	"locbench/internal/tui/ui"
)

// screen is a board as a screen, so that it can be drawn as the program does.
type screen struct {
	*Board
	s      *fold.State
	status string
}

func (s screen) Init() tea.Cmd              { return nil }
func (s screen) Busy() bool                 { return false }
func (s screen) Title() string              { return "test" }
func (s screen) View(f ui.Frame) []string   { return s.Board.View(f, s.s, s.status) }
func (s screen) Update(msg tea.Msg) tea.Cmd { cmd, _ := s.Board.Update(msg, s.s); return cmd }

// at is the state after the records before the n-th one for which is holds.
func at(t testing.TB, name string, n int, is func(bench.Record) bool) *fold.State {
	t.Helper()
	s := &fold.State{}
	for _, rec := range tuitest.Until(tuitest.Records(t, name), n, is) {
		s.Apply(rec)
	}
	return s
}

func isA[E bench.Event](rec bench.Record) bool { _, ok := rec.Event.(E); return ok }

func never(bench.Record) bool { return false }

// middle is in the third step of the second leg.
func middle(t testing.TB) *fold.State { return at(t, "limits", 40, isA[bench.WindowClosed]) }

func show(t testing.TB, s *fold.State, keys ...string) screen {
	t.Helper()
	sc := screen{New(), s, "watching"}
	// Keys are understood only once something was drawn.
	tuitest.View(sc, tuitest.Size{Width: 80, Height: 24}, look.New(look.Options{}), s.Last)
	tuitest.Press(sc, nil, keys...)
	return sc
}

func TestGolden(t *testing.T) {
	phase := func(p bench.Phase, n int) func(bench.Record) bool {
		return func(rec bench.Record) bool {
			e, ok := rec.Event.(bench.PhaseEnded)
			return ok && e.Phase == p
		}
	}
	_ = phase
	for _, c := range []struct {
		name  string
		state *fold.State
		keys  []string
	}{
		{"empty", &fold.State{}, nil},
		{"loading", middle(t), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := c.state.Last.Add(300 * time.Millisecond)
			tuitest.Golden(t, show(t, c.state, c.keys...), c.name, now)
		})
	}
}
