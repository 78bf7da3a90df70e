package contender

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/contender/launch"
	"locbench/internal/text/safe"
)

const (
	pipeDelay = 2 * time.Second // for a command that has ended to close its output: a daemon that it left holds it open
	lastLines = 20              // of its output that an error has
)

// run writes a build command to o.Out, runs it in dir with env on top of this process's environment,
// and passes its output on. Nothing that it starts outlives it. The error has the end of the output.
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
	cmd.Stdout, cmd.Stderr = w, w // the same, for which os/exec has one pipe and one goroutine
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
