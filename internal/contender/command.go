package contender

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/launch"
	"github.com/locbench/locbench/internal/text/safe"
)

const (
	pipeDelay = 2 * time.Second // after a command has exited: a daemon that it left may hold its output open
	lastLines = 20              // lines of output in an error
)

// run writes a build command to o.Out, runs it in dir with env on top of this process's
// environment, and copies its output. No child outlives it. An error has the last lines of the
// output.
func run(ctx context.Context, o BuildOptions, dir string, argv []string, env ...string) error {
	line := strings.Join(argv, " ")
	fmt.Fprintf(o.out(), "+ %s\n", line)
	last := safe.Ring{Size: lastLines}
	var text strings.Builder
	w := safe.NewLineWriter("", time.Now, func(l bench.LogLine) {
		last.Add(l)
		fmt.Fprintln(o.out(), l.Text)
	})
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(os.Environ(), env...), pipeDelay
	cmd.Stdout, cmd.Stderr = w, w // equal, so os/exec uses one pipe and one goroutine
	err := launch.Helper{Run: o.Run, Groups: o.Groups}.Do(ctx, cmd)
	w.Flush()
	for _, l := range last.Lines() {
		text.WriteString("\n" + l.Text)
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("run %s: %w", argv[0], context.Cause(ctx))
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("run %s: not found in PATH; install it, or use --runtime docker", argv[0])
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case text.Len() > 0:
		return fmt.Errorf("run %s: %w; last output:%s", line, err, text.String())
	}
	return fmt.Errorf("run %s: %w", line, err)
}
