package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

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
