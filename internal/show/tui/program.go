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

const (
	// framesPerSecond is the most frames that are written to the terminal per second. Bubble Tea wakes up
	// as often, also without one.
	framesPerSecond = 30
	clock           = time.Second            // between two ticks of the pages
	apart           = 200 * time.Millisecond // least time between two frames that events alone cause
	wordFor         = 5 * time.Second
)

// leastWidth and leastHeight are the size of the smallest terminal that a page is drawn in.
const leastWidth, leastHeight = 20, 6

// Options configure a dashboard.
type Options struct {
	Input  io.Reader
	Output io.Writer
	Env    []string // environment of the process, such as TERM and COLORTERM
	First  ui.Page
	ASCII  bool
	// NoColor disables colors, whatever the terminal can do.
	NoColor bool
	// Theme is "dark", "light", or "" to ask the terminal.
	Theme string
	// After makes a command that waits; nil: tea.Tick. Tests let no time pass.
	After func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
}

// Run shows the dashboard until its last page closes or ctx ends, and restores the terminal, even
// after a panic in a page, which it returns as an error. The end of ctx is not an error.
func Run(ctx context.Context, o Options) error {
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(o.Input), tea.WithOutput(o.Output), tea.WithEnvironment(o.Env),
		tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler(),
	}
	if o.NoColor {
		options = append(options, tea.WithColorProfile(colorprofile.Ascii))
	}
	_, err := tea.NewProgram(New(o), options...).Run()
	if errors.Is(err, tea.ErrProgramPanic) {
		return fmt.Errorf("dashboard failed: %w", err)
	}
	if err != nil && ctx.Err() != nil {
		return nil
	}
	return err
}
