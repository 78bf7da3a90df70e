// Package worker is a run in its own process, and the session of the screen that steers it.
package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/term"

	"locbench/internal/bench"
	"locbench/internal/text/console"
	"locbench/internal/text/safe"
)

// A run that is watched on a screen runs in its own process, the worker: "locbench run
// --controlled". It takes controls from standard input, one bench.Control in JSON a line; the end
// of that file means that the screen is gone. Standard output gets one line, {"dir":"results/…"},
// as soon as the results folder is there; the events are in there. Standard error gets warnings and
// the error alone.
const Flag = "--controlled"

const (
	controlLine = safe.MaxLine // bytes of one line; a longer one is not a control
	badControls = 10           // lines that are not controls and answered all the same
)

// ErrScreenGone is the cause of the end of a worker that nobody watches any more.
var ErrScreenGone = errors.New("the screen is gone")

// announcement is the line on a worker's standard output.
type announcement struct {
	Dir string `json:"dir"`
}

// Run runs a worker: do, with what is asked of it on standard input.
func Run(ctx context.Context, env console.Env, do func(context.Context, <-chan bench.Control) error) error {
	if f, ok := env.Stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return console.Usagef("%s is for a run that another locbench steers, not for a terminal", Flag)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	in, wake := wakeable(env.Stdin)
	done := make(chan struct{})
	controls := make(chan bench.Control)
	var wg sync.WaitGroup
	wg.Go(func() {
		readControls(in, controls, done)
		cancel(ErrScreenGone)
	})
	err := do(ctx, controls)
	gone := errors.Is(context.Cause(ctx), ErrScreenGone)
	close(done)
	if wake() {
		wg.Wait()
	}
	if gone && err != nil && console.ExitCode(ctx, err) != console.ExitInterrupted {
		return console.WithCode(console.ExitInterrupted, fmt.Errorf("%w: %w", ErrScreenGone, err))
	}
	return err
}

// readControls hands on what r says until its end; half a line was never said. A line that is not a control is
// handed on as one of an unknown kind, so the run answers it, but not for ever. Once done is closed nothing is
// handed on.
func readControls(r io.Reader, controls chan<- bench.Control, done <-chan struct{}) {
	bad := 0
	_, _ = io.Copy(safe.NewLineWriter("", time.Now, func(l bench.LogLine) {
		c, ok := control([]byte(l.Text))
		if !ok {
			if bad++; bad > badControls {
				return
			}
		}
		select {
		case controls <- c:
		case <-done:
		}
	}), r)
}

func control(line []byte) (c bench.Control, ok bool) {
	line = bytes.TrimSpace(line)
	if err := json.Unmarshal(line, &c); err != nil {
		return bench.Control{Kind: bench.ControlKind("unreadable: " + string(line[:min(len(line), 80)]))}, false
	}
	return c, c.Validate() == nil
}

// Announce says the screen where the results are.
func Announce(w io.Writer, dir string) error {
	line, err := json.Marshal(announcement{dir})
	if err == nil {
		_, err = w.Write(append(safe.JSON(line), '\n'))
	}
	if err != nil {
		return fmt.Errorf("tell the screen where the results are: %w", err)
	}
	return nil
}

// WithoutFlag returns the command as the user would give it.
func WithoutFlag(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == Flag })
}

func closer(r io.Reader) func() bool {
	return func() bool {
		c, ok := r.(io.Closer)
		return !ok || c.Close() == nil
	}
}
