package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/sample"
	"locbench/internal/verdict"
)

// lastLines is how much of a contender's log goes into the record of a leg that went wrong.
const lastLines = 20

// leg runs one life of one contender. Its failure is returned, and published as LegEnded in any
// case. With a slot it takes turns with others.
func (r *runner) leg(ctx context.Context, leg bench.Leg, number int, slot *slot) error {
	sel := selection(leg)
	l := &life{runner: r, leg: &leg, slot: slot, svc: r.Services[sel], artifact: r.artifacts[sel], isLast: r.lastLeg(number - 1)}
	own, end := context.WithCancelCause(ctx)
	defer end(nil)
	r.steering.beginLeg(l.leg, bench.LegStarted{Number: number, Of: len(r.Run.Legs), Service: l.svc, Artifact: l.artifact}, end)
	err := r.broken[sel]
	if err != nil {
		err = fmt.Errorf("build: %w", err)
	} else if round := r.mute[sel]; round > 0 && !r.KeepGoing {
		err = fmt.Errorf("not tried: it never became ready in round %d (--keep-going tries it in every round)", round)
	} else {
		l.countStore(own, "before this leg")
		err = l.live(own)
		l.countStore(own, "in the course of this leg")
	}
	r.steering.finishLeg(r.lastLeg(number - 1))
	state, failure := bench.LegAborted, ""
	switch cause := context.Cause(own); {
	case errors.Is(cause, errStopped) || errors.Is(err, errStopped):
		err = fmt.Errorf("%w after step %d", errStopped, len(l.steps))
		if len(l.steps) == 0 {
			err = fmt.Errorf("%w before its first step", errStopped)
		}
	case ctx.Err() != nil:
		failure = interruption(cause)
	case errors.Is(cause, errSkipped):
		err = errSkipped
	case errors.Is(err, ErrThreshold) && l.died == nil:
		failure = err.Error()
	case err != nil:
		state = bench.LegFailed
	case len(l.skipped) == 1:
		err = fmt.Errorf("step %s was %s", l.skipped[0], bench.AbortedSkipped)
	case len(l.skipped) > 0:
		err = fmt.Errorf("steps %s were %s", strings.Join(l.skipped, ", "), bench.AbortedSkipped)
	default:
		state = bench.LegComplete
	}
	ended := bench.LegEnded{State: state, Failure: failure, Unsound: r.Run.Judge(bench.LegResult{Checks: l.checks, Steps: l.steps})}
	if state != bench.LegComplete {
		if failure == "" {
			ended.Failure = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		if l.inst != nil {
			logs := l.inst.Logs()
			ended.Exit, ended.LastLog = l.died, logs[max(0, len(logs)-lastLines):]
		}
		ended.Lost = l.lost()
	}
	if state == bench.LegFailed {
		ended.Failure = l.engineGone(ctx, ended.Failure)
	}
	r.sofar.Legs[number-1].State = ended.State
	r.Stream.Publish(l.leg, ended)
	return err
}

type life struct {
	*runner
	leg      *bench.Leg
	svc      bench.Service
	artifact bench.Artifact
	inst     bench.Instance
	slot     *slot       // nil: nobody else is alive
	still    Stalls      // while the load runs
	died     *bench.Exit // how it ended, if it did before it was asked to
	checks   []bench.CheckResult
	steps    []bench.StepResult // that have been run, the skipped ones among them
	skipped  []string           // "3 (64 connections)"
	isLast   bool               // no leg comes after it
	cut      *bench.StepResult  // the step that was ended early, if one was
	failedIn bench.Phase        // the first phase that went wrong

	incidents incidents
}

// interruption tells why everything ends, once: most causes say themselves that they interrupt.
func interruption(cause error) string {
	text := cause.Error()
	if errors.Is(cause, ErrOnRequest) || strings.HasPrefix(text, "interrupted") {
		return text
	}
	return "interrupted: " + text
}

func (l *life) live(ctx context.Context) (err error) {
	var spec bench.LaunchSpec
	err = l.phase(l.leg, bench.PhaseCheck, func() (string, error) {
		spec, err := l.Spec(l.leg.String(), l.svc, l.artifact)
		if err == nil {
			err = l.Checks.Launching(ctx, l.Launcher, spec, l.svc, l.checkDone)
		}
		return "lifecycle", err
	})
	if err != nil {
		return err
	}
	logs := &logRelay{publish: func(e bench.LogLines) { l.Stream.Publish(l.leg, e) }}
	defer logs.close()
	err = l.phase(l.leg, bench.PhaseLaunch, func() (_ string, err error) {
		if spec, err = l.Spec(l.leg.String(), l.svc, l.artifact); err != nil {
			return "", err
		}
		spec.OnLog, spec.OnIncident = logs.add, l.reportIncident
		l.inst, err = l.Launcher.Launch(ctx, spec)
		return "", err
	})
	if err != nil {
		return err
	}
	// Whatever happens from here on, the instance is stopped and its end is published.
	defer func() {
		l.steering.closing()
		if exit := l.inst.Exit(); exit != nil {
			l.died = exit
		}
		err = errors.Join(err, l.stop(ctx))
	}()
	info := l.inst.Info()
	l.launched = true
	l.Stream.Publish(l.leg, bench.InstanceStarted{Info: info})
	switch {
	case info.Runtime.Traits().Foreign: // what limits it is not ours to say
	case !info.LimitsEnforced:
		l.warn(bench.Finding{Kind: bench.FoundUnlimited, Text: "LIMITS NOT ENFORCED: " + info.LimitsNote})
	case info.LimitsNote != "":
		l.notice("warning", info.LimitsNote)
	}
	if more := info.Privileges.String(); more != "" {
		l.warn(bench.Finding{Kind: bench.FoundPrivileged, Text: "its manifest asks for more than contenders have by default: " + more})
	}
	if err := l.phase(l.leg, bench.PhaseReady, func() (string, error) { return "", l.ready(ctx) }); err != nil {
		return err
	}
	l.mark(ctx, "after start-up")
	if err := l.firstRequests(ctx); err != nil {
		return err
	}
	err = l.phase(l.leg, bench.PhaseCheck, func() (string, error) {
		return "answers", l.Checks.Running(ctx, l.inst, spec, l.svc, l.checkDone)
	})
	if err != nil {
		return l.orDeath(err)
	}
	if err := l.ask(ctx); err != nil {
		return l.orDeath(err)
	}
	l.mark(ctx, "after checks")
	if err := l.phase(l.leg, bench.PhaseLoad, func() (string, error) { return "", l.load(ctx) }); err != nil {
		return err
	}
	for _, c := range l.Checks.Alive(ctx, l.inst, l.svc) {
		l.checkDone(c)
	}
	return l.orDeath(nil)
}

func (l *life) ready(ctx context.Context) error {
	sel := selection(*l.leg)
	up, err := l.Ready(ctx, l.inst, l.svc, func(level, text string) {
		if level == "" {
			l.Stream.Publish(l.leg, bench.Progress{Phase: bench.PhaseReady, Text: clip(text, progressBytes)})
			return
		}
		l.notice(level, text)
	})
	if err != nil {
		because := l.because(ctx, err)
		// Only what it does by itself will be the same in its next life.
		if !l.answered[sel] && because == err && ctx.Err() == nil && l.inst.Exit() == nil && len(l.incidents.inStep(false)) == 0 {
			l.mute[sel] = l.leg.Round
		}
		return because
	}
	l.answered[sel] = true
	l.Stream.Publish(l.leg, up)
	return nil
}

// ask ends the life of a contender that does not answer what the load would ask.
func (l *life) ask(ctx context.Context) error {
	if l.Ask == nil {
		return nil
	}
	err := l.Ask(ctx, l.inst.BaseURL())
	if err == nil || ctx.Err() != nil || !l.Run.AcceptFailedChecks {
		return err
	}
	l.notice("warning", err.Error()+" (accepted by --accept-failed-checks)")
	return nil
}

// stop ends the instance even if ctx has been cancelled: an interrupted run must not leave
// containers. One that somebody else has started is let go without a word.
func (l *life) stop(ctx context.Context) error {
	if l.inst.Info().Runtime.Traits().Foreign {
		_, err := l.inst.Stop(context.WithoutCancel(ctx), l.Grace)
		return err
	}
	return l.phase(l.leg, bench.PhaseStop, func() (string, error) {
		stop, err := l.inst.Stop(context.WithoutCancel(ctx), l.Grace)
		if err != nil {
			err = fmt.Errorf("stop: %w", err)
			l.notice("error", err.Error()) // even an interrupted and quiet run must not hide what may still be there
			return "", err
		}
		l.Stream.Publish(l.leg, bench.InstanceStopped{Stop: stop})
		if stop.Forced {
			return "killed, since the end was asked for by force", nil // it tells nothing of the contender
		}
		if stop.Killed {
			l.warn(verdict.Hung(l.Grace))
		}
		for _, c := range l.Checks.Stopped(stop) {
			l.checkDone(c)
		}
		if l.died != nil || !stop.Already && !stop.Exit.OOMKilled {
			return "", nil
		}
		l.died = &stop.Exit
		if stop.Already { // in the last moment, which nobody else has noticed
			return "", fmt.Errorf("the contender had died before it was stopped: %s", stop.Exit)
		}
		// It has fought for memory so long that being asked to stop came first.
		return "", fmt.Errorf("the contender ran out of memory while it was stopped: %s", stop.Exit)
	})
}

// orDeath turns err into the death of the instance if it has died: that is the better explanation.
func (l *life) orDeath(err error) error {
	if exit := l.inst.Exit(); exit != nil {
		return fmt.Errorf("%s: %s", bench.AbortedDied, exit)
	}
	return err
}

func (l *life) mark(ctx context.Context, name string) {
	// A target that was not started by us has no counters; whoever comes next reports a death.
	if u, err := sample.Read(ctx, l.inst); err == nil {
		l.Stream.Publish(l.leg, bench.MarkRead{Mark: bench.Mark{Name: name, Usage: *u}})
	}
}

func (l *life) checkDone(c bench.CheckResult) {
	l.checks = append(l.checks, c)
	l.Stream.Publish(l.leg, bench.CheckDone{Check: c})
}

func (l *life) warn(f bench.Finding) { l.Stream.Publish(l.leg, bench.Warn(f)) }

func (l *life) notice(level, text string) {
	l.Stream.Publish(l.leg, bench.Notice{Level: level, Text: text})
}
