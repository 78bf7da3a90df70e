package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/events"
	"github.com/moby/moby/client"

	"locbench/internal/bench"
)

const (
	drain       = 2 * time.Second        // for the rest of the log after the end
	oomPatience = 300 * time.Millisecond // from the end of a container until its reason must have been reported
	lostAfter   = 5 * time.Second        // an engine that cannot be asked for so long is taken for gone
)

func (c *Container) wait(ctx context.Context) {
	exit, err := c.end(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return // stopped, and how it ended is not known: Stop says so
		}
		exit = bench.Exit{At: time.Now(), Code: -1, EngineLost: !errors.Is(err, errGone)}
		text := "locbench: lost sight of the container: " + err.Error()
		c.logs.Add(bench.LogLine{At: exit.At, Stream: "stderr", Text: text})
	} else {
		select {
		case <-c.copied:
		case <-time.After(drain):
		}
	}
	c.exit.Store(&exit)
	close(c.exited)
}

// end blocks until the main process has ended.
func (c *Container) end(ctx context.Context) (bench.Exit, error) {
	var lost time.Time
	away := false
	for {
		var err error
		if lost.IsZero() { // an engine that is back is asked first: the container may have been started again
			ended := client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning}
			wait := c.engine.cli.ContainerWait(ctx, c.id, ended)
			select {
			case <-wait.Result:
			case err = <-wait.Error:
			}
		}
		if ctx.Err() != nil {
			return bench.Exit{}, ctx.Err()
		}
		// The state says more than the response (the OOM flag), and whether a broken wait meant an end or
		// a broken connection.
		exit, running, stateErr := c.state(ctx)
		switch {
		case stateErr == nil && !running:
			if exit.Signal == "SIGKILL" && !c.asked.Load() {
				exit.OOMKilled = exit.OOMKilled || c.outOfMemory(ctx)
			}
			exit.EngineLost = away
			return exit, nil
		case errors.Is(stateErr, errGone):
			return exit, stateErr
		case stateErr == nil:
			lost = time.Time{}
		case lost.IsZero():
			lost, away = time.Now(), true
		case time.Since(lost) > lostAfter:
			return exit, errors.Join(err, stateErr)
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// outOfMemory reports whether the kernel has killed a container for lack of memory. The flag of the state
// is lost where the engine has heard of the end before it heard of the reason: then the kernel's own log
// knows, where it may be read, and as a rule the engine's event log does, soon after.
func (c *Container) outOfMemory(ctx context.Context) bool {
	if killed, _ := kernelKilled(c.id); killed {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, lostAfter)
	defer cancel()
	all := client.EventsListOptions{Since: "1", Until: unixTime(time.Now().Add(c.ahead + oomPatience))}
	remembered := c.events(ctx, all, events.ActionOOM)
	select {
	case <-remembered.Messages:
		return true
	case <-remembered.Err:
		return false
	}
}

// errGone is wrapped where nobody knows any more how the container's process has ended.
var errGone = errors.New("its first process is gone")

func (c *Container) state(ctx context.Context) (exit bench.Exit, running bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, lostAfter)
	defer cancel()
	raw, err := c.engine.cli.ContainerInspect(ctx, c.id, client.ContainerInspectOptions{})
	if errdefs.IsNotFound(err) {
		return exit, false, fmt.Errorf("%w: there is no such container any more", errGone)
	}
	if err != nil {
		return exit, false, err
	}
	s := raw.Container.State
	if s.StartedAt != c.started { // whether it runs or has ended again
		return exit, false, fmt.Errorf("%w: the container was started again", errGone)
	}
	if s.Running || s.Status == container.StateCreated {
		return exit, true, nil
	}
	exit = bench.Exit{At: c.engineTime(s.FinishedAt), Code: s.ExitCode, OOMKilled: s.OOMKilled}
	exit.Signal = signalName(s.ExitCode)
	if exit.At.IsZero() {
		exit.At = time.Now()
	}
	return exit, false, nil
}

// Stop sends SIGTERM, SIGKILL after grace (or as soon as bench.Forced says so), and removes the
// container. It works with a ctx that has been cancelled, and returns the same result again when it
// is called again.
func (c *Container) Stop(ctx context.Context, grace time.Duration) (bench.StopResult, error) {
	c.stop.Do(func() {
		ctx, cancel := detached(ctx, grace+bench.KillTimeout+cleanupTimeout)
		defer cancel()
		c.stopped, c.stopErr = c.terminate(ctx, grace)
		if err := c.remove(ctx); err != nil {
			c.stopErr = errors.Join(c.stopErr, err)
		}
		c.finish()
	})
	return c.stopped, c.stopErr
}

func (c *Container) terminate(ctx context.Context, grace time.Duration) (bench.StopResult, error) {
	ask := func() error {
		c.asked.Store(true)
		return c.kill(ctx, "SIGTERM")
	}
	kill := func() error { return c.kill(ctx, "SIGKILL") }
	r, err := bench.Terminate(ctx, grace, c.exited, c.Exit, ask, kill)
	if err != nil {
		err = fmt.Errorf("container %.12s: %w", c.id, err)
	}
	return r, err
}

func (c *Container) kill(ctx context.Context, signal string) error {
	_, err := c.engine.cli.ContainerKill(ctx, c.id, client.ContainerKillOptions{Signal: signal})
	if err == nil || errdefs.IsNotFound(err) || errdefs.IsConflict(err) { // conflict: it is not running any more
		return nil
	}
	return fmt.Errorf("send %s: %w", signal, err)
}

var signals = map[int]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
	11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM",
}

// signalName names the signal that an exit code of 128 + n stands for, "" for others. Docker reports
// the code alone, so a process that ends with such a code by itself (as a JVM does after SIGTERM: 143)
// looks the same.
func signalName(code int) string { return signals[code-128] }
