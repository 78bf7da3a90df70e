// Package console holds what a process reads from and writes to, and how it ends: exit codes, and
// the errors that carry them.
package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"

	"golang.org/x/term"

	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// Env is the environment of the process.
type Env struct {
	Args   []string
	Stdin  io.Reader
	Stdout io.Writer // data
	Stderr io.Writer // messages
	Getenv func(string) string
	// Self is the file of this binary and the name by which it was called; nil: it cannot be started
	// again, as in tests.
	Self []string
}

// Main returns the environment of this process.
func Main() Env {
	e := Env{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	const same = "/proc/self/exe" // also where the file was replaced or removed meanwhile
	if _, err := os.Stat(same); err == nil {
		e.Self = []string{same, os.Args[0]}
	} else if self, err := os.Executable(); err == nil {
		e.Self = []string{self, os.Args[0]}
	}
	return e
}

// Guarded returns e with writers that let no control character through (see package safe), whatever
// the source of the text is. What is written after the reader has gone ("locbench … | head") is
// dropped: the command ends as if it had been read.
func (e Env) Guarded() Env {
	e.Stdout, e.Stderr = safe.NewWriter(&pipe{to: e.Stdout}, nil), safe.NewWriter(&pipe{to: e.Stderr}, nil)
	return e
}

// pipe drops text for a reader that has gone.
type pipe struct {
	to   io.Writer
	gone atomic.Bool
}

func (p *pipe) Unwrap() io.Writer { return p.to }

func (p *pipe) Write(text []byte) (int, error) {
	n, err := p.to.Write(text)
	if errors.Is(err, syscall.EPIPE) {
		p.gone.Store(true)
		return len(text), nil
	}
	return n, err
}

// ErrGone is the error of a command that ends because the reader of its output has gone. It is not
// printed.
var ErrGone = errors.New("the reader of the output has gone")

// UntilGone returns a writer to w, a writer of Guarded, that fails with ErrGone once the reader has
// gone: for what makes no sense without a reader.
func UntilGone(w io.Writer) io.Writer { return untilGone{w} }

type untilGone struct{ io.Writer }

func (u untilGone) Write(text []byte) (int, error) {
	n, err := u.Writer.Write(text)
	for w := u.Writer; err == nil; {
		if p, ok := w.(*pipe); ok && p.gone.Load() {
			return n, ErrGone
		}
		door, ok := w.(interface{ Unwrap() io.Writer })
		if !ok {
			break
		}
		w = door.Unwrap()
	}
	return n, err
}

// Masked returns e with writers that mask the secrets that m knows.
func (e Env) Masked(m secret.Masker) Env {
	e.Stdout, e.Stderr = safe.NewWriter(e.Stdout, m.Text), safe.NewWriter(e.Stderr, m.Text)
	return e
}

// Terminal returns the writer inside the writers of Guarded and Masked, for drawing on a terminal.
// Text written to it must already be harmless.
func Terminal(w io.Writer) io.Writer {
	for {
		door, ok := w.(interface{ Unwrap() io.Writer })
		if !ok {
			return w
		}
		w = door.Unwrap()
	}
}

// Warn writes err to standard error as a warning.
func (e Env) Warn(err error) { fmt.Fprintf(e.Stderr, "warning: %s\n", safe.Line(err.Error(), 2000)) }

// Colored reports whether to use ANSI colors: w is a terminal, without NO_COLOR and TERM=dumb.
func (e Env) Colored(w io.Writer) bool {
	_, ok := Width(w)
	return ok && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}

// HasScreen reports whether the terminal can show a dashboard and take its keys.
func (e Env) HasScreen() bool {
	return IsTerminal(e.Stdin) && IsTerminal(e.Stdout) && IsTerminal(e.Stderr) && e.Getenv("TERM") != "dumb"
}

// Width returns the width of w in columns and reports whether w is a terminal.
func Width(w io.Writer) (width int, ok bool) {
	if !IsTerminal(w) {
		return 0, false
	}
	width, _, err := term.GetSize(int(Terminal(w).(*os.File).Fd()))
	return width, err == nil
}

// Columns returns the width of the terminal w, or 80 for what is not one.
func Columns(w io.Writer) int {
	if width, ok := Width(w); ok && width > 0 {
		return width
	}
	return 80
}

// IsTerminal reports whether f is a terminal.
func IsTerminal(f any) bool {
	if w, isWriter := f.(io.Writer); isWriter {
		f = Terminal(w)
	}
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
