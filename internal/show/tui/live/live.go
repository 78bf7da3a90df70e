// Package live is the screen of a run, in progress or finished: the board that draws it and the
// keys that control it. A key sends a request to the run; the screen shows the change when the run
// has reported it.
package live

import (
	"syscall"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/board"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
	page "github.com/locbench/locbench/internal/show/tui/ui"
)

// Options configure a live screen.
type Options struct {
	Session ui.Session
	Opener  ui.Opener
	Leave   bool // close the program as soon as the run has ended, as "locbench run" does
}

// Screen is the live view.
type Screen struct {
	options Options
	state   fold.State
	board   *board.Board
	dialog  dialog
	note    textinput.Model
	rate    float64 // last requested for the running step; 0: none
	step    *fold.Step

	writing  bool // a report is being written
	asked    bool // whether to stop
	stopping bool // the run was asked to stop
	forcing  bool // the run was asked to stop by force
	gone     bool // no more events will come
	ended    bool
	code     int
	stderr   string // output of the run to standard error
}

// New makes the screen.
func New(o Options) *Screen {
	note := textinput.New()
	note.Prompt, note.Placeholder, note.CharLimit = "", "note", bench.NoteLimit/4 // a character has 4 bytes at most
	note.SetVirtualCursor(true)
	styles := note.Styles()
	styles.Cursor.Blink = false
	note.SetStyles(styles)
	return &Screen{options: o, board: board.New(), note: note}
}

type (
	batchMsg struct {
		records []bench.Record
		ok      bool
	}
	endedMsg struct {
		code   int
		stderr string
	}
)

// Init implements ui.Screen.
func (s *Screen) Init() tea.Cmd { return s.next() }

func (s *Screen) next() tea.Cmd {
	return func() tea.Msg {
		records, ok := s.options.Session.Next()
		return batchMsg{records, ok}
	}
}

// Update implements ui.Screen.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case batchMsg:
		for _, rec := range msg.records {
			s.state.Apply(rec)
		}
		if step := s.state.Step(); step != s.step {
			s.step, s.rate = step, 0
		}
		if msg.ok {
			return s.next()
		}
		s.gone = true
		return func() tea.Msg {
			code, stderr := s.options.Session.Wait()
			return endedMsg{code, stderr}
		}
	case endedMsg:
		return s.end(msg)
	case stopMsg:
		if msg.now {
			return s.abort()
		}
		return s.send(bench.Control{Kind: bench.ControlStop})
	case ui.Done:
		s.writing = false
		return ui.Cmd(msg.StatusMsg)
	case tea.KeyPressMsg:
		return s.key(msg)
	}
	if s.dialog == enterNote {
		var cmd tea.Cmd
		s.note, cmd = s.note.Update(msg)
		return cmd
	}
	return s.toBoard(msg)
}

func (s *Screen) end(msg endedMsg) tea.Cmd {
	s.ended, s.code, s.stderr = true, msg.code, msg.stderr
	s.dialog = closed // its question is obsolete, as is that of stopping
	if s.options.Leave {
		return ui.Cmd(ui.Quit{})
	}
	if s.state.Ended == nil && (s.stderr != "" || s.code != 0) || s.stderr != "" && !s.options.Session.CanSteer() {
		s.dialog = showEnd
	}
	if s.asked {
		return ui.Cmd(page.SettledMsg{})
	}
	return nil
}

// Busy implements ui.Screen: the clock advances.
func (s *Screen) Busy() bool { return !s.ended }

// SlowRefresh implements ui.SlowRefresh: while a step is measured, nothing is animated.
func (s *Screen) SlowRefresh() bool { return s.state.Loading() && s.dialog == closed }

// Typing implements ui.Screen.
func (s *Screen) Typing() bool { return s.dialog == enterNote || s.board.Typing() }

// Title implements ui.Screen.
func (s *Screen) Title() string { return "run" }

// State returns the state of the run, for the summary after the screen has closed.
func (s *Screen) State() *fold.State { return &s.state }

// Outcome returns the run's exit code and standard error; ok is false while it runs.
func (s *Screen) Outcome() (code int, stderr string, ok bool) { return s.code, s.stderr, s.ended }

// View implements ui.Screen.
func (s *Screen) View(f ui.Frame) []string {
	lines := s.board.View(f, &s.state, s.status(f))
	if s.dialog == closed {
		return lines
	}
	title, text := s.dialogText(f)
	return ui.Overlay(f.Look, lines, f.Width, f.Height, title, text)
}

func (s *Screen) status(f ui.Frame) string {
	l := f.Look
	switch {
	case s.ended:
	case s.forcing:
		return l.Warn.S("FORCED STOP")
	case s.stopping:
		return l.Warn.S("STOPPING")
	case !s.options.Session.CanSteer():
		return l.Faint.S("watching")
	}
	return ""
}

// Interrupt implements ui.Interrupter. The first Ctrl-C opens a question, the next ones stop the
// run gracefully (as the choice of the question does), stop it by force, and kill it.
func (s *Screen) Interrupt() tea.Cmd {
	switch {
	case s.ended || !s.options.Session.CanSteer():
		return ui.Cmd(ui.Quit{})
	case s.forcing:
		return s.stop(ui.Cmd(ui.StatusMsg{Text: "killed; clean up with: locbench clean", Bad: true}))
	case s.stopping:
		s.forcing = true
		text := "forcing stop; Ctrl-C kills the run without cleanup"
		return s.stop(ui.Cmd(ui.StatusMsg{Text: text, Bad: true}))
	}
	return s.ask()
}

// stop interrupts the run: first gracefully, then by force; the third call kills it.
func (s *Screen) stop(then tea.Cmd) tea.Cmd {
	s.stopping = true
	return tea.Batch(func() tea.Msg {
		s.options.Session.Stop(syscall.SIGINT)
		return nil
	}, then)
}

func (s *Screen) abort() tea.Cmd {
	if s.ended {
		return nil
	}
	return s.stop(nil)
}

// send sends c to the run at once: as commands run concurrently, they could overtake each other.
func (s *Screen) send(c bench.Control) tea.Cmd {
	if err := s.options.Session.Send(c); err != nil {
		return bad(c.Kind.Words() + ": " + err.Error())
	}
	return nil
}

func (s *Screen) report() tea.Cmd {
	dir := s.options.Session.Dir()
	if dir == "" || s.options.Opener == nil {
		return bad("no results yet")
	}
	return ui.Report(s, &s.writing, s.options.Opener.Report, dir)
}
