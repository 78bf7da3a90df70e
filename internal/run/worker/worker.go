// Package worker runs a benchmark in its own process, controlled by the session of a screen.
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

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

// Flag makes "locbench run" a worker: the process of a run that a screen watches. Standard input
// has controls, one bench.Control per line as JSON; its end means that the screen is gone, unless
// {"kind":"detach"} was the last line: then the run continues without a screen. Standard output
// gets one line, {"dir":"results/…"}, when the results folder with the events exists. Standard
// error gets only warnings and the error.
const Flag = "--controlled"

const (
	controlLine = safe.MaxLine // bytes of a line; a longer one is not a control
	badControls = 10           // lines reported although they are not controls
)

// detach is the kind of the line after which a run needs no screen. It does not control the run.
const detach bench.ControlKind = "detach"

// ErrScreenGone is the cause of the end of a worker whose screen is gone.
var ErrScreenGone = errors.New("the screen is gone")

// announcement is the line on a worker's standard output.
type announcement struct {
	Dir string `json:"dir"`
}

// Run runs do as a worker, with the controls from standard input.
func Run(ctx context.Context, env console.Env, do func(context.Context, <-chan bench.Control) error) error {
	if f, ok := env.Stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return console.Usagef("%s is for a run that another locbench controls; omit it in a terminal", Flag)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	in, wake := wakeable(env.Stdin)
	done := make(chan struct{})
	controls := make(chan bench.Control)
	var wg sync.WaitGroup
	wg.Go(func() {
		if readControls(in, controls, done) {
			silence(env)
			return
		}
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

// readControls sends the controls in r until its end or done; an incomplete last line is dropped.
// The first badControls lines that are not controls are sent with an unknown kind, so the run
// reports them. detached reports whether the screen has let the run continue.
func readControls(r io.Reader, controls chan<- bench.Control, done <-chan struct{}) (detached bool) {
	bad := 0
	_, _ = io.Copy(safe.NewLineWriter("", time.Now, func(l bench.LogLine) {
		c, ok := control([]byte(l.Text))
		if c.Kind == detach {
			detached = true
			return
		}
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
	return detached
}

// silence sends what is still written to the pipes of a screen that is gone to nowhere.
func silence(env console.Env) {
	null, err := os.Create(os.DevNull)
	if err != nil {
		return // writing fails then, which a run survives
	}
	defer null.Close()
	for _, w := range []io.Writer{env.Stdout, env.Stderr} {
		if f, ok := w.(*os.File); ok {
			redirect(f, null)
		}
	}
}

func control(line []byte) (c bench.Control, ok bool) {
	line = bytes.TrimSpace(line)
	if err := json.Unmarshal(line, &c); err != nil {
		return bench.Control{Kind: bench.ControlKind("unreadable: " + string(line[:min(len(line), 80)]))}, false
	}
	return c, c.Validate() == nil
}

// Announce writes the line with the results folder for the screen.
func Announce(w io.Writer, dir string) error {
	line, err := json.Marshal(announcement{dir})
	if err == nil {
		_, err = w.Write(append(safe.JSON(line), '\n'))
	}
	if err != nil {
		return fmt.Errorf("announce the results folder: %w", err)
	}
	return nil
}

// WithoutFlag returns the command without Flag, as a user writes it.
func WithoutFlag(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == Flag })
}

func closer(r io.Reader) func() bool {
	return func() bool {
		c, ok := r.(io.Closer)
		return !ok || c.Close() == nil
	}
}
