// Package old holds what the screens share that are not yet pages (package ui): their interface, the
// layout by cells, and the adapter that shows them as pages. It goes with the last of them.
package old

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/ui"
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

// Resized gives a screen its size before its next View and before any key.
type Resized struct{ Width, Height int }

// Back is ui.BackMsg.
type Back = ui.BackMsg

// Quit is ui.QuitMsg.
type Quit = ui.QuitMsg

// StatusMsg is ui.TellMsg.
type StatusMsg = ui.TellMsg

// Copy is ui.CopyMsg.
type Copy = ui.CopyMsg

// Shown is ui.ShownMsg.
type Shown = ui.ShownMsg

// Tick is ui.TickMsg.
type Tick = ui.TickMsg

// Session is ui.Session.
type Session = ui.Session

// Opener is ui.Opener.
type Opener = ui.Opener

// Cmd is ui.Cmd.
func Cmd(msg tea.Msg) tea.Cmd { return ui.Cmd(msg) }

// Wheel returns the number of lines that the mouse wheel has moved.
func Wheel(msg tea.MouseWheelMsg) int {
	return map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}[msg.Button]
}

// Outcome is ui.Outcome.
func Outcome(text string, err error) StatusMsg { return ui.Outcome(text, err) }

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

// Copied is ui.Copied.
func Copied(text string, err error, what string) tea.Msg { return ui.Copied(text, err, what) }

// RepeatCommand is ui.RepeatCommand.
func RepeatCommand(run bench.Run) (string, error) { return ui.RepeatCommand(run) }

// ResumeCommand is ui.ResumeCommand.
func ResumeCommand(dir string) (string, error) { return ui.ResumeCommand(dir) }
