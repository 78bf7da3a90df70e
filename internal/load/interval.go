package load

import (
	"math"
	"sync/atomic"
	"time"
)

// undecided is an end of the interval that is not known yet.
const undecided = math.MaxInt64

// announced is how long ahead the interval is decided: no thread may meet its beginning before it knows of it.
const announced = 2 * time.Millisecond

// interval is what is measured of a step: [from, to) in ns since the beginning of the load. Every thread that measures reads it.
type interval struct{ from, to atomic.Int64 }

func (v *interval) reset() {
	v.from.Store(undecided)
	v.to.Store(undecided)
}

// decide sets both ends. The end comes first, since whoever knows the beginning relies on it.
func (v *interval) decide(from, to int64) {
	v.to.Store(to)
	v.from.Store(from)
}

// end brings the end forward to at, where the interval has been decided.
func (v *interval) end(at int64) {
	if from := v.from.Load(); from != undecided {
		v.to.Store(max(from, min(v.to.Load(), at)))
	}
}

// length is that of the interval, 0 before it is known.
func (v *interval) length() time.Duration {
	from, to := v.from.Load(), v.to.Load()
	if from == undecided || to == undecided {
		return 0
	}
	return time.Duration(to - from)
}

// moment is where something lies that happened in a step.
type moment uint8

const (
	before moment = iota // in the lead-in
	within
	after // in the drain
)

// of says where at lies, in ns since the beginning of the load.
func (v *interval) of(at int64) moment {
	switch {
	case at < v.from.Load():
		return before
	case at < v.to.Load():
		return within
	}
	return after
}

// overlap is how much of [a, b) lies within the interval.
func (v *interval) overlap(a, b int64) time.Duration {
	from := v.from.Load()
	if b <= from {
		return 0
	}
	return time.Duration(max(min(b, v.to.Load())-max(a, from), 0))
}
