package record

import (
	"math"
	"sync/atomic"
	"time"
)

// Undecided is a moment that is not known yet, such as the end of an interval that lasts until all
// requests are answered.
const Undecided = math.MaxInt64

// announced is how far in advance the interval is decided: no thread may pass its beginning before
// it knows of it.
const announced = 2 * time.Millisecond

// Interval is the measured interval of a step: [from, to) in ns since the load began. Every
// measuring thread reads it.
type Interval struct {
	now      func() int64 // the clock of the step
	from, to atomic.Int64 // a beginning that is only proposed is stored as −1 − from
}

func (v *Interval) reset(now func() int64) {
	v.now = now
	v.from.Store(Undecided)
	v.to.Store(Undecided)
}

// decide sets both ends. It sets the end first, as a thread that knows the beginning relies on it.
func (v *Interval) decide(from, to int64) {
	v.to.Store(to)
	v.from.Store(from)
}

// decideFromNow starts the interval as soon as all threads can know of it, and returns its
// beginning. A proposal takes effect once a thread has seen it before its beginning: threads that
// did not see it looked even earlier. If the machine stopped this thread between reading the clock
// and storing, others may have counted later moments as lead-in, so it proposes again.
func (v *Interval) decideFromNow(length time.Duration) int64 {
	for {
		from := v.now() + int64(announced)
		v.decide(-1-from, from+int64(length))
		if v.From() != Undecided {
			return from
		}
	}
}

// resolve decides on a proposal: it takes effect if its beginning is still to come, else it is
// withdrawn.
func (v *Interval) resolve(proposal int64) int64 {
	from := int64(Undecided)
	if at := -1 - proposal; v.now() < at {
		from = at
	}
	if v.from.CompareAndSwap(proposal, from) {
		return from
	}
	return v.From()
}

// bringForward ends the interval at a moment, if it is decided and does not end before.
func (v *Interval) bringForward(at int64) {
	if from := v.From(); from != Undecided {
		v.to.Store(max(from, min(v.to.Load(), at)))
	}
}

// From returns the beginning of the interval, Undecided during the lead-in.
func (v *Interval) From() int64 {
	from := v.from.Load()
	if from < 0 {
		return v.resolve(from)
	}
	return from
}

// To returns the end of the interval, Undecided during the lead-in and until the end is known.
func (v *Interval) To() int64 {
	if v.From() == Undecided {
		return Undecided
	}
	return v.to.Load()
}

// Length returns the length of the interval, 0 before it is known.
func (v *Interval) Length() time.Duration {
	from, to := v.From(), v.to.Load()
	if from == Undecided || to == Undecided {
		return 0
	}
	return time.Duration(to - from)
}

// Phase is the part of a step in which something happened.
type Phase uint8

// The phases of a step, in order.
const (
	LeadIn Phase = iota
	Measured
	Drain
)

// Phase returns the phase of a moment, in ns since the load began.
func (v *Interval) Phase(at int64) Phase {
	switch {
	case at < v.From():
		return LeadIn
	case at < v.to.Load():
		return Measured
	}
	return Drain
}

// Overlap returns how much of [a, b) lies within the interval.
func (v *Interval) Overlap(a, b int64) time.Duration {
	from := v.From()
	if b <= from {
		return 0
	}
	return time.Duration(max(min(b, v.to.Load())-max(a, from), 0))
}
