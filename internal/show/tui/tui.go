// Package tui is the dashboard: a Bubble Tea program that shows a stack of screens (setup, live,
// browse, compare), each in a package below. They show a fold over the events of a run (package
// fold), so the run does not wait for the screen or depend on it. Package screens implements
// everything that reaches outside (starting a run, reading folders, writing a report) behind
// interfaces of package ui.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/locbench/locbench/internal/show/tui/ui"
)

// framesPerSecond is the most frames that are written to the terminal per second. A frame is drawn
// only after a change; a key has its effect within one frame.
const framesPerSecond = 60

// tick is the time between two frames that time alone causes.
const tick = 200 * time.Millisecond

// Options configure a dashboard.
type Options struct {
	Input  io.Reader
	Output io.Writer
	Env    []string // environment of the process, such as TERM and COLORTERM
	First  ui.Screen
	ASCII  bool
	// NoColor disables colors, whatever the terminal can do.
	NoColor bool
	// Theme is "dark", "light", or "" to ask the terminal.
	Theme string
	Mouse bool
}

// Run shows the dashboard until its last screen closes or ctx ends, and restores the terminal, even
// after a panic in a screen, which it returns as an error. The end of ctx is not an error.
func Run(ctx context.Context, o Options) error {
	m := newModel(o)
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(o.Input), tea.WithOutput(o.Output), tea.WithEnvironment(o.Env),
		tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler(),
	}
	if o.NoColor {
		options = append(options, tea.WithColorProfile(colorprofile.Ascii))
	}
	_, err := tea.NewProgram(m, options...).Run()
	if errors.Is(err, tea.ErrProgramPanic) {
		return fmt.Errorf("dashboard failed: %w", err)
	}
	if err != nil && ctx.Err() != nil {
		return nil
	}
	return err
}

// Model is the program, a tea.Model: a stack of screens and the state that they share.
type Model struct {
	options Options
	look    *ui.Look
	screens []ui.Screen
	width   int
	height  int
	now     time.Time
	ticks   int
	ticking bool
	help    bool
	scroll  int // lines that the help is scrolled by
	message message
	dirty   bool // the next View draws
	pending bool // the next tick sets dirty
	drawn   string
	after   func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
}

// message is a text that stays for some seconds.
type message struct {
	text  string
	bad   bool
	until time.Time
}

func newModel(o Options) *Model {
	m := &Model{options: o, screens: []ui.Screen{o.First}, now: time.Now(), dirty: true, after: tea.Tick}
	m.relook(o.Theme == "light")
	return m
}

func (m *Model) relook(light bool) {
	m.look = ui.NewLook(ui.LookOptions{Light: light, ASCII: m.options.ASCII, NoColor: m.options.NoColor})
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.top().Init()}
	if m.options.Theme == "" && !m.options.NoColor {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(append(cmds, m.keepTicking())...)
}

func (m *Model) top() ui.Screen { return m.screens[len(m.screens)-1] }

type tickMsg time.Time

// keepTicking asks for the next tick while time alone changes what is seen.
func (m *Model) keepTicking() tea.Cmd {
	if m.ticking || !(m.top().Busy() || m.message.text != "") {
		return nil
	}
	m.ticking = true
	return m.after(tick, func(t time.Time) tea.Msg { return tickMsg(t) })
}

// View implements tea.Model. It draws only after a change.
func (m *Model) View() tea.View {
	if m.dirty {
		m.drawn, m.dirty = m.draw(), false
	}
	v := tea.NewView(m.drawn)
	v.AltScreen = true
	if m.options.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}
