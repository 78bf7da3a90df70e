package runner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
)

// maxStepsWithoutSuccess is the number of consecutive steps without a success that end a trial.
const maxStepsWithoutSuccess = 2

// load runs the steps until the contender exits or hangs, a need is lost, or ctx is done.
func (l *trialRun) load(ctx context.Context) error {
	// Before the contender is stopped, since it may wait until its connections are closed.
	defer l.cfg.Loader.Rest(l.place())
	if l.slot != nil {
		l.stalls = l.slot.meter()
	} else {
		l.stalls = l.cfg.Observer.WatchStalls()
		defer l.stalls.Stop()
	}
	withoutSuccess := 0
	for i, step := range l.plan(ctx) {
		if peak := bench.Peak(l.steps, l.cfg.Run.Profile.Requests); peak > 0 {
			l.peaks[selection(*l.trial)] = peak
		}
		if l.slot != nil {
			l.slot.barrier(ctx, stageOf(l.loads, stageBegin))
			if err := l.steering.ended(); err != nil { // by a step of another trial
				return err
			}
		}
		paused := l.steering.pause(ctx, l.trial, l.inst.Exited())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if paused > 0 && l.inst.Exit() != nil {
			return l.orExit(ctx, errDied)
		}
		done, err := l.finished(ctx, i, step.AtPeak(l.peak(step)), paused)
		if err != nil {
			return err
		}
		if !done.silent {
			if !done.skipped && done.res.Aborted == "" {
				withoutSuccess = 0
			}
			continue
		}
		if done.cause != "" {
			return silent("had no success in step %d: %s (%s)", i+1, done.cause, firstExample(done.res.Load))
		}
		withoutSuccess++
		if withoutSuccess == maxStepsWithoutSuccess && l.cfg.Next == nil { // a search continues with a lower rate
			err := silent("had no success in %d consecutive steps (%s)", withoutSuccess, firstExample(done.res.Load))
			if withoutResponse(done.res.Load) {
				return err
			}
			return errors.New(err.Text)
		}
	}
	if l.slot != nil { // no contender is stopped while another is loaded
		l.slot.barrier(ctx, stageOf(l.loads, stageBegin))
	}
	return nil
}

// ended is a step that has run.
type ended struct {
	res     bench.StepResult
	skipped bool    // by a user, which is not an error
	stop    *missed // a threshold that stops the trial or the run
	cause   string  // why the contender is silent at the end
	silent  bool    // no request had a response that counts
}

// finished runs a step, and longer where compilers are at work in it; it finds why the contender
// is silent, and publishes the result. The error ends the trial.
func (l *trialRun) finished(ctx context.Context, i int, step bench.Step, paused time.Duration) (done ended, err error) {
	l.incidents.begin(i)
	done, others, err := l.warmedUp(ctx, i, step)
	res := &done.res
	if err == nil {
		res.Drift = stats.Drift(*res, others...)
	}
	if err == nil && !done.skipped && silentAtEnd(res.Load) && l.exited(ctx) {
		err = l.orExit(ctx, errDied)
		res.Ending, res.Aborted = bench.EndedByDeath, err.Error()
	}
	if err == nil && !done.skipped && (silentAtEnd(res.Load) || len(l.incidents.inStep(false)) > 0) {
		var lost error
		if done.cause, lost = l.diagnoseSilence(ctx); lost != nil {
			err = lost
			res.Ending, res.Aborted = bench.EndedByNeed, err.Error()
		}
	}
	res.Warnings = append(res.Warnings, incidentWarnings(*res, l.incidents.inStep(true))...)
	if paused > 0 {
		res.Warnings = append(res.Warnings, verdict.Paused(paused))
	}
	if moved, set := l.clock.moved(); set {
		l.warn(verdict.ClockSet(moved, i+1))
	}
	l.publish(bench.StepEnded{Result: *res})
	if err != nil {
		l.cut = res
		return done, err
	}
	l.steps = append(l.steps, *res)
	if done.skipped {
		l.skipped = append(l.skipped, fmt.Sprintf("%d (%s)", i+1, step.Name))
	}
	if done.stop != nil {
		at := fmt.Errorf("%w at step %d (%s)", *done.stop, i+1, step.Name)
		if done.stop.scope == bench.ScopeRun {
			l.steering.missThreshold(fmt.Errorf("%s: %w", l.trial, at))
		}
		if !l.lastStep(i) {
			return done, at
		}
	}
	if l.steering.stopping() && !l.lastStep(i) {
		return done, errStopped
	}
	if done.skipped || res.Aborted != "" {
		return done, nil // too short to show whether the contender hangs
	}
	if done.cause != "" && l.lastStep(i) {
		return done, silent("did not respond after the last step: %s", done.cause)
	}
	done.silent = res.Load.AllSucceeded()+res.Load.Rejected.Total() == 0
	return done, nil
}

// warmedUp runs a step again, as one with what was before, until compilers are no longer at work.
// others are the results of the contenders that are interleaved with this one.
func (l *trialRun) warmedUp(ctx context.Context, i int, step bench.Step) (done ended, others []bench.StepResult, err error) {
	done, err = l.step(ctx, i, step)
	others = l.exchange(ctx, done.res, err)
	for err == nil && l.warmOn(i, append(others, done.res)) {
		earlier, part := done.res, step
		part.Duration = warmUpPart
		l.warmed += earlier.Step.Duration
		if done, err = l.step(ctx, i, part); err == nil {
			done.res.Load.Continue(earlier.Load)
			done.res.Warnings = withEarlier(done.res.Warnings, earlier.Warnings)
		}
		others = l.exchange(ctx, done.res, err)
	}
	if l.warmed > 0 {
		l.notice("info", fmt.Sprintf("%s: warmed up for %s, as compilers were at work", step.Name,
			units.Duration(l.warmed+done.res.Step.Duration)))
		l.warmed, l.idle, l.served, done.res.Step = 0, 0, 0, step
	}
	return done, others, err
}

// peak returns the throughput of which a step's rate is a share: the highest of this trial, or the
// lowest of all contenders, those of this round if they are interleaved, else of their last trials.
func (l *trialRun) peak(step bench.Step) float64 {
	own := bench.Peak(l.steps, l.cfg.Run.Profile.Requests)
	if !step.LowestPeak || len(l.peaks) == 0 {
		return own
	}
	return slices.Min(slices.Collect(maps.Values(l.peaks)))
}

// plan returns the steps of the trial: the profile's, or those that Config.Next chooses.
func (l *trialRun) plan(ctx context.Context) iter.Seq2[int, bench.Step] {
	if l.cfg.Next == nil {
		return slices.All(l.cfg.Run.Profile.Steps)
	}
	return func(yield func(int, bench.Step) bool) {
		for i := 0; ; i++ {
			if step, ok := l.cfg.Next(ctx, *l.trial, l.steps); !ok || !yield(i, step) {
				return
			}
		}
	}
}

func (l *trialRun) lastStep(i int) bool {
	return l.cfg.Next == nil && i+1 == len(l.cfg.Run.Profile.Steps)
}
