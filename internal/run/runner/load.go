package runner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/run/profile"
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

// ErrThreshold is wrapped by Run's error if missed thresholds have stopped trials or the run.
var ErrThreshold = errors.New("stopped: threshold missed")

// missed is a missed threshold that stops the trial or the run.
type missed struct {
	scope bench.Scope
	text  string
}

func (m missed) Error() string      { return "threshold missed: " + m.text }
func (missed) Is(target error) bool { return target == ErrThreshold }

// checkThresholds adds the results of the thresholds to a finished step, unless it was aborted. It
// returns the missed threshold that stops the trial or the run; nil if none does. After the
// last step of a trial there is no trial to stop, and after the last trial no run.
func (l *trialRun) checkThresholds(res *bench.StepResult) (stop *missed) {
	if res.Aborted != "" {
		return nil
	}
	last := l.lastStep(res.Index)
	for _, t := range l.cfg.Run.Profile.Thresholds {
		if !t.AppliesTo(res.Index, res.Step) {
			continue
		}
		conditions, err := profile.ParseConditions(t.Condition)
		if err != nil { // unexpected: Run gets a valid profile
			l.notice("warning", fmt.Sprintf("threshold not checked: %v", err))
			continue
		}
		stops := t.Stop == bench.ScopeTrial && !last || t.Stop == bench.ScopeRun && !(last && l.isLast)
		for _, r := range conditions.Check(res.Load) {
			if !r.Passed && stops {
				r.Stopped = t.Stop
				if stop == nil || stop.scope == bench.ScopeTrial && t.Stop == bench.ScopeRun {
					stop = &missed{t.Stop, r.Text}
				}
			}
			res.Thresholds = append(res.Thresholds, r)
		}
	}
	return stop
}

const (
	// warmUpPart is how long a warm-up continues before its compilers are looked at again, and maxWarmUp how
	// long it lasts at most.
	warmUpPart = 4 * time.Second
	maxWarmUp  = time.Minute
	// idleRequests is how many requests have to be served while compilers are idle, and idleParts how many
	// such parts are enough: what is rarely called is compiled later.
	idleRequests = 2000
	idleParts    = 3
)

// warmOn reports whether a warm-up is to continue, since compilers were at work in its last part, or may be again,
// in any of the contenders that are interleaved: all of them continue, or none.
func (l *trialRun) warmOn(index int, all []bench.StepResult) bool {
	last := all[len(all)-1].Step
	if !last.UntilWarm || l.warmed+last.Duration+warmUpPart > maxWarmUp {
		return false
	}
	if steps := l.cfg.Run.Profile.Steps; l.cfg.Next == nil && index+1 < len(steps) && steps[index+1].WarmUp {
		return false
	}
	served, compiles, cold := int64(math.MaxInt64), false, false
	for _, res := range all {
		if res.Aborted != "" {
			return false
		}
		share, known := res.Compiling(1 - float64(warmUpPart)/float64(max(warmUpPart, last.Duration)))
		if known {
			served, compiles, cold = min(served, res.Load.Succeeded), true, cold || share > bench.CompilingWithin
		}
	}
	if l.idle++; cold {
		l.idle, l.served = 0, 0
	} else {
		l.served += served
	}
	return compiles && (cold || l.served < idleRequests && l.idle < idleParts)
}

// exchange waits until the trials that are interleaved with this one have ended the load, too, and returns
// their results.
func (l *trialRun) exchange(ctx context.Context, res bench.StepResult, err error) []bench.StepResult {
	l.loads++
	if l.slot == nil || err != nil {
		return nil
	}
	return l.slot.exchange(ctx, l.loads-1, res)
}

// withEarlier adds the warnings of an earlier part whose kind the last one does not have.
func withEarlier(last, earlier bench.Warnings) bench.Warnings {
	for _, w := range earlier {
		if !slices.ContainsFunc(last, func(of bench.Warning) bool { return of.Kind == w.Kind }) {
			last = append(last, w)
		}
	}
	return last
}
