package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/hostusage"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

const (
	keptLines  = 30 // log lines kept of a contender whose trial is not complete
	firstLines = 10 // of these, the first ones of its log
	saidBytes  = 300
)

// errNotBuilt is the failure of the trials after the first one of a contender whose build failed.
var errNotBuilt = errors.New("skipped: not built")

// trial runs one trial of one contender, interleaved with others if slot is not nil. It publishes
// TrialEnded, and returns the trial's failure.
func (r *runner) trial(ctx context.Context, trial bench.Trial, number int, slot *slot) error {
	sel, last := selection(trial), r.lastTrial(number-1)
	l := &trialRun{
		cfg: &r.cfg, steering: r.steering, clock: r.clock, slot: slot, trial: &trial, isLast: last,
		svc: r.cfg.Services[sel], artifact: r.artifacts[sel], checked: r.checked, deaf: r.deaf, peaks: r.peaks,
	}
	own, end := context.WithCancelCause(ctx)
	defer end(nil)
	started := bench.TrialStarted{Number: number, Of: len(r.cfg.Run.Trials), Service: l.svc, Artifact: l.artifact}
	r.steering.beginTrial(l.trial, started, end)
	err := r.broken[sel]
	if err != nil {
		if !errors.Is(err, errNotBuilt) {
			err, r.broken[sel] = fmt.Errorf("build: %w", err), errNotBuilt
		}
	} else if round := r.neverReady[sel]; round > 0 && !r.cfg.RetryNotReady {
		err = fmt.Errorf("skipped: never ready in round %d (retry each round with --retry-not-ready)", round)
	} else if round := r.unmigrated[sel]; round > 0 && !r.cfg.RetryNotReady {
		err = fmt.Errorf("skipped: not migrated in round %d (retry each round with --retry-not-ready)", round)
	} else if err = l.migrate(own); err != nil {
		err = l.afterTrial(ctx, r.following(ctx, number-1), err)
		if ctx.Err() == nil && own.Err() == nil && l.lostNeed == nil {
			r.unmigrated[sel] = trial.Round
		}
	} else if err = l.restoreNeeds(ctx, Restore{Next: trial, Soon: r.soon(slot)}, "before this trial"); err == nil {
		err = l.run(own)
		err = l.afterTrial(ctx, r.following(ctx, number-1), err)
	}
	r.steering.finishTrial(last)
	r.launched = r.launched || l.inst != nil
	r.wasReady[sel] = r.wasReady[sel] || l.ready
	if l.neverReady && !r.wasReady[sel] {
		r.neverReady[sel] = trial.Round
	}
	ended, err := l.outcome(ctx, context.Cause(own), err)
	if ended.State == bench.TrialFailed {
		delete(r.peaks, sel) // no other contender is compared with it
	}
	r.sofar.Trials[number-1].State = ended.State
	l.publish(ended)
	return err
}

// oneLine returns the text of err on one line.
func oneLine(err error) string { return safe.Joined(err.Error()) }

