package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/text/safe"
)

// stop stops the instance even if ctx is canceled: an interrupted run must not leave containers.
// One that handles SIGTERM and does not stop fails its trial, unless the trial has failed before.
func (l *trialRun) stop(ctx context.Context, failed bool) error {
	if l.isTarget() {
		_, err := l.inst.Stop(context.WithoutCancel(ctx), l.cfg.Grace)
		return err
	}
	return l.phase(bench.PhaseStop, func() (string, error) {
		grace, known := l.cfg.Grace, l.ignoresStop()
		if known {
			grace = 0
		}
		stop, err := l.inst.Stop(context.WithoutCancel(ctx), grace)
		if err != nil {
			err = fmt.Errorf("stop: %w", err)
			l.notice("error", err.Error()) // shown in an interrupted or quiet run too: the contender may still run
			return "", err
		}
		stop.Forced = stop.Forced || known && stop.Killed
		l.publish(bench.InstanceStopped{Stop: stop})
		if known && stop.Killed && !stop.Exit.OOMKilled {
			return "killed at once: " + stop.SignalName() + " was ignored in an earlier round", nil
		}
		if stop.Forced {
			return "killed: stop was forced", nil // no warning: the contender had no time to stop
		}
		hung := stop.Killed && stop.Handled && !failed && ctx.Err() == nil && l.unanswered == nil
		if stop.Killed && !hung {
			l.warn(verdict.Hung(l.cfg.Grace, stop.SignalName(), !stop.Handled && l.inst.Info().Runtime.Traits().Container && !l.checksStop()))
			l.deaf[selection(*l.trial)] = !stop.Handled
		}
		if stop.Killed && l.unanswered != nil {
			return "", silent("did not respond to the teardown, did not stop on %s and was killed (SIGKILL): %v", stop.SignalName(), l.unanswered)
		}
		for _, c := range l.cfg.Checker.Stopped(stop) {
			l.checkDone(c)
		}
		if hung {
			return "", causeError{bench.Cause{Kind: bench.CauseHung, Text: fmt.Sprintf(
				"did not stop within %s of %s, which it handles, and was killed (SIGKILL)", l.cfg.Grace, stop.SignalName())}}
		}
		if l.died != nil || !stop.ExitedBeforeStop && !stop.Exit.OOMKilled {
			return "", nil
		}
		l.died = l.explained(&stop.Exit)
		if stop.ExitedBeforeStop { // after the last check that it still runs
			return "", fmt.Errorf("the contender exited before it was stopped: %s", stop.Exit)
		}
		// The kernel killed it only after the stop had begun.
		return "", fmt.Errorf("the contender ran out of memory while stopping: %s", stop.Exit)
	})
}

// ignoresStop reports whether the contender ignored SIGTERM in an earlier round, and its stop is
// neither checked nor needed to find out whether it hangs.
func (l *trialRun) ignoresStop() bool {
	return l.deaf[selection(*l.trial)] && !l.checksStop() && l.unanswered == nil
}

// checksStop reports whether a check times the stop. It then has the remedy for SIGTERM ignored.
func (l *trialRun) checksStop() bool {
	return slices.Contains(l.cfg.Run.Profile.Checks.Lifecycle, bench.CheckStops)
}

// orExit returns the exit of the instance if it has exited, since that explains err; else err.
func (l *trialRun) orExit(ctx context.Context, err error) error {
	l.awaitExit(ctx, err)
	if exit := l.inst.Exit(); exit != nil {
		return l.exitError(exit)
	}
	return err
}

// causeError is the failure of a trial that the contender did not complete.
type causeError struct{ bench.Cause }

func (e causeError) Error() string { return e.String() }

func (l *trialRun) exitError(exit *bench.Exit) causeError {
	info := l.inst.Info()
	return causeError{*bench.CauseOf(*l.explained(exit), &info)}
}

// cause returns why the contender, or a need, failed the trial with err; nil if neither did.
func (l *trialRun) cause(err error) *bench.Cause {
	if l.lostNeed != nil {
		return l.lostNeed
	}
	if l.died != nil {
		return new(l.exitError(l.died).Cause)
	}
	if e, ok := errors.AsType[causeError](err); ok {
		return &e.Cause
	}
	return nil
}

// explained returns exit with what the contender's log says about it. The kernel gives a program
// that it kills no time to say anything.
func (l *trialRun) explained(exit *bench.Exit) *bench.Exit {
	e := *exit
	if e.Signal != "SIGKILL" && !e.OOMKilled {
		e.Said = l.said()
	}
	return &e
}

// said returns the line of the log that most likely says why the contender failed; "" if none does.
func (l *trialRun) said() string {
	line := bench.LogLine{Text: safe.Telling(l.logs.excerpt(l.inst.Logs()))}
	if l.logs.masked != nil { // masked first: a secret across the cut would not be found
		line = l.logs.masked(line)
	}
	return safe.Line(line.Text, saidBytes)
}
