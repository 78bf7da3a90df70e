// Package ui holds what the screens of the dashboard share: the interface of a screen, the messages
// to the program, the look (colors, glyphs, layout by cells), and the interfaces to everything
// outside (sessions, reports), which package screens implements.
package ui

import (
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
)

// Frame is the size of a screen and the other input of a drawing.
type Frame struct {
	Width, Height int
	Look          *Look
	Now           time.Time
	Tick          int // counts the frames that only time caused, for spinners
}

// Screen is one screen, used by one goroutine. Only Update changes what View draws.
type Screen interface {
	// Init is called once, when the screen is opened.
	Init() tea.Cmd
	// Update handles a message. It ignores keys that it does not know.
	Update(msg tea.Msg) tea.Cmd
	// View returns exactly Frame.Height lines of Frame.Width cells.
	View(f Frame) []string
	// Keys returns the keys that work now, the most useful first.
	Keys() []Key
	// Typing reports whether letters are text now, and not keys of the program.
	Typing() bool
	// Busy reports whether time alone changes the view: a spinner, a clock.
	Busy() bool
	// Title returns the name of the screen.
	Title() string
}

// Interrupter is a screen that handles Ctrl-C itself.
type Interrupter interface{ Interrupt() tea.Cmd }

// SlowRefresh is a screen that, at times, only shows new values once a second. It is drawn as
// rarely then, since drawing must not disturb the measurement. Keys still have their effect at
// once.
type SlowRefresh interface{ SlowRefresh() bool }

// Key is a line of help.
type Key struct {
	Name string // "s", "ctrl+z", "←/→"
	Help string // "skip step"
	Long string // a sentence for the overlay; "" repeats Help
	Wide bool   // omitted from a narrow help line
}

// Messages to the program.
type (
	// Open shows another screen on top of this one.
	Open struct{ Screen Screen }
	// Replace shows another screen in place of this one.
	Replace struct{ Screen Screen }
	// Back closes this screen; the program ends with the last one.
	Back struct{}
	// Quit ends the program.
	Quit struct{}
	// StatusMsg shows a message for some seconds.
	StatusMsg struct {
		Text string
		Bad  bool
	}
	// Copy copies text to the clipboard of the terminal, and shows it, since not every terminal has
	// one.
	Copy struct {
		Text  string
		What  string
		Shown string // shown instead of Text, which holds a password; "" shows Text
	}
	// Resized gives a screen its size before its next View and before any key.
	Resized struct{ Width, Height int }
	// Shown reports to a screen that the one above it has closed.
	Shown struct{}
	// Tick comes five times a second while the screen is busy.
	Tick struct{ Now time.Time }
)

// Cmd wraps a message.
func Cmd(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

// Wheel returns the number of lines that the mouse wheel has moved.
func Wheel(msg tea.MouseWheelMsg) int {
	return map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}[msg.Button]
}

// Outcome returns a message of text, or of err.
func Outcome(text string, err error) StatusMsg {
	if err != nil {
		return StatusMsg{Text: err.Error(), Bad: true}
	}
	return StatusMsg{Text: text}
}

// Done is the outcome of something that a screen has requested and waits for.
type Done struct {
	Screen Screen
	StatusMsg
}

// Report writes a report for s, unless s already waits for one.
func Report(s Screen, waits *bool, report func(dir string) (text string, err error), dir string) tea.Cmd {
	if *waits {
		return nil
	}
	*waits = true
	return func() tea.Msg { return Done{s, Outcome(report(dir))} }
}

// Copied returns a message that copies text, or one of err.
func Copied(text string, err error, what string) tea.Msg {
	if err != nil {
		return Outcome("", err)
	}
	return Copy{Text: text, What: what}
}

// Session is a run that a screen watches, and controls if it has started it.
type Session interface {
	Dir() string              // results folder; "" until it is known
	Send(bench.Control) error // never blocks long; an error if the run cannot be controlled
	// Next waits for the next batch of events; ok is false after the last one.
	Next() (batch []bench.Record, ok bool)
	// Wait returns when the run has ended, with its exit code and the end of its standard error.
	Wait() (code int, stderr string)
	// Stop stops the run gracefully, as the signal s would; a second call forces it, a third kills.
	Stop(s os.Signal)
	// CanSteer is false for a run that another process started, which is only watched.
	CanSteer() bool
}

// Opener starts runs and opens results. Its methods may block: they are called in commands.
type Opener interface {
	// Start starts a run as "locbench run args…" would.
	Start(args []string) (Session, error)
	// Watch follows the run in the folder dir, in progress or finished.
	Watch(dir string) (Session, error)
	// Report writes the report of dir, opens it if there is a browser, and returns where it is.
	Report(dir string) (text string, err error)
}
