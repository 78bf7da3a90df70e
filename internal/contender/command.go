package contender

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// command is a build command in a process group of its own, so that nothing it starts outlives it.
type command struct {
	dir  string
	argv []string
	env  []string
	out  io.Writer
}

// pipeDelay is how long a command that has ended is waited for to close its output: a daemon that
// it left behind holds it open.
const pipeDelay = 2 * time.Second

// run tells the command on out, runs it, and hands on what it writes. Its error holds the end of
// the output.
func (c command) run(ctx context.Context) error {
	fmt.Fprintf(c.out, "+ %s\n", strings.Join(c.argv, " "))
	end := &tail{max: 2000}
	w := &together{io.MultiWriter(end, c.out)}
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = c.dir, c.env, w, w, pipeDelay
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("run %s: it is not installed here, or not in PATH; --runtime docker needs no toolchain", c.argv[0])
		}
		return fmt.Errorf("run %s: %w", c.argv[0], err)
	}
	err := cmd.Wait()
	killGroup(cmd)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("run %s: %w", c.argv[0], context.Cause(ctx))
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	}
	if text := strings.TrimSpace(end.String()); text != "" {
		return fmt.Errorf("run %s: %w; it said last:\n%s", strings.Join(c.argv, " "), err, text)
	}
	return fmt.Errorf("run %s: %w", strings.Join(c.argv, " "), err)
}

// together is one Writer for stdout and stderr: os/exec then uses one pipe, and one goroutine
// writes.
type together struct{ io.Writer }

// tail keeps the last max bytes that were written to it.
type tail struct {
	max int
	buf []byte
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - t.max; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

// String is what was kept, from the beginning of a line on if something was cut off.
func (t *tail) String() string {
	s := strings.ToValidUTF8(string(t.buf), "")
	if len(t.buf) == t.max {
		if _, rest, ok := strings.Cut(s, "\n"); ok {
			return rest
		}
	}
	return s
}
