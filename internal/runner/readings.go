package runner

import (
	"context"
	"errors"
	"time"

	"locbench/internal/bench"
	"locbench/internal/sample"
)

// sampleEvery is how often the counters are put on record within a step.
const sampleEvery = time.Second

// readings are those at the two ends of a step, or of each of its turns.
type readings struct {
	*life
	res        *bench.StepResult
	told       func(bench.Usage) // of a turn's end, once a second; nil: the step is run at a stretch
	from, to   *bench.Usage      // of the last turn
	besideFrom *bench.Beside
	ends       int
	waited     time.Duration // between the turns
	waitedCPU  time.Duration // that the contender used then
	err        error
}

// begin reads at the beginning.
func (r *readings) begin(ctx context.Context) {
	var err error
	if r.ends == 0 {
		r.from, err = sample.Begin(ctx, r.inst)
		r.besideFrom = r.beside(ctx)
		r.res.Before, r.res.BesideBefore = r.from, r.besideFrom
		r.steering.startClock()
	} else {
		r.from, err = sample.Read(ctx, r.inst)
		r.besideFrom = r.beside(ctx)
		if r.from != nil && r.to != nil {
			r.waited += r.from.At.Sub(r.to.At)
			r.waitedCPU += max(r.from.CPU-r.to.CPU, 0)
		}
	}
	r.err = errors.Join(r.err, err)
	r.still.Take()
}

// end reads at the end, also when ctx has ended. Of several turns the last reading is as if there had been nothing between them.
func (r *readings) end(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	to, err := sample.Read(ctx, r.inst)
	beside := r.beside(ctx)
	h := r.still.Take()
	if r.res.Hiccups != nil {
		h = r.res.Hiccups.And(h)
	}
	r.res.Hiccups = &h
	r.err = errors.Join(r.err, err)
	r.to = to
	r.ends++
	switch {
	case r.told == nil:
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
	last := r.res.Before.At
	if n := len(r.res.Samples); n > 0 {
		last = r.res.Samples[n-1].At
	}
	if u.At.Sub(last) >= sampleEvery {
		r.res.Samples = append(r.res.Samples, u)
		r.told(u)
	}
}
