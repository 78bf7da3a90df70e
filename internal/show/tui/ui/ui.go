// Package ui is what the screens of the dashboard have in common: what a screen is, the messages by
// which screens ask for something that only the program can do, and the ways to the outside
// (sessions, folders, reports) that package screens provides.
package ui

import (
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"locbench/internal/bench"
)

// Frame is the room that a screen has, and what it needs to draw.
type Frame struct {
	Width, Height int
	Look          *Look
	Now           time.Time
	Tick          int // counts the frames that time alone has caused: for spinners
}

// Screen is one screen. Its methods are called from one goroutine; View draws nothing but what
// Update has left.
type Screen interface {
	// Init is called once, when the screen is opened.
	Init() tea.Cmd
	// Update takes in a message. Keys that it does not know are left alone.
	Update(msg tea.Msg) tea.Cmd
	// View is exactly Frame.Height lines of Frame.Width cells.
	View(f Frame) []string
	// Keys are those that work now, the most useful first.
	Keys() []Key
	// Typing reports that letters are text now, so no key of the program is taken from it.
	Typing() bool
	// Busy reports that time alone changes the view: a spinner, a clock.
	Busy() bool
	// Title is for the terminal's title and the trail.
	Title() string
}

// Interrupter is a screen that does not simply end at Ctrl-C.
type Interrupter interface{ Interrupt() tea.Cmd }

// SlowRefresh is a screen on which, at times, nothing changes but figures that come once a second: it is
// drawn as often then. What it shows must not cost the measurement anything. Keys are answered at
// once all the same.
type SlowRefresh interface{ SlowRefresh() bool }

// Key is a line of help.
type Key struct {
	Name string // "s", "ctrl+z", "←/→"
	Help string // "skip step"
	Long string // a sentence for the overlay; "" repeats Help
	Wide bool   // left out of the help line where it is narrow
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
	// StatusMsg shows a word for some seconds.
	StatusMsg struct {
		Text string
		Bad  bool
	}
	// Copy puts text on the clipboard of the terminal, and shows it since not every terminal has
	// one.
	Copy struct {
		Text  string
		What  string
		Shown string // instead of Text, where that holds a password; "" shows Text
	}
	// Resized gives a screen its room before its next View; it comes before any key.
	Resized struct{ Width, Height int }
	// Shown reports to a screen that the one above it was closed.
	Shown struct{}
	// Tick comes five times a second while the screen is busy.
	Tick struct{ Now time.Time }
)

// Cmd wraps a message.
func Cmd(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

// Wheel returns the lines that the mouse wheel was turned by.
func Wheel(msg tea.MouseWheelMsg) int {
	return map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}[msg.Button]
}

// Outcome returns a message of text, or of why there is none.
func Outcome(text string, err error) StatusMsg {
	if err != nil {
		return StatusMsg{Text: err.Error(), Bad: true}
	}
	return StatusMsg{Text: text}
}

// Done is how something went that a screen has asked for and waits for.
type Done struct {
	Screen Screen
	StatusMsg
}

// Report writes a report for s, unless it waits for one already.
func Report(s Screen, waits *bool, report func(dir string) (text string, err error), dir string) tea.Cmd {
	if *waits {
		return nil
	}
	*waits = true
	return func() tea.Msg { return Done{s, Outcome(report(dir))} }
}

// Copied returns a message that copies text, or reports why there is none.
func Copied(text string, err error, what string) tea.Msg {
	if err != nil {
		return Outcome("", err)
	}
	return Copy{Text: text, What: what}
}

// Session is a run that a screen watches, and steers if it is its own.
type Session interface {
	Dir() string              // results folder; "" until it is known
	Send(bench.Control) error // never blocks long; an error when it cannot be steered
	// Next waits for the next batch of events; ok is false when there will be none any more.
	Next() (batch []bench.Record, ok bool)
	// Wait returns when the run has ended, with its exit code and what it wrote to standard error,
	// bounded.
	Wait() (code int, talk string)
	// Stop stops it gracefully, as the signal s would; a second call forces it, a third kills
	// it.
	Stop(s os.Signal)
	// CanSteer is false for a run that another process started, which is only watched.
	CanSteer() bool
}

// Opener leads outside. Its methods may block: they are called in commands.
type Opener interface {
	// Start begins a run as "locbench run args…" would.
	Start(args []string) (Session, error)
	// Watch follows the run in the folder dir, in progress or finished.
	Watch(dir string) (Session, error)
	// Report writes the report of the results in dir, opens it where a browser can be reached, and
	// says where it is.
	Report(dir string) (text string, err error)
}
