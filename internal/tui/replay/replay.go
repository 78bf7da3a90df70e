// Package replay is the screen of a run that is on disk: the board over the run's events, with a
// time line to play, seek and skip in. It opens at the end, where the figures are. It reads nothing
// itself: package screens gives it a Source.
package replay

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
	"locbench/internal/tui/fold"
	"locbench/internal/tui/look"
	"locbench/internal/tui/ui"
)

// Board draws a run; see package board.
type Board interface {
	Update(msg tea.Msg, s *fold.State) (cmd tea.Cmd, mine bool)
	View(f ui.Frame, s *fold.State, status string) []string
	Keys() []ui.Key
	Typing() bool
}

// Screen is the replay of one results folder. It implements ui.Screen.
type Screen struct {
	dir      string
	source   Source
	board    Board
	progress *progress
	loading  bool
	err      error
	note     string
	run      bench.Run
	player   *player
	playing  bool
	speed    int       // index into speeds
	ticked   time.Time // when the position was moved last
	writing  bool      // of the report
	w, h     int
}

// speeds are how many seconds of the run go by in one; 0 is as fast as it can be watched.
var speeds = [...]float64{0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 0}

const speedOne = 2 // index of 1×

const seekBy = 5 * time.Second

// New makes the replay of the run in dir, drawn by board.
func New(dir string, source Source, board Board) *Screen {
	return &Screen{dir: dir, source: source, board: board, speed: speedOne}
}

// Init implements ui.Screen.
func (s *Screen) Init() tea.Cmd {
	s.loading, s.progress = true, &progress{}
	return func() tea.Msg {
		msg := load(s.source, s.dir, s.progress)
		msg.screen = s
		return msg
	}
}

// Title implements ui.Screen.
func (s *Screen) Title() string { return "replay " + look.Outside(s.dir, nameBytes) }

// Busy implements ui.Screen.
func (s *Screen) Busy() bool { return s.loading || s.playing || s.writing }

// Typing implements ui.Screen.
func (s *Screen) Typing() bool { return s.player != nil && s.board.Typing() }

// Update implements ui.Screen.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ui.Resized:
		s.w, s.h = msg.Width, msg.Height
	case loaded:
		if msg.screen == s {
			s.loading, s.run, s.player, s.note, s.err = false, msg.run, msg.player, msg.note, msg.err
		}
		return nil
	case ui.Done:
		if msg.Screen != s {
			return nil
		}
		s.writing = false
		return ui.Cmd(msg.Tell)
	case ui.Tick:
		s.tick(msg.Now)
	case tea.KeyPressMsg:
		return s.key(msg)
	case tea.MouseClickMsg, tea.MouseWheelMsg:
		if s.player != nil && s.mouse(msg.(tea.MouseMsg)) {
			return nil
		}
	}
	if s.player == nil {
		return nil
	}
	cmd, _ := s.board.Update(msg, s.player.state)
	return cmd
}

func (s *Screen) tick(now time.Time) {
	if !s.playing || s.player == nil {
		return
	}
	p := s.player
	if s.ticked.IsZero() {
		s.ticked = now
	}
	if speed := speeds[s.speed]; speed > 0 {
		passed := min(now.Sub(s.ticked), time.Second) // a stalled screen does not jump
		p.seek(p.pos + time.Duration(speed*float64(max(0, passed))))
	} else {
		p.step(max(20, len(p.records)/100))
	}
	s.ticked = now
	if p.ended() {
		s.playing = false
	}
}

// View implements ui.Screen.
func (s *Screen) View(f ui.Frame) []string {
	if s.player == nil {
		return f.Look.Screen(s.waiting(f), f.Width, f.Height)
	}
	bottom := s.bottom(f)
	board := f
	board.Height = f.Height - len(bottom)
	if at := s.player.clock(s.player.pos); !at.IsZero() {
		board.Now = at.In(f.Now.Location())
	}
	lines := s.board.View(board, s.player.state, s.status(f.Look, f.Width))
	return f.Look.Screen(append(lines, bottom...), f.Width, f.Height)
}

func (s *Screen) waiting(f ui.Frame) []string {
	l := f.Look
	name := l.Outside(s.dir, nameBytes)
	if s.err != nil {
		lines := []string{l.Bad.S(l.Cut("cannot show "+name, f.Width)), ""}
		return append(lines, l.Wrap(l.Outside(s.err.Error(), 2000), f.Width, max(1, f.Height-4))...)
	}
	lines := []string{l.Cut(l.Spin(f.Tick)+" reading "+name, f.Width)}
	if s.progress != nil {
		share := s.progress.get()
		w := min(40, f.Width-6)
		lines = append(lines, "", l.Bar(share, w, l.Accent)+fmt.Sprintf(" %3.0f%%", 100*share))
	}
	return lines
}

// status is a short word for the header of the board.
func (s *Screen) status(l *look.Look, w int) string {
	text := s.position()
	if w >= 70 {
		text = "replay " + s.speedText(l) + " " + text
	}
	if s.playing {
		return l.Good.S(l.Glyph.Run + " " + text)
	}
	return l.Warn.S(l.Glyph.Pause + " " + text)
}

func (s *Screen) speedText(l *look.Look) string {
	if v := speeds[s.speed]; v > 0 {
		return fmt.Sprintf("%g%s", v, l.Glyph.Times)
	}
	return "max"
}

func (s *Screen) position() string { return clockText(s.player.pos) + "/" + clockText(s.player.total) }

// bottom is the time line, with what is not as it should be above it.
func (s *Screen) bottom(f ui.Frame) []string {
	l := f.Look
	b := bar{l: l, w: f.Width, left: barAt(f.Width)}
	head := s.position()
	if b.left > 14 {
		head = s.speedText(l) + " " + head
	}
	sign := l.Glyph.Pause
	if s.playing {
		sign = l.Glyph.Run
	}
	lines := []string{b.line(s.player, sign+" "+head)}
	if f.Height < 12 {
		return lines
	}
	if s.note != "" {
		lines = []string{l.Warn.S(l.Cut(l.Outside(s.note, 1000), f.Width)), lines[0]}
	}
	return append(lines, b.names(s.player))
}
