package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/figures/verdict"
	"locbench/internal/host/hostusage"
)

// lastLines is how much of a contender's log goes into the record of a trial that went wrong.
const lastLines = 20

// trial runs one trial of one contender. Its failure is returned, and published as TrialEnded in any
// case. With a slot it takes turns with others.
func (r *runner) trial(ctx context.Context, trial bench.Trial, number int, slot *slot) error {
	sel, last := selection(trial), r.lastTrial(number-1)
	l := &trialRun{
		cfg: &r.cfg, steering: r.steering, clock: r.clock, slot: slot, trial: &trial, isLast: last,
		svc: r.cfg.Services[sel], artifact: r.artifacts[sel],
	}
	own, end := context.WithCancelCause(ctx)
	defer end(nil)
	started := bench.TrialStarted{Number: number, Of: len(r.cfg.Run.Trials), Service: l.svc, Artifact: l.artifact}
	r.steering.beginTrial(l.trial, started, end)
	err := r.broken[sel]
	if err != nil {
		err = fmt.Errorf("build: %w", err)
	} else if round := r.neverReady[sel]; round > 0 && !r.cfg.RetryNotReady {
		err = fmt.Errorf("skipped: never ready in round %d (retry each round with --retry-not-ready)", round)
	} else {
		l.countStore(own, "before this trial")
		err = l.run(own)
		l.countStore(own, "during this trial")
	}
	r.steering.finishTrial(last)
	r.launched = r.launched || l.inst != nil
	r.wasReady[sel] = r.wasReady[sel] || l.ready
	if l.silent && !r.wasReady[sel] {
		r.neverReady[sel] = trial.Round
	}
	ended, err := l.outcome(ctx, context.Cause(own), err)
	r.sofar.Trials[number-1].State = ended.State
	l.publish(ended)
	return err
}

