package contender

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"locbench/internal/launch"
)

// pipeDelay is how long a command that has ended is waited for to close its output: a daemon that
// it left behind holds it open.
const pipeDelay = 2 * time.Second

// run tells a build command on o.Out, runs it in dir with env besides this process's environment,
// and hands on what it writes. Nothing that it starts outlives it. The error holds the end of the
// output.
func run(ctx context.Context, o BuildOptions, dir string, argv []string, env ...string) error {
	line := strings.Join(argv, " ")
	fmt.Fprintf(o.out(), "+ %s\n", line)
	end := &tail{max: 2000}
	w := &together{io.MultiWriter(end, o.out())}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, append(os.Environ(), env...), w, w, pipeDelay
	err := launch.Helper{Run: o.Run, Groups: o.Groups}.Do(ctx, cmd)
	text := strings.TrimSpace(end.String())
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("run %s: %w", argv[0], context.Cause(ctx))
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("run %s: it is not installed here, or not in PATH; --runtime docker needs no toolchain", argv[0])
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case text != "":
		return fmt.Errorf("run %s: %w; it said last:\n%s", line, err, text)
	}
	return fmt.Errorf("run %s: %w", line, err)
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
