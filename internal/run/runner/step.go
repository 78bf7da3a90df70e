package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/host/hostusage"
)

func (l *trialRun) firstRequests(ctx context.Context) error {
	if l.cfg.Run.Profile.FirstRequests == nil {
		return nil
	}
	return l.phase(bench.PhaseTiming, func() (string, error) {
		p, err := l.cfg.Loader.FirstRequests(ctx, l.place())
		if err != nil {
			return "", l.orExit(ctx, fmt.Errorf("time the first requests: %w", err))
		}
		l.publish(bench.RequestsTimed{FirstRequests: p})
		return fmt.Sprintf("first %s, median of %d later ones %s",
			units.Duration(p.First.Total), len(p.Kept), units.Duration(p.Typical().Total)), nil
	})
}

// step runs one step. It reads the counters at the start and the end of the measured interval, and
// once a second in between.
func (l *trialRun) step(ctx context.Context, index int, step bench.Step) (done ended, err error) {
	done.res = bench.StepResult{Index: index, Step: step}
	res := &done.res
	// The exit of the contender ends the step at once: requests to a closed port measure nothing.
	stepCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	of := max(len(l.cfg.Run.Profile.Steps), index+1)
	controls := l.steering.beginStep(bench.StepStarted{Index: index, Of: of, Step: step}, cancel, l.warmed > 0)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-l.inst.Exited():
			cancel(errDied)
		case <-stepCtx.Done():
		}
	})
	err = l.measure(stepCtx, ctx, res)
	cause := context.Cause(stepCtx)
	cancel(nil)
	watch.Wait()
	l.judge(res, controls, err, errors.Is(cause, errDied))
	switch {
	case errors.Is(cause, errDied):
		err = l.orExit(ctx, errDied)
		res.Ending, res.Aborted = bench.EndedByDeath, err.Error()
	case ctx.Err() != nil:
		err = context.Cause(ctx)
		res.Ending, res.Aborted = bench.EndedEarly, "interrupted"
		if errors.Is(err, errSkipped) {
			res.Ending, res.Aborted = bench.EndedBySkip, bench.AbortedSkipped // the contender was skipped
		}
	case controls.skip:
		done.skipped, err = true, nil
		res.Ending, res.Aborted = bench.EndedBySkip, bench.AbortedSkipped
	case err != nil:
		err = fmt.Errorf("load step %d (%s): %w", index+1, step.Name, err)
		res.Ending, res.Aborted = bench.EndedEarly, err.Error()
	}
	done.stop = l.checkThresholds(res)
	return done, err
}

// measure puts the step's load on the contender until ctx ends, and fills res with what was read
// meanwhile. trial is the context of the trial.
func (l *trialRun) measure(ctx, trial context.Context, res *bench.StepResult) error {
	usage := func(u bench.Usage, host *bench.HostReading) {
		read := bench.UsageRead{Usage: u}
		if host != nil {
			read.Needs = host.Needs
		}
		l.publish(read)
	}
	read := &readings{inst: l.inst, host: l.readHost, own: l.readOwn, stalls: l.stalls, res: res}
	interleave, record := l.slot.interleave(trial, l.loads, res.Step, read)
	read.record = record
	waited := hostusage.KeepPressure(ctx, pressureEvery, l.inst, l.cfg.Observer)
	defer waited()
	var sampler *hostusage.Sampler
	if interleave != nil {
		read.publish = usage // at the ends of slices: between them the contender only waits
	} else {
		sampler = hostusage.Sample(ctx, l.inst, sampleEvery, func(u bench.Usage) { usage(u, l.readHost(trial)) })
	}
	var onPart func(bench.Window)
	warmed := l.warmed
	if res.Step.Duration <= shortStep && interleave == nil && warmed == 0 {
		onPart = func(w bench.Window) { l.publish(bench.WindowGrew{Index: res.Index, Window: w}) }
	}
	var err error
	res.Load, err = l.cfg.Loader.Run(ctx, l.place(), res.Step, Hooks{
		OnStart:    func() { read.begin(trial) },
		OnEnd:      func() { read.end(trial) },
		Interleave: interleave,
		OnWindow: func(w bench.Window) {
			w.Start += warmed
			l.publish(bench.WindowClosed{Index: res.Index, Window: w})
		},
		OnPart: onPart,
	})
	l.steering.finishStep(l.lastStep(res.Index))
	earlier := l.lastReading()
	if interleave != nil {
		record.Count = read.ends
		if record.Alternated = interleave.(*interleaving).why(); record.Alternated != "" {
			l.notice("info", res.Step.Name+": one contender after the other, as "+record.Alternated)
			record.AddedCPU, record.AddedThreads = 0, nil // pauses as long as steps of others
		}
		res.Interleave = record
		res.Warnings = append(res.Warnings, verdict.BusyOutOfTurn(l.trial.Label(), *res)...)
	} else {
		samples := sampler.Stop()
		earlier = append(earlier, before(samples, res.Before)...)
		res.Samples = within(samples, res.Before, read.to)
		if n := sampler.Failed(); n > 0 && !l.isTarget() {
			res.Warnings = append(res.Warnings, verdict.ReadingsFailed(n))
		}
	}
	res.KeepBusiest()
	if read.err != nil && !l.isTarget() {
		res.Warnings = append(res.Warnings, verdict.CountersMissing(clip(read.err.Error(), 500)))
	}
	res.Warnings = append(res.Warnings, verdict.Killed(*res)...)
	res.Warnings = append(res.Warnings, verdict.ColdCaches(*res)...)
	res.Warnings = append(res.Warnings, verdict.FirstResponses(*res, earlier)...)
	return err
}

// judge adds the warnings about a step that ended with err, or because the contender died.
func (l *trialRun) judge(res *bench.StepResult, controls *controlledStep, err error, died bool) {
	res.Warnings = append(res.Warnings, verdict.DelayedACKs(*res)...)
	res.Warnings = append(res.Warnings, verdict.MachineStalls(*res)...)
	if (err == nil || died) && !controls.skip {
		limit := l.memoryLimit()
		if died {
			limit = 0
		}
		res.Warnings = append(res.Warnings, verdict.MemoryGrowth(append(slices.Clone(l.steps), *res), limit)...)
	}
	res.Warnings = append(res.Warnings, l.cfg.Observer.Judge(*res, l.inst.Info())...)
}

var errDied = errors.New(bench.AbortedDied)

func firstExample(l bench.Load) string {
	for kind, n := range l.Failed {
		text := fmt.Sprintf("%d × %s", n, kind.Words())
		if example := l.Examples[kind]; example != "" {
			text += ", first: " + example
		}
		return text
	}
	return "no responses"
}

// sampleEvery is the interval of recorded readings within a step.
const sampleEvery = time.Second

// pressureEvery is how often the kernel is made to add up the waiting for disks: with 50 ms it was
// within 6 points of the true share, with readings at the ends of a step alone up to 43 points
// below it (docs/decisions/2026-11-28-needs-measured.md).
const pressureEvery = 50 * time.Millisecond

// shortStep is the longest step whose seconds are reported while they grow.
const shortStep = 10 * time.Second
