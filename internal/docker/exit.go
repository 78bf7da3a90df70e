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

	"github.com/locbench/locbench/internal/bench"
)

const (
	drain       = 2 * time.Second        // for the rest of the log after the exit
	oomPatience = 300 * time.Millisecond // from the exit until the engine must have reported an OOM kill
	lostAfter   = 5 * time.Second        // after it an engine that does not respond counts as gone
	engineEnds  = 500 * time.Millisecond // from the exit until an engine that stops does not respond
)

func (c *Container) wait(ctx context.Context) {
	exit, err := c.end(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return // stopped, exit unknown: Stop reports it
		}
		exit = bench.Exit{At: time.Now(), Code: -1, EngineLost: !errors.Is(err, errGone)}
		text := "locbench: lost contact with the container: " + err.Error()
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

// end waits until the main process has exited, and returns how.
func (c *Container) end(ctx context.Context) (bench.Exit, error) {
	var lost time.Time
	away := false
	for {
		var err error
		if lost.IsZero() { // after an outage the state comes first: the container may have been restarted
			err = c.mayHaveEnded(ctx)
		}
		if ctx.Err() != nil {
			return bench.Exit{}, ctx.Err()
		}
		// The state has the OOM flag, and shows whether a broken wait means an exit.
		exit, running, stateErr := c.state(ctx)
		switch {
		case stateErr == nil && !running:
			if exit.Signal == "SIGKILL" && !c.stopping.Load() {
				exit.OOMKilled = exit.OOMKilled || c.outOfMemory(ctx)
			}
			exit.EngineLost = away || !c.stopping.Load() && c.engineStops(ctx, exit)
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

// mayHaveEnded returns when the engine reports an exit, or with why it cannot. While such a request waits, Podman
// 4.3.1 takes a whole CPU (it looks without a pause), so there the end of the log is the sign.
func (c *Container) mayHaveEnded(ctx context.Context) error {
	if c.engine.info.Podman {
		select {
		case <-c.copied:
		case <-ctx.Done():
		}
		return nil
	}
	wait := c.engine.cli.ContainerWait(ctx, c.id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case <-wait.Result:
		return nil
	case err := <-wait.Error:
		return err
	}
}

// engineStops reports whether the engine itself stops: it ends its containers first, by their signal
// or SIGKILL, and responds for a moment after that.
func (c *Container) engineStops(ctx context.Context, exit bench.Exit) bool {
	if exit.OOMKilled || exit.Code != 0 && exit.Signal != c.signal && exit.Signal != "SIGKILL" {
		return false
	}
	pause(ctx, engineEnds)
	_, _, err := c.state(ctx)
	return err != nil && !errors.Is(err, errGone) && ctx.Err() == nil
}

// outOfMemory reports whether the kernel killed the container for lack of memory. The state lacks
// the flag if the engine noticed the exit before the reason. Then the kernel's log has it, where it
// can be read, and usually, soon after, the engine's event log.
func (c *Container) outOfMemory(ctx context.Context) bool {
	if killed, _ := kernelKilled(c.id); killed {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, lostAfter)
	defer cancel()
	all := client.EventsListOptions{Since: "1", Until: unixTime(time.Now().Add(c.clockOffset + oomPatience))}
	kills := c.events(ctx, all, events.ActionOOM)
	select {
	case <-kills.Messages:
		return true
	case <-kills.Err:
		return false
	}
}

// errGone is wrapped when the engine no longer knows how the container's process exited.
var errGone = errors.New("first process gone")

func (c *Container) state(ctx context.Context) (exit bench.Exit, running bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, lostAfter)
	defer cancel()
	raw, err := c.engine.cli.ContainerInspect(ctx, c.id, client.ContainerInspectOptions{})
	if errdefs.IsNotFound(err) {
		return exit, false, fmt.Errorf("%w: the container was removed", errGone)
	}
	if err != nil {
		return exit, false, err
	}
	s := raw.Container.State
	if s.StartedAt != c.started { // running or not
		return exit, false, fmt.Errorf("%w: the container was restarted", errGone)
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

// Stop sends the stop signal, then SIGKILL after grace (or as soon as bench.Forced says so), and removes
// the container, even if ctx was canceled. A second call returns the result of the first.
func (c *Container) Stop(ctx context.Context, grace time.Duration) (bench.StopResult, error) {
	c.stop.Do(func() {
		ctx, cancel := detached(ctx, grace+bench.KillTimeout+cleanupTimeout)
		defer cancel()
		c.stopped, c.stopErr = c.terminate(ctx, grace)
		if err := c.remove(ctx); err != nil {
			c.stopErr = errors.Join(c.stopErr, err)
		}
		c.stopErr = WithCleanHint(c.stopErr)
		c.finish()
	})
	return c.stopped, c.stopErr
}

// Kill ends the main process with SIGKILL and removes the container, even if ctx was canceled. It
// does nothing after Stop.
func (c *Container) Kill(ctx context.Context) error {
	c.stop.Do(func() {
		ctx, cancel := detached(ctx, bench.KillTimeout+cleanupTimeout)
		defer cancel()
		c.stopping.Store(true)
		if c.kill(ctx, "SIGKILL") == nil { // otherwise the removal kills it, or reports the same
			select {
			case <-c.exited:
			case <-time.After(bench.KillTimeout):
			}
		}
		c.stopErr = WithCleanHint(c.remove(ctx))
		c.finish()
	})
	return c.stopErr
}

// End sends the container's stop signal, then SIGKILL after grace, and keeps the container. clean
// reports whether the main process has exited by itself, with code 0.
func (c *Container) End(ctx context.Context, grace time.Duration) (clean bool, err error) {
	ctx, cancel := within(ctx, grace+bench.KillTimeout+cleanupTimeout)
	defer cancel()
	c.stopping.Store(true)
	seconds := int((grace + time.Second - 1) / time.Second)
	if _, err = c.engine.cli.ContainerStop(ctx, c.id, client.ContainerStopOptions{Timeout: &seconds}); err == nil {
		select {
		case <-c.exited:
			return c.Exit().Code == 0, nil
		case <-ctx.Done():
		}
	}
	return false, fmt.Errorf("stop container %.12s: %w", c.id, orCause(ctx, err))
}

func (c *Container) terminate(ctx context.Context, grace time.Duration) (bench.StopResult, error) {
	ask := func() error {
		c.stopping.Store(true)
		return c.kill(ctx, c.signal)
	}
	kill := func() error { return c.kill(ctx, "SIGKILL") }
	r, err := bench.Stopping{Exited: c.exited, Exit: c.Exit, Ask: ask, Kill: kill}.Terminate(ctx, grace)
	r = r.By(c.signal)
	if err != nil {
		err = fmt.Errorf("container %.12s: %w", c.id, err)
	}
	return r, err
}

func (c *Container) kill(ctx context.Context, signal string) error {
	_, err := c.engine.cli.ContainerKill(ctx, c.id, client.ContainerKillOptions{Signal: signal})
	if err == nil || errdefs.IsNotFound(err) || errdefs.IsConflict(err) { // conflict: no longer running
		return nil
	}
	return fmt.Errorf("send %s: %w", signal, err)
}

var signals = map[int]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
	11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM",
}

// signalName returns the signal that an exit code of 128 + n stands for, "" for other codes. Docker
// reports only the code, so a process that exits with such a code itself (a JVM after SIGTERM: 143)
// looks the same.
func signalName(code int) string { return signals[code-128] }

// stopSignal returns the signal that stops a container of this configuration.
func stopSignal(config *container.Config) string {
	if config != nil {
		if n := bench.SignalNumber(config.StopSignal); n > 0 {
			return bench.SignalName(n)
		}
	}
	return "SIGTERM"
}
