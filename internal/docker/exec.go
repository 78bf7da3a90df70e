package docker

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"time"

	"github.com/moby/moby/client"

	"github.com/locbench/locbench/internal/text/safe"
)

const (
	maxOutput = 64 << 10              // bytes of the output of a command that are kept
	execPoll  = 10 * time.Millisecond // from the end of the output until the engine knows the exit code
)

// execMark is a variable of the processes of a command, which its children inherit. By its value
// they are found when they have to end.
const execMark = "LOCBENCH_EXEC"

// Exec runs a command in the container until it ends, and returns the last 64 KiB of its output and
// its exit code. If ctx ends before, its processes are killed. heard gets the lines of both streams.
func (c *Container) Exec(ctx context.Context, command []string, heard func(line string)) (output string, code int, err error) {
	mark := rand.Text()
	var out tail
	var stdout, stderr io.Writer = &out, &out
	if heard != nil { // a program may write to one stream within a line of the other
		lines, end := safe.EachLine(heard)
		others, endOthers := safe.EachLine(heard)
		stdout, stderr = io.MultiWriter(&out, lines), io.MultiWriter(&out, others)
		defer end()
		defer endOthers()
	}
	code, err = c.exec(ctx, command, []string{execMark + "=" + mark}, stdout, stderr)
	if ctx.Err() != nil {
		c.endExec(ctx, mark)
	}
	if err != nil {
		err = fmt.Errorf("run %q in container %.12s: %w", command[0], c.id, orCause(ctx, err))
	}
	return string(out), code, err
}

func (c *Container) exec(ctx context.Context, command, env []string, stdout, stderr io.Writer) (code int, err error) {
	cli := c.engine.cli
	created, err := cli.ExecCreate(ctx, c.id, client.ExecCreateOptions{
		Cmd: command, Env: env, AttachStdout: true, AttachStderr: true,
	})
	if err != nil {
		return 0, err
	}
	stream, err := cli.ExecAttach(ctx, created.ID, client.ExecAttachOptions{})
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	stop := context.AfterFunc(ctx, stream.Close)
	defer stop()
	if err := splitFrames(stream.Reader, stdout, stderr); err != nil {
		return 0, err
	}
	for {
		state, err := cli.ExecInspect(ctx, created.ID, client.ExecInspectOptions{})
		if err != nil || !state.Running {
			return state.ExitCode, err
		}
		pause(ctx, execPoll)
	}
}

// endExec kills the processes of a command: the engine has no call for that. Where this process may
// not see or kill them, a shell of the container does it, if it has one.
func (c *Container) endExec(ctx context.Context, mark string) {
	if killMarked(c.id, execMark+"="+mark) {
		return
	}
	ctx, cancel := detached(ctx, lostAfter)
	defer cancel()
	const script = `for again in 1 2; do for p in /proc/[0-9]*; do case "$(cat $p/environ)" in *"$1"*) kill -9 ${p#/proc/};; esac; ` +
		`done; done 2>/dev/null`
	_, _ = c.exec(ctx, []string{"sh", "-c", script, "sh", execMark + "=" + mark}, nil, io.Discard, io.Discard)
}

// tail keeps the last maxOutput bytes that were written to it.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	*t = append((*t)[:0], (*t)[max(0, len(*t)-maxOutput):]...)
	return len(p), nil
}
