package runner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/host/hostusage"
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

func (l *trialRun) lastStep(i int) bool {
	return l.cfg.Next == nil && i+1 == len(l.cfg.Run.Profile.Steps)
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
	err = l.measure(stepCtx, ctx, controls, res)
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
func (l *trialRun) measure(ctx, trial context.Context, controls *controlledStep, res *bench.StepResult) error {
	usage := func(u bench.Usage, host *bench.HostReading) {
		read := bench.UsageRead{Usage: u}
		if host != nil {
			read.Needs = host.Needs
		}
		l.publish(read)
	}
	read := &readings{inst: l.inst, host: l.readHost, own: l.readOwn, stalls: l.stalls, onBegin: l.steering.startClock, res: res}
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
		Interleave: interleave, Rate: controls.requestedRate,
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
	if len(controls.changes) > 0 {
		res.Warnings = append(res.Warnings, verdict.RateChanged(res.Step.Rate, controls.changes, controls.more))
	}
	res.Warnings = append(res.Warnings, verdict.MachineStalls(*res)...)
	if (err == nil || died) && !controls.skip && len(controls.changes) == 0 {
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

// readings reads counters at the start and the end of a step's measured interval, or of each slice.
type readings struct {
	inst    bench.Instance
	host    func(context.Context) *bench.HostReading
	stalls  Stalls
	onBegin func() // called at the first start
	// called with the readings of a slice at its end, the host's of the last one; nil: a sampler publishes
	publish  func(bench.Usage, *bench.HostReading)
	res      *bench.StepResult
	from, to *bench.Usage // of the last slice
	hostFrom *bench.HostReading
	sampler  *hostusage.Sampler // of the slice
	ofQuota  float64            // CPU time of the last slice, as a share of the quota; 0: not known

	ends   int               // calls of end
	record *bench.Interleave // nil: no slices
	own    func() map[string]*bench.NeedUsage
	err    error
}

func (r *readings) begin(ctx context.Context) {
	read := hostusage.ReadInstance
	if r.ends == 0 {
		read = hostusage.BeginInstance
	}
	var err error
	r.from, err = read(ctx, r.inst)
	r.hostFrom = r.host(ctx)
	if r.ends == 0 {
		r.res.Before, r.res.HostBefore = r.from, r.hostFrom
		r.onBegin()
	}
	r.err = errors.Join(r.err, err)
	if r.publish != nil {
		r.sampler = hostusage.Sample(ctx, r.inst, sampleEvery, nil)
	}
	r.stalls.Take()
}

// restart forgets the slices so far. The step continues in one, whose beginning is that of the
// step.
func (r *readings) restart() {
	*r = readings{inst: r.inst, host: r.host, own: r.own, stalls: r.stalls, onBegin: func() {}, publish: r.publish, res: r.res, record: r.record}
	*r.record = bench.Interleave{Length: r.record.Length, Since: r.record.Since, With: r.record.With}
	r.res.Before, r.res.After, r.res.HostBefore, r.res.HostAfter, r.res.Samples, r.res.Hiccups = nil, nil, nil, nil, nil, nil
}

// wait switches to the other trials by next, and reads what the contender uses until next returns.
// No request is in flight then; lead-in and drain of a slice are not waiting.
func (r *readings) wait(ctx context.Context, next func()) {
	ctx = context.WithoutCancel(ctx)
	from, err := hostusage.ReadInstance(ctx, r.inst)
	own := r.own()
	next()
	r.waitedOf(own)
	to, err2 := hostusage.ReadInstance(ctx, r.inst)
	if err == nil && err2 == nil && from != nil && to != nil && r.from != nil && r.to != nil {
		r.record.Wait(r.to.CPU-r.from.CPU, *from, *to)
	}
}

// lastReading returns the reading at the end of the last step; none before the first one.
func (l *trialRun) lastReading() (last []bench.Usage) {
	if n := len(l.steps); n > 0 && l.steps[n-1].After != nil {
		last = append(last, *l.steps[n-1].After)
	}
	return last
}

// before returns the readings of the lead-in: those before the measured interval.
func before(samples []bench.Usage, from *bench.Usage) (all []bench.Usage) {
	for _, u := range samples {
		if from == nil || u.At.Before(from.At) {
			all = append(all, u)
		}
	}
	return all
}

// within returns the readings within the measured interval; the load starts earlier and ends later.
func within(samples []bench.Usage, from, to *bench.Usage) []bench.Usage {
	return slices.DeleteFunc(samples, func(u bench.Usage) bool {
		return from != nil && u.At.Before(from.At) || to != nil && u.At.After(to.At)
	})
}

// end reads the counters even if ctx has ended. With slices, the readings at the end are the sums
// over the slices, without the time between them.
func (r *readings) end(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	to, err := hostusage.ReadInstance(ctx, r.inst)
	host := r.host(ctx)
	h := r.stalls.Take()
	if r.res.Hiccups != nil {
		h = r.res.Hiccups.And(h)
	}
	r.res.Hiccups = &h
	r.err = errors.Join(r.err, err)
	r.to = to
	r.ends++
	switch {
	case r.publish == nil:
		r.res.After, r.res.HostAfter = to, host
		return
	case r.ends == 1:
		r.res.After, r.res.HostAfter = r.res.Before, r.res.HostBefore
	}
	r.res.HostAfter = r.res.HostAfter.Advance(r.hostFrom, host)
	defer r.sampler.Stop()
	if r.res.After == nil || r.from == nil || to == nil { // a slice without a reading makes the sum unknown
		r.res.After = nil
		return
	}
	if limits := r.inst.Info().Limits; limits.CPUs > 0 {
		r.ofQuota = float64(to.CPU-r.from.CPU) / float64(to.At.Sub(r.from.At)) / limits.CPUs
	}
	before := *r.res.After
	for _, u := range within(r.sampler.Stop(), r.from, to) {
		r.sample(before.Advance(*r.from, u), nil)
	}
	u := before.Advance(*r.from, *to)
	r.res.After = &u
	r.sample(u, r.res.HostAfter)
}

// sample keeps and publishes a reading, if the last one is long enough ago.
func (r *readings) sample(u bench.Usage, host *bench.HostReading) {
	last := r.res.Before.At
	if n := len(r.res.Samples); n > 0 {
		last = r.res.Samples[n-1].At
	}
	if u.At.Sub(last) >= sampleEvery {
		u.ThreadCPU = nil
		r.res.Samples = append(r.res.Samples, u)
		r.publish(u, host)
	}
}