// outcome returns how the trial has ended, and its error in the words of the run. cause is what has ended it
// early, ctx that of the run.
func (l *trialRun) outcome(ctx context.Context, cause, err error) (bench.TrialEnded, error) {
	ended := bench.TrialEnded{
		State: bench.TrialAborted, Excluded: l.cfg.Run.ExclusionOf(bench.TrialResult{Checks: l.checks, Steps: l.steps}),
	}
	switch {
	case errors.Is(cause, errStopped) || errors.Is(err, errStopped):
		err = fmt.Errorf("%w after step %d", errStopped, len(l.steps))
		if len(l.steps) == 0 {
			err = fmt.Errorf("%w before its first step", errStopped)
		}
	case ctx.Err() != nil:
		ended.Failure = interruption(cause)
	case errors.Is(cause, errSkipped):
		err = errSkipped
	case errors.Is(err, ErrThreshold) && l.died == nil:
		ended.Failure = err.Error()
	case err != nil:
		ended.State = bench.TrialFailed
	case len(l.skipped) == 1:
		err = fmt.Errorf("step %s was %s", l.skipped[0], bench.AbortedSkipped)
	case len(l.skipped) > 0:
		err = fmt.Errorf("steps %s were %s", strings.Join(l.skipped, ", "), bench.AbortedSkipped)
	default:
		ended.State = bench.TrialComplete
		return ended, nil
	}
	if ended.Failure == "" {
		ended.Failure = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	if l.inst != nil {
		logs := l.inst.Logs()
		ended.Exit, ended.LastLog = l.died, logs[max(0, len(logs)-lastLines):]
	}
	ended.Lost = l.lost()
	if ended.State == bench.TrialFailed {
		ended.Failure = l.engineGone(ctx, ended.Failure)
	}
	return ended, err
}

// trialRun is one trial that runs.
type trialRun struct {
	cfg      *Config
	steering *steering
	clock    *clock
	slot     *slot // nil: nobody else is alive
	trial    *bench.Trial
	isLast   bool // no trial comes after it
	svc      bench.Service
	artifact bench.Artifact

	inst     bench.Instance
	ready    bool        // it has become so
	silent   bool        // it ran and did not become ready, all by itself
	stalls   Stalls      // while the load runs
	died     *bench.Exit // how it ended, if it did before it was asked to
	checks   []bench.CheckResult
	steps    []bench.StepResult // that have been run, the skipped ones among them
	skipped  []string           // "3 (64 connections)"
	cut      *bench.StepResult  // the step that was ended early, if one was
	failedIn bench.Phase        // the first phase that went wrong

	incidents incidents
}

// publish publishes an event about this trial.
func (l *trialRun) publish(e bench.Event) { l.cfg.Stream.Publish(l.trial, e) }

func (l *trialRun) warn(f bench.Warning) { l.publish(bench.WarningNotice(f)) }

func (l *trialRun) notice(level, text string) { l.publish(bench.Notice{Level: level, Text: text}) }

func (l *trialRun) checkDone(c bench.CheckResult) {
	l.checks = append(l.checks, c)
	l.publish(bench.CheckDone{Check: c})
}

// phase does one phase of the trial, and remembers in which one it went wrong first.
func (l *trialRun) phase(p bench.Phase, do func() (string, error)) error {
	err := phase(l.publish, p, do)
	if err != nil && l.failedIn == "" {
		l.failedIn = p
	}
	return err
}

// foreign reports whether somebody else has started the instance.
func (l *trialRun) foreign() bool { return l.inst.Info().Runtime.Traits().AlreadyRunning }

// interruption returns why everything ends, once: most causes say themselves that they interrupt.
func interruption(cause error) string {
	text := cause.Error()
	if errors.Is(cause, ErrOnRequest) || strings.HasPrefix(text, "interrupted") {
		return text
	}
	return "interrupted: " + text
}

func (l *trialRun) run(ctx context.Context) (err error) {
	var spec bench.LaunchSpec
	err = l.phase(bench.PhaseCheck, func() (string, error) {
		spec, err := l.cfg.Spec(l.trial.String(), l.svc, l.artifact)
		if err == nil {
			err = l.cfg.Checks.Launching(ctx, l.cfg.Launcher, spec, l.svc, l.checkDone)
		}
		return "lifecycle", err
	})
	if err != nil {
		return err
	}
	logs := &logRelay{publish: func(e bench.LogLines) { l.publish(e) }}
	defer logs.flush(true)
	err = l.phase(bench.PhaseLaunch, func() (_ string, err error) {
		if spec, err = l.cfg.Spec(l.trial.String(), l.svc, l.artifact); err != nil {
			return "", err
		}
		spec.OnLog, spec.OnIncident = logs.add, l.reportIncident
		l.inst, err = l.cfg.Launcher.Launch(ctx, spec)
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
	l.publish(bench.InstanceStarted{Info: info})
	switch {
	case info.Runtime.Traits().AlreadyRunning: // what limits it is not ours to say
	case !info.LimitsEnforced:
		l.warn(bench.Warning{Kind: bench.WarnLimitsNotEnforced, Text: "LIMITS NOT ENFORCED: " + info.LimitsNote})
	case info.LimitsNote != "":
		l.notice("warning", info.LimitsNote)
	}
	if more := info.Privileges.String(); more != "" {
		text := "its manifest requests extra privileges: " + more
		l.warn(bench.Warning{Kind: bench.WarnPrivileged, Text: text})
	}
	if err := l.phase(bench.PhaseReady, func() (string, error) { return "", l.waitReady(ctx) }); err != nil {
		return err
	}
	l.mark(ctx, "after start-up")
	if l.cfg.SetUp != nil {
		if err := l.cfg.SetUp(ctx, l.inst.BaseURL()); err != nil {
			return l.orDeath(err)
		}
		defer l.tearDown(ctx)
	}
	if err := l.firstRequests(ctx); err != nil {
		return err
	}
	err = l.phase(bench.PhaseCheck, func() (string, error) {
		return "answers", l.cfg.Checks.Running(ctx, l.inst, spec, l.svc, l.checkDone)
	})
	if err != nil {
		return l.orDeath(err)
	}
	if err := l.ask(ctx); err != nil {
		return l.orDeath(err)
	}
	l.mark(ctx, "after checks")
	if err := l.phase(bench.PhaseLoad, func() (string, error) { return "", l.load(ctx) }); err != nil {
		return err
	}
	for _, c := range l.cfg.Checks.Alive(ctx, l.inst, l.svc) {
		l.checkDone(c)
	}
	return l.orDeath(nil)
}

func (l *trialRun) waitReady(ctx context.Context) error {
	up, err := l.cfg.Ready(ctx, l.inst, l.svc, func(level, text string) {
		if level == "" {
			l.publish(bench.Progress{Phase: bench.PhaseReady, Text: clip(text, progressBytes)})
			return
		}
		l.notice(level, text)
	})
	if err != nil {
		because := l.because(ctx, err)
		// Only what it does by itself will be the same in the next round.
		l.silent = because == err && ctx.Err() == nil && l.inst.Exit() == nil && len(l.incidents.inStep(false)) == 0
		return because
	}
	l.ready = true
	l.publish(up)
	return nil
}

// tearDown makes the requests after the last of the life, if it lives.
func (l *trialRun) tearDown(ctx context.Context) {
	if l.cfg.TearDown == nil || l.inst.Exit() != nil || ctx.Err() != nil {
		return
	}
	if err := l.cfg.TearDown(ctx, l.inst.BaseURL()); err != nil {
		l.notice("warning", err.Error())
	}
}

// ask ends the trial of a contender that does not respond what the load would ask.
func (l *trialRun) ask(ctx context.Context) error {
	if l.cfg.Ask == nil {
		return nil
	}
	err := l.cfg.Ask(ctx, l.inst.BaseURL())
	if err == nil || ctx.Err() != nil || !l.cfg.Run.AcceptFailedChecks {
		return err
	}
	l.notice("warning", err.Error()+" (ignored: --accept-failed-checks)")
	return nil
}

// stop ends the instance even if ctx has been cancelled: an interrupted run must not leave
// containers. One that somebody else has started is let go without a word.
func (l *trialRun) stop(ctx context.Context) error {
	if l.foreign() {
		_, err := l.inst.Stop(context.WithoutCancel(ctx), l.cfg.Grace)
		return err
	}
	return l.phase(bench.PhaseStop, func() (string, error) {
		stop, err := l.inst.Stop(context.WithoutCancel(ctx), l.cfg.Grace)
		if err != nil {
			err = fmt.Errorf("stop: %w", err)
			l.notice("error", err.Error()) // an interrupted and quiet run must not hide what may still be there
			return "", err
		}
		l.publish(bench.InstanceStopped{Stop: stop})
		if stop.Forced {
			return "killed: stop was forced", nil // it says nothing about the contender
		}
		if stop.Killed {
			l.warn(verdict.Hung(l.cfg.Grace))
		}
		for _, c := range l.cfg.Checks.Stopped(stop) {
			l.checkDone(c)
		}
		if l.died != nil || !stop.ExitedBeforeStop && !stop.Exit.OOMKilled {
			return "", nil
		}
		l.died = &stop.Exit
		if stop.ExitedBeforeStop { // in the last moment, which nobody else has noticed
			return "", fmt.Errorf("the contender exited before it was stopped: %s", stop.Exit)
		}
		// It has fought for memory so long that being asked to stop came first.
		return "", fmt.Errorf("the contender ran out of memory while stopping: %s", stop.Exit)
	})
}

// orDeath turns err into the death of the instance if it has died: that is the better explanation.
func (l *trialRun) orDeath(err error) error {
	if exit := l.inst.Exit(); exit != nil {
		return fmt.Errorf("%s: %s", bench.AbortedDied, exit)
	}
	return err
}

func (l *trialRun) mark(ctx context.Context, name string) {
	// A target that was not started by us has no counters; whoever comes next reports a death.
	if u, err := hostusage.ReadInstance(ctx, l.inst); err == nil {
		l.publish(bench.MarkRead{Mark: bench.Mark{Name: name, Usage: *u}})
	}
}
