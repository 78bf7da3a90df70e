package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"locbench/internal/bench"
	"locbench/internal/sample"
)

// sampleEvery is how often the counters are put on record within a step.
const sampleEvery = time.Second

// readings are those at the two ends of the interval of a step, or of each of its turns or bursts.
type readings struct {
	*life
	res        *bench.StepResult
	parts      bool              // the step has turns or bursts, of which the figures are
	publish    func(bench.Usage) // of a turn's end, once a second; nil: a sampler tells
	from, to   *bench.Usage      // of the last part
	besideFrom *bench.Beside
	ends       int
	waited     time.Duration // between the parts
	waitedCPU  time.Duration // that the contender used then
	err        error
}

// begin reads at the beginning.
func (r *readings) begin(ctx context.Context) {
	read := sample.Read
	if r.ends == 0 {
		read = sample.Begin
	}
	var err error
	r.from, err = read(ctx, r.inst)
	r.besideFrom = r.Beside(ctx)
	if r.ends == 0 {
		r.res.Before, r.res.BesideBefore = r.from, r.besideFrom
		r.steering.startClock()
	}
	r.err = errors.Join(r.err, err)
	r.still.Take()
}

// wait gives the turn away by next, and reads what the contender uses until it has it again.
// Nothing is in flight then: the turn's own lead-in and drain are no waiting.
func (r *readings) wait(ctx context.Context, next func()) {
	ctx = context.WithoutCancel(ctx)
	from, err := sample.Read(ctx, r.inst)
	next()
	to, err2 := sample.Read(ctx, r.inst)
	if err == nil && err2 == nil && from != nil && to != nil {
		r.waited += to.At.Sub(from.At)
		r.waitedCPU += max(to.CPU-from.CPU, 0)
	}
}

// within are the readings between the two ends: the load begins before and ends behind them.
func within(samples []bench.Usage, from, to *bench.Usage) []bench.Usage {
	return slices.DeleteFunc(samples, func(u bench.Usage) bool {
		return from != nil && u.At.Before(from.At) || to != nil && u.At.After(to.At)
	})
}

// end reads at the end, also when ctx has ended. Of several parts the last reading is as if there
// had been nothing between them.
func (r *readings) end(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	to, err := sample.Read(ctx, r.inst)
	beside := r.Beside(ctx)
	h := r.still.Take()
	if r.res.Hiccups != nil {
		h = r.res.Hiccups.And(h)
	}
	r.res.Hiccups = &h
	r.err = errors.Join(r.err, err)
	r.to = to
	r.ends++
	switch {
	case !r.parts:
		r.res.After, r.res.BesideAfter = to, beside
		return
	case r.ends == 1:
		r.res.After, r.res.BesideAfter = r.res.Before, r.res.BesideBefore
	}
	r.res.BesideAfter = r.res.BesideAfter.Advance(r.besideFrom, beside)
	if r.res.After == nil || r.from == nil || to == nil { // a gap cannot be closed again
		r.res.After = nil
		return
	}
	u := r.res.After.Advance(*r.from, *to)
	r.res.After = &u
	if r.publish == nil {
		return
	}
	last := r.res.Before.At
	if n := len(r.res.Samples); n > 0 {
		last = r.res.Samples[n-1].At
	}
	if u.At.Sub(last) >= sampleEvery {
		r.res.Samples = append(r.res.Samples, u)
		r.publish(u)
	}
}
