// Package console is what a process was given to read from and to write to.
package console

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"locbench/internal/safe"
)

// Env is what the process was given.
type Env struct {
	Args   []string
	Stdin  io.Reader
	Stdout io.Writer // data
	Stderr io.Writer // talk
	Getenv func(string) string
}

// Warn writes err to standard error as a warning.
func (e Env) Warn(err error) { fmt.Fprintf(e.Stderr, "warning: %s\n", safe.Line(err.Error(), 2000)) }

// Colored tells whether to use ANSI colours on w: a terminal, and neither NO_COLOR nor TERM=dumb
// forbids.
func (e Env) Colored(w io.Writer) bool {
	_, ok := Width(w)
	return ok && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}

// HasScreen tells whether a dashboard can be drawn on the terminal and steered from it.
func (e Env) HasScreen() bool {
	return IsTerminal(e.Stdin) && IsTerminal(e.Stdout) && IsTerminal(e.Stderr) && e.Getenv("TERM") != "dumb"
}

// Width tells whether w is a terminal, and how wide.
func Width(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return width, err == nil
}

// IsTerminal tells whether f is one.
func IsTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
