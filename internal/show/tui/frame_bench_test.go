package tui

import (
	"io"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/board"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// boardScreen shows a state that does not change.
type boardScreen struct {
	page
	board *board.Board
	state fold.State
}

func (s *boardScreen) View(f ui.Frame) []string { return s.board.View(f, &s.state, "") }

func inAStep(b *testing.B) *boardScreen {
	b.Helper()
	s := &boardScreen{page: page{busy: true}, board: board.New()}
	records := tuitest.Until(tuitest.Records(b, "limits"), 7, func(rec bench.Record) bool {
		_, ok := rec.Event.(bench.StepEnded)
		return ok
	})
	for _, rec := range records[:len(records)-3] {
		s.state.Apply(rec)
	}
	return s
}

// BenchmarkFrame measures a frame of a running step at 200 by 50 cells: drawn after a tick of the
// clock, after a new event, and then rendered to the terminal.
func BenchmarkFrame(b *testing.B) {
	for _, c := range []struct {
		name         string
		event, bring bool
	}{{"tick", false, false}, {"event", true, false}, {"tick+renderer", false, true}, {"event+renderer", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			s := inAStep(b)
			m := newModel(Options{First: s, Theme: "dark"})
			send(m, tea.WindowSizeMsg{Width: 200, Height: 50})
			screen := uv.NewScreenBuffer(200, 50)
			renderer := uv.NewTerminalRenderer(io.Discard, []string{"TERM=xterm-256color"})
			renderer.Resize(200, 50)
			m.now = s.state.Last
			for b.Loop() {
				m.now = m.now.Add(100 * time.Millisecond)
				m.dirty = true
				m.ticks++
				if c.event {
					s.state.Version++
				}
				content := m.View().Content
				if c.bring {
					screen.Clear()
					uv.NewStyledString(content).Draw(screen, screen.Bounds())
					renderer.Render(screen.RenderBuffer)
					_ = renderer.Flush()
				}
			}
		})
	}
}