// outcome returns how the trial ended, and its error. ctx is the run's; cause ended the trial.
func (l *trialRun) outcome(ctx context.Context, cause, err error) (ended bench.TrialEnded, _ error) {
	ended.State = bench.TrialAborted
	defer func() {
		ended.Excluded = l.cfg.Run.ExclusionOf(bench.TrialResult{
			Trial: *l.trial, State: ended.State, Cause: ended.Cause, Checks: l.checks, Steps: l.steps,
		})
	}()
	switch {
	case errors.Is(cause, errStopped) || errors.Is(err, errStopped):
		err = fmt.Errorf("%w after step %d", errStopped, len(l.steps))
		if len(l.steps) == 0 {
			err = fmt.Errorf("%w before the first step", errStopped)
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
	if ended.State == bench.TrialFailed {
		ended.Cause = l.cause(err)
	}
	if ended.Failure == "" {
		ended.Failure = oneLine(err)
	}
	if l.inst != nil {
		ended.Exit, ended.LastLog = l.died, l.logs.excerpt(l.inst.Logs())
		starting := l.failedIn == bench.PhaseReady || l.failedIn == bench.PhaseMigrate
		silent := ended.State == bench.TrialFailed && starting && l.died == nil
		if said := l.said(); silent && said != "" {
			ended.Failure += "; its log: " + said
			if ended.Cause != nil {
				ended.Cause.Text += "; its log: " + said
			}
		}
	}
	ended.Lost = l.lost()
	if ended.State == bench.TrialFailed {
		ended.Failure = l.engineGone(ctx, ended.Failure)
	}
	return ended, err
}

// trialRun is a trial in progress.
type trialRun struct {
	cfg      *Config
	steering *steering
	clock    *clock
	slot     *slot // nil: not interleaved
	trial    *bench.Trial
	isLast   bool // no trial follows

	checked  map[bench.Selection]bool    // runner.checked, used only by the active one of interleaved trials
	deaf     map[bench.Selection]bool    // runner.deaf, used like checked
	peaks    map[bench.Selection]float64 // runner.peaks, used like checked
	svc      bench.Service
	artifact bench.Artifact

	inst       bench.Instance
	logs       *logRelay   // of inst
	ready      bool        // inst has become ready
	neverReady bool        // inst ran, was not disturbed, and did not become ready
	stalls     Stalls      // set while the load runs
	died       *bench.Exit // the exit of inst before it was stopped; nil: none
	checks     []bench.CheckResult
	steps      []bench.StepResult // finished steps, including skipped ones
	skipped    []string           // "3 (64 connections)"
	lostNeed   *bench.Cause       // a need ended; nil: none did
	unanswered error              // the teardown had no response; nil: it had
	cut        *bench.StepResult  // the step that ended early; nil: none
	failedIn   bench.Phase        // the first phase with an error

	loads     int           // loads that have ended: steps, and parts of a warm-up
	warmed    time.Duration // length of the parts of the warm-up that continues
	idle      int           // parts of it since compilers were at work
	served    int64         // successes in these
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

// phase runs one phase of the trial, and keeps the first one with an error.
func (l *trialRun) phase(p bench.Phase, do func() (string, error)) error {
	err := phase(l.publish, p, do)
	if err != nil && l.failedIn == "" {
		l.failedIn = p
	}
	return err
}

// place returns where the requests of this trial go.
func (l *trialRun) place() Place { return Place{Trial: *l.trial, BaseURL: l.inst.BaseURL()} }

// isTarget reports whether the instance is a running service that locbench did not start.
func (l *trialRun) isTarget() bool { return l.inst.Info().Runtime.Traits().AlreadyRunning }

// interruption returns why the run was interrupted. A signal's text already says "interrupted".
func interruption(cause error) string {
	if _, bySignal := errors.AsType[console.Signal](cause); bySignal || errors.Is(cause, ErrOnRequest) {
		return cause.Error()
	}
	return "interrupted: " + cause.Error()
}

func (l *trialRun) run(ctx context.Context) (err error) {
	if err := l.checkStarts(ctx); err != nil {
		return err
	}
	var spec bench.LaunchSpec
	l.relayLog()
	defer l.logs.flush(true)
	err = l.phase(bench.PhaseLaunch, func() (_ string, err error) {
		if spec, err = l.cfg.Launcher.Spec(*l.trial, l.svc, l.artifact); err != nil {
			return "", err
		}
		spec.OnLog, spec.OnIncident = l.logs.add, l.reportIncident
		l.inst, err = l.cfg.Launcher.Launch(ctx, spec)
		return "", err
	})
	if err != nil {
		return err
	}
	defer l.cfg.Needs.WatchNeeds(*l.trial, l.reportIncident)()
	// From here on the instance is stopped and its end published in any case.
	defer func() {
		l.steering.closing()
		if exit := l.inst.Exit(); exit != nil {
			l.died = l.explained(exit)
			named, _ := errors.AsType[causeError](err)
			switch own := l.exitError(exit); {
			case err == nil: // it exited during the teardown
				err = own
			case named.Kind == own.Kind:
			case errors.Is(err, ErrThreshold):
				err = fmt.Errorf("%w; %w", err, own)
			default: // the cause first, then its symptom
				err = fmt.Errorf("%w; %w", own, err)
			}
		}
		err = errors.Join(err, l.stop(ctx, err != nil))
	}()
	info := l.inst.Info()
	l.publish(bench.InstanceStarted{Info: info})
	switch {
	case info.Runtime.Traits().AlreadyRunning: // its limits are unknown
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
	if l.slot != nil {
		l.slot.periods.find(ctx, l.inst)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	defer func() { l.tearDown(ctx, err) }() // also after a part of the setup
	if err := l.cfg.Loader.SetUp(ctx, l.place()); err != nil {
		return l.orExit(ctx, unanswered(err, "during the setup"))
	}
	if err := l.firstRequests(ctx); err != nil {
		return err
	}
	err = l.phase(bench.PhaseCheck, func() (string, error) {
		return "responses", l.cfg.Checker.Running(ctx, l.inst, spec, l.svc, l.checkDone)
	})
	if err != nil {
		return l.orExit(ctx, err)
	}
	if err := l.tryRequests(ctx); err != nil {
		return l.orExit(ctx, unanswered(err, "before the load"))
	}
	l.mark(ctx, "after checks")
	if err := l.phase(bench.PhaseLoad, func() (string, error) { return "", l.load(ctx) }); err != nil {
		return err
	}
	if err := errors.Join(l.killedProcesses(), l.responds(ctx)); err != nil {
		return l.orExit(ctx, err)
	}
	for _, c := range l.cfg.Checker.Alive(ctx, l.inst, l.svc) {
		l.checkDone(c)
	}
	return l.orExit(ctx, nil)
}

// relayLog prepares the log of an instance.
func (l *trialRun) relayLog() {
	l.logs = &logRelay{publish: func(e bench.LogLines) { l.publish(e) }, masked: func(line bench.LogLine) bench.LogLine {
		e, ok := l.cfg.Stream.Masked(bench.LogLines{Lines: []bench.LogLine{line}}).(bench.LogLines)
		if !ok || len(e.Lines) != 1 {
			return bench.LogLine{At: line.At, Stream: line.Stream}
		}
		return e.Lines[0]
	}}
}

// checkStarts runs the checks that launch the contender, in its first trial: in each one they would
// take longer than short steps, and interleaved contenders have eight.
func (l *trialRun) checkStarts(ctx context.Context) error {
	sel := selection(*l.trial)
	if l.checked[sel] {
		return nil
	}
	launched := false
	err := l.phase(bench.PhaseCheck, func() (string, error) {
		spec, err := l.cfg.Launcher.Spec(*l.trial, l.svc, l.artifact)
		if err == nil {
			err = l.cfg.Checker.Launching(ctx, l.cfg.Launcher, spec, l.svc, func(c bench.CheckResult) {
				launched = true
				l.checkDone(c)
			})
		}
		return "lifecycle", err
	})
	if err == nil && launched {
		err = l.restoreNeeds(ctx, Restore{Next: *l.trial}, "by these checks") // the measured instance begins with the same state in each round
	}
	l.checked[sel] = err == nil
	return err
}

func (l *trialRun) waitReady(ctx context.Context) error {
	up, err := l.cfg.Launcher.Ready(ctx, l.inst, l.svc, func(level, text string) {
		if level == "" {
			l.publish(bench.Progress{Phase: bench.PhaseReady, Text: clip(text, progressBytes)})
			return
		}
		l.notice(level, text)
	})
	if err != nil {
		if exit := l.inst.Exit(); exit != nil && ctx.Err() == nil {
			return l.exitError(exit) // with the line of its log that explains it
		}
		err, known := l.withCause(ctx, err)
		// Without a cause from outside, it would not become ready in the next round either.
		l.neverReady = !known && ctx.Err() == nil && l.inst.Exit() == nil && len(l.incidents.inStep(false)) == 0
		if TimedOut(err) && ctx.Err() == nil {
			return causeError{bench.Cause{Kind: bench.CauseNotReady, Text: clip(err.Error(), progressBytes)}}
		}
		return err
	}
	l.ready = true
	l.publish(up)
	return nil
}

// tryRequests sends each request once. Unless failed checks are accepted, a failure ends the trial.
func (l *trialRun) tryRequests(ctx context.Context) error {
	err := l.cfg.Loader.Ask(ctx, l.place())
	if err == nil || ctx.Err() != nil || !l.cfg.Run.AcceptFailedChecks {
		return err
	}
	l.notice("warning", err.Error()+" (ignored: --accept-failed-checks)")
	return nil
}

func (l *trialRun) mark(ctx context.Context, name string) {
	// A target has no counters, and the next phase reports an exit.
	if u, err := hostusage.ReadInstance(ctx, l.inst); err == nil {
		l.publish(bench.MarkRead{Mark: bench.Mark{Name: name, Usage: *u}})
	}
}
