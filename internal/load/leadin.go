package load

import (
	"time"

	"locbench/internal/bench"
)

// The connections of a closed loop begin one after the other, over as long a time as spreadOver answers take, as measured by the answer to
// the first request. If all began at once, a contender of fixed delay would answer in bursts ever after, and a window would have one
// burst more or less by chance. Over one answer would do with as many connections as the contender has places; the more of
// them queue, the sooner its places are filled.
const spreadOver = 5

// spreadShare bounds that time, and the wait for that answer: a share of the time-out each, since a first answer may be slow for reasons of
// its own, or never come.
const spreadShare = 4

// answered notes the end of a connection's first exchange, or in an open loop of one of the first ones, at now; took is how long it was.
func (r *recorder) answered(now int64, took, timeout time.Duration) {
	if !r.whole && !r.open {
		r.spreadFrom(now, min(spreadOver*took, timeout/spreadShare))
	}
	if r.waiting.Add(-1) == 0 {
		close(r.led)
	}
}

// spreadFrom lets the other connections begin, over so long a time from now on, unless they do already.
func (r *recorder) spreadFrom(now int64, over time.Duration) {
	if r.spreadAt.Load() > 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spreadAt.Load() == 0 {
		r.spread.Store(int64(over))
		r.spreadAt.Store(max(now, 1))
		close(r.paced)
		call(r.wake)
	}
}

// beginning is when connection i of a closed loop, from 0, begins to ask; undecided as long as that is not known. Those of a ramp begin in
// the interval.
func (r *recorder) beginning(s bench.Step, i int) int64 {
	first := beforeRamp(s)
	if i >= first {
		from := r.interval.from.Load()
		if from == undecided {
			return undecided
		}
		return from + int64(begins(s, i))
	}
	if i == 0 || r.whole {
		return 0
	}
	at := r.spreadAt.Load()
	if at == 0 {
		return undecided
	}
	return at + int64(float64(r.spread.Load())*float64(i)/float64(first))
}

// beforeRamp is how many connections of a closed loop ask from the beginning.
func beforeRamp(s bench.Step) int {
	if s.RampFrom > 0 {
		return s.RampFrom
	}
	return s.Connections
}

// awaitSteady waits until the steady state has begun: until every connection has had its first answer, but not longer than a request may take.
// Then it decides the interval, and returns at its beginning. It returns false where the load ends before.
func (r *recorder) awaitSteady(length, timeout time.Duration, drained <-chan struct{}) bool {
	late := time.NewTimer(timeout)
	defer late.Stop()
	if !r.open {
		first := time.AfterFunc(timeout/spreadShare, func() { r.spreadFrom(r.now(), timeout/spreadShare) })
		defer first.Stop()
	}
	select {
	case <-r.led:
	case <-late.C:
		r.unserved = int(max(r.waiting.Load(), 0))
	case <-r.halted:
		return false
	case <-drained:
		return false
	}
	r.mu.Lock()
	if r.stopped {
		r.mu.Unlock()
		return false
	}
	from := r.now() + int64(announced)
	r.interval.decide(from, from+int64(length))
	r.leadIn = time.Duration(from)
	close(r.decided)
	call(r.wake)
	r.mu.Unlock()
	begin := time.NewTimer(time.Duration(from - r.now()))
	defer begin.Stop()
	select {
	case <-begin.C:
	case <-r.halted:
	}
	return true
}
