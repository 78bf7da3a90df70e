package runner

import (
	"context"
	"errors"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/hostusage"
)

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
