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

// readings reads counters at the start and the end of a step's measured interval, or of each slice.
type readings struct {
	inst   bench.Instance
	host   func(context.Context) *bench.HostReading
	stalls Stalls
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
	*r = readings{inst: r.inst, host: r.host, own: r.own, stalls: r.stalls, publish: r.publish, res: r.res, record: r.record}
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
