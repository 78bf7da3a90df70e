// Package console holds what a process reads from and writes to, and how it ends: exit codes, and
// the errors that carry them.
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

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

// Exit codes, for scripts.
const (
	ExitOK      = 0
	ExitFailure = 1
	ExitUsage   = 2 // wrong flags, arguments, profile or manifest
	// ExitContender: some trials are incomplete: a contender failed or had no success, or the run
	// ended early.
	ExitContender = 3
	// ExitThreshold: a check failed (locbench check), no rate meets the SLO (locbench capacity), a
	// threshold was missed, or there is a regression.
	ExitThreshold = 4
	// ExitUndecided: the results cannot decide whether there is a regression.
	ExitUndecided   = 5
	ExitInterrupted = 130 // Ctrl-C or SIGTERM
)

// ForceWithin limits how long a forced end may take, such as with a hanging engine.
const ForceWithin = 15 * time.Second

// Signal is the cause of a context that a signal has canceled.
type Signal struct{ Signal os.Signal }

func (e Signal) Error() string { return "interrupted by " + SignalName(e.Signal) }

// SignalName returns the user's name of a signal.
func SignalName(s os.Signal) string {
	switch s {
	case os.Interrupt:
		return "Ctrl-C"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGHUP:
		return "SIGHUP"
	}
	return s.String()
}

// coded carries an exit code other than ExitFailure.
type coded struct {
	code int
	err  error
}

func (e *coded) Error() string { return e.err.Error() }
func (e *coded) Unwrap() error { return e.err }

// WithCode gives err an exit code; nil stays nil.
func WithCode(code int, err error) error {
	if err == nil {
		return nil
	}
	return &coded{code, err}
}

// Usagef returns an error about wrong usage.
func Usagef(format string, args ...any) error {
	return WithCode(ExitUsage, fmt.Errorf(format, args...))
}

// Append adds words to err and keeps its exit code. An error of several lines gets one more.
func Append(err error, words string) error {
	with := "%w; %s"
	if strings.Contains(err.Error(), "\n") {
		with = "%w\n%s"
	}
	all := fmt.Errorf(with, err, words)
	if c, ok := errors.AsType[*coded](err); ok {
		return WithCode(c.code, all)
	}
	return all
}

// Reported is a failure that has already been reported; only its exit code is left.
type Reported struct{ Code int }

func (e Reported) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// ExitCode returns the exit code for err, the result of what ran under ctx.
func ExitCode(ctx context.Context, err error) int {
	if err == nil {
		return ExitOK
	}
	var interrupted Signal
	if errors.Is(err, ErrGone) || errors.As(err, &interrupted) || errors.As(context.Cause(ctx), &interrupted) {
		return ExitInterrupted
	}
	if c, ok := errors.AsType[*coded](err); ok {
		return c.code
	}
	if c, ok := errors.AsType[Reported](err); ok {
		return c.Code
	}
	return ExitFailure
}
