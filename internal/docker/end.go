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
	killTimeout = 10 * time.Second       // from SIGKILL until the engine must have reported the end
	drain       = 2 * time.Second        // for the rest of the log after the end
	oomPatience = 300 * time.Millisecond // from the end of a container until its reason must have been reported
	lostAfter   = 5 * time.Second        // an engine that cannot be asked for so long is taken for gone
)

func (c *Container) wait(ctx context.Context) {
	exit, err := c.end(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return // stopped without being able to tell: Stop says so
		}
		exit = bench.Exit{At: time.Now(), Code: -1, EngineLost: !errors.Is(err, errGone)}
		c.logs.Add(bench.LogLine{At: exit.At, Stream: "stderr", Text: "locbench: lost sight of the container: " + err.Error()})
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
		if lost.IsZero() { // an engine that comes back is asked first: the container may have been started again meanwhile
			wait := c.engine.cli.ContainerWait(ctx, c.id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
			select {
			case <-wait.Result:
			case err = <-wait.Error:
			}
		}
		if ctx.Err() != nil {
			return bench.Exit{}, ctx.Err()
		}
		// The state tells more than the answer (the OOM flag), and whether a broken wait meant an
		// end or a broken connection.
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

// outOfMemory reports whether the kernel has killed a container for want of memory. The flag of the state
// is lost where the engine has heard of the end before it heard of the reason: then the kernel's own log
// knows, where it may be read, and as a rule the engine's event log does, soon after.
func (c *Container) outOfMemory(ctx context.Context) bool {
	if killed, _ := kernelKilled(c.id); killed {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, lostAfter)
	defer cancel()
	until := time.Now().Add(c.ahead + oomPatience)
	remembered := c.engine.cli.Events(ctx, client.EventsListOptions{
		Since:   "1", // all that it remembers
		Until:   fmt.Sprintf("%d.%09d", until.Unix(), until.Nanosecond()),
		Filters: client.Filters{}.Add("type", "container").Add("container", c.id).Add("event", string(events.ActionOOM)),
	})
	select {
	case <-remembered.Messages:
		return true
	case <-remembered.Err:
		return false
	}
}

// errGone is wrapped where nobody can tell any more how the container's process has ended.
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
	exit = bench.Exit{At: c.engineTime(s.FinishedAt), Code: s.ExitCode, OOMKilled: s.OOMKilled, Signal: signalName(s.ExitCode)}
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
		ctx, cancel := detached(ctx, grace+killTimeout+cleanupTimeout)
		defer cancel()
		c.stopped, c.stopErr = c.terminate(ctx, grace)
		if err := c.remove(ctx); err != nil {
			c.stopErr = errors.Join(c.stopErr, err)
		}
		c.finish()
	})
	return c.stopped, c.stopErr
}

func (c *Container) terminate(ctx context.Context, grace time.Duration) (r bench.StopResult, err error) {
	select {
	case <-c.exited:
		return bench.StopResult{Already: true, Exit: *c.Exit()}, nil
	default:
	}
	asked := time.Now()
	c.asked.Store(true)
	if err := c.kill(ctx, "SIGTERM"); err != nil {
		return r, err
	}
	over := time.NewTimer(grace)
	defer over.Stop()
	select {
	case <-c.exited:
	case <-bench.Forced(ctx):
		r.Killed, r.Forced = true, true
	case <-over.C:
		r.Killed = true
	}
	if r.Killed {
		if err := c.kill(ctx, "SIGKILL"); err != nil {
			return r, err
		}
		select {
		case <-c.exited:
		case <-time.After(killTimeout):
			return r, fmt.Errorf("container %.12s runs on %v after SIGKILL", c.id, killTimeout)
		}
	}
	r.Exit = *c.Exit()
	r.Took = time.Since(asked)
	// The engine tells of an end after it has cleaned up behind it; its own time of the end is
	// nearer to the truth.
	if d := r.Exit.At.Sub(asked); d > 0 && d < r.Took {
		r.Took = d
	}
	r.Graceful = !r.Killed && r.Exit.Code == 0
	return r, nil
}

func (c *Container) kill(ctx context.Context, signal string) error {
	_, err := c.engine.cli.ContainerKill(ctx, c.id, client.ContainerKillOptions{Signal: signal})
	if err == nil || errdefs.IsNotFound(err) || errdefs.IsConflict(err) { // conflict: it is not running any more
		return nil
	}
	return fmt.Errorf("send %s to container %.12s: %w", signal, c.id, err)
}

var signals = map[int]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
	11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM",
}

// signalName names the signal that an exit code of 128 + n stands for, "" for others. Docker tells
// the code alone, so a process that ends with such a code of its own accord (as a JVM does after
// SIGTERM: 143) looks the same.
func signalName(code int) string { return signals[code-128] }
