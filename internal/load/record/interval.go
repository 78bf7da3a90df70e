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
type Interval struct{ from, to atomic.Int64 }

func (v *Interval) reset() {
	v.from.Store(Undecided)
	v.to.Store(Undecided)
}

// decide sets both ends. The end comes first, since whoever knows the beginning relies on it.
func (v *Interval) decide(from, to int64) {
	v.to.Store(to)
	v.from.Store(from)
}

// bringForward ends the interval at a moment, where it has been decided and does not end before.
func (v *Interval) bringForward(at int64) {
	if from := v.from.Load(); from != Undecided {
		v.to.Store(max(from, min(v.to.Load(), at)))
	}
}

// From is where the interval begins, Undecided in the lead-in.
func (v *Interval) From() int64 { return v.from.Load() }

// To is where the interval ends, Undecided in the lead-in and as long as nobody knows.
func (v *Interval) To() int64 { return v.to.Load() }

// Length is that of the interval, 0 before it is known.
func (v *Interval) Length() time.Duration {
	from, to := v.from.Load(), v.to.Load()
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

// Phase tells in which phase a moment lies, in ns since the beginning of the load.
func (v *Interval) Phase(at int64) Phase {
	switch {
	case at < v.from.Load():
		return LeadIn
	case at < v.to.Load():
		return Measured
	}
	return Drain
}

// Overlap is how much of [a, b) lies within the interval.
func (v *Interval) Overlap(a, b int64) time.Duration {
	from := v.from.Load()
	if b <= from {
		return 0
	}
	return time.Duration(max(min(b, v.to.Load())-max(a, from), 0))
}
