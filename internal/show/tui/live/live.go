// Package live is the screen of a run, in progress or finished: the board that draws it, and the keys
// that steer it. What a key asks for is sent to the run and shows when the run reports that it has taken it up;
// the screen itself changes nothing.
package live

import (
	"syscall"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
	"locbench/internal/show/tui/board"
	"locbench/internal/show/tui/fold"
	"locbench/internal/show/tui/ui"
)

// Options are a live screen.
type Options struct {
	Session ui.Session
	Opener  ui.Opener
	Leave   bool // close the program as soon as the run has ended: "locbench run" comes back
}

// Screen is the live view.
type Screen struct {
	options Options
	state   fold.State
	board   *board.Board
	dialog  dialog
	note    textinput.Model
	rate    float64 // that was last asked for in the running step; 0: none
	step    *fold.Step

	writing  bool // of a report
	stopping bool // the end was asked for
	forcing  bool // and once more
	gone     bool // no more events will come
	ended    bool
	code     int
	talk     string // what the run wrote to standard error
}

// New makes the screen.
func New(o Options) *Screen {
	note := textinput.New()
	note.Prompt, note.Placeholder, note.CharLimit = "", "note "+
		"now", bench.NoteLimit/4 // characters of at most four bytes
	note.SetVirtualCursor(true)
	styles := note.Styles()
	styles.Cursor.Blink = false // one thing less that moves
	note.SetStyles(styles)
	return &Screen{options: o, board: board.New(), note: note}
}

type (
	batchMsg struct {
		records []bench.Record
		ok      bool
	}
	endedMsg struct {
		code int
		talk string
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
			code, talk := s.options.Session.Wait()
			return endedMsg{code, talk}
		}
	case endedMsg:
		return s.end(msg)
	case ui.Done:
		s.writing = false
		return ui.Cmd(msg.StatusMsg)
	case tea.KeyPressMsg:
		return s.key(msg)
	}
	if s.dialog == asksNote {
		var cmd tea.Cmd
		s.note, cmd = s.note.Update(msg)
		return cmd
	}
	return s.look(msg)
}

func (s *Screen) end(msg endedMsg) tea.Cmd {
	s.ended, s.code, s.talk = true, msg.code, msg.talk
	s.dialog = asksNothing // no question has a meaning any more
	if s.options.Leave {
		return ui.Cmd(ui.Quit{})
	}
	if s.state.Ended == nil && (s.talk != "" || s.code != 0) || s.talk != "" && !s.options.Session.CanSteer() {
		s.dialog = showsEnd
	}
	return nil
}

// Busy implements ui.Screen: the clock runs.
func (s *Screen) Busy() bool { return !s.ended }

// SlowRefresh implements ui.SlowRefresh: while a step is measured there is nothing that moves.
func (s *Screen) SlowRefresh() bool { return s.state.Loading() && s.dialog == asksNothing }

// Typing implements ui.Screen.
func (s *Screen) Typing() bool { return s.dialog == asksNote || s.board.Typing() }

// Title implements ui.Screen.
func (s *Screen) Title() string { return "run" }

// State returns what is known of the run; for the summary after the screen is gone.
func (s *Screen) State() *fold.State { return &s.state }

// Outcome returns the exit code of the run and what it wrote to standard error; not ok while it runs.
func (s *Screen) Outcome() (code int, talk string, ok bool) { return s.code, s.talk, s.ended }

// View implements ui.Screen.
func (s *Screen) View(f ui.Frame) []string {
	lines := s.board.View(f, &s.state, s.status(f))
	if s.dialog == asksNothing {
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

// Interrupt implements ui.Interrupter: Ctrl-C asks once, and then stops the run gracefully; once more
// forces the stop, and then kills it.
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
	case s.dialog == asksAbort:
		return s.abort()
	}
	s.dialog = asksAbort
	return nil
}

// stop asks for the end, with the second call forcefully, and with the third kills the run.
func (s *Screen) stop(then tea.Cmd) tea.Cmd {
	s.stopping = true
	return tea.Batch(func() tea.Msg {
		s.options.Session.Stop(syscall.SIGINT)
		return nil
	}, then)
}

func (s *Screen) abort() tea.Cmd {
	s.dialog = asksNothing
	if s.ended {
		return nil
	}
	return s.stop(nil)
}

// send asks c of the run at once: commands run side by side, and no wish may overtake another.
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
