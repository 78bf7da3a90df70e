package record

import (
	"math"
	"sync/atomic"
	"time"
)

// Undecided is a moment that is not known yet, such as the end of an interval that lasts until all
// requests are answered.
const Undecided = math.MaxInt64

// announced is how long ahead the interval is decided: no thread may meet its beginning before it
// knows of it.
const announced = 2 * time.Millisecond

// Interval is what is measured of a step: [from, to) in ns since the beginning of the load. Every
// thread that measures reads it.
type Interval struct {
	now      func() int64 // the clock of the step
	from, to atomic.Int64 // a beginning that is proposed only is stored as −1 − from
}

func (v *Interval) reset(now func() int64) {
	v.now = now
	v.from.Store(Undecided)
	v.to.Store(Undecided)
}

// decide sets both ends. The end comes first, since whoever knows the beginning relies on it.
func (v *Interval) decide(from, to int64) {
	v.to.Store(to)
	v.from.Store(from)
}

// decideFromNow lets the interval begin as soon as all threads can know of it, and returns when that
// is. A proposal is in force once somebody has seen it before its beginning: then all who did not
// see it looked earlier still. Otherwise, on a machine that stopped this thread between looking at
// the clock and storing, others may have counted what lies after the beginning as lead-in, and
// there is another proposal.
func (v *Interval) decideFromNow(length time.Duration) int64 {
	for {
		from := v.now() + int64(announced)
		v.decide(-1-from, from+int64(length))
		if v.From() != Undecided {
			return from
		}
	}
}

// settle decides on a proposal: it is in force if its beginning is still to come, else withdrawn.
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

// bringForward ends the interval at a moment, where it has been decided and does not end before.
func (v *Interval) bringForward(at int64) {
	if from := v.From(); from != Undecided {
		v.to.Store(max(from, min(v.to.Load(), at)))
	}
}

// From returns where the interval begins, Undecided in the lead-in.
func (v *Interval) From() int64 {
	from := v.from.Load()
	if from < 0 {
		return v.resolve(from)
	}
	return from
}

// To returns where the interval ends, Undecided in the lead-in and as long as nobody knows.
func (v *Interval) To() int64 {
	if v.From() == Undecided {
		return Undecided
	}
	return v.to.Load()
}

// Length returns that of the interval, 0 before it is known.
func (v *Interval) Length() time.Duration {
	from, to := v.From(), v.to.Load()
	if from == Undecided || to == Undecided {
		return 0
	}
	return time.Duration(to - from)
}

// Phase is the part of a step in which something happened.
type Phase uint8

// The phases of a step, in their order.
const (
	LeadIn Phase = iota
	Measured
	Drain
)

// Phase returns the phase in which a moment lies, in ns since the beginning of the load.
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
