package record

import (
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// spreadOver is the time over which the connections of a closed loop start, in multiples of the
// first response's time. If all started at once, a contender with a fixed delay would respond in
// bursts, and a window would have one burst more or less by chance. One response time would do if
// the contender served all connections at once; the more of them queue, the more it takes.
const spreadOver = 5

// spreadShare bounds that time, and the wait for the first response, to a share of the timeout: a
// first response may be slow for other reasons, or never come.
const spreadShare = 4

// Answered notes the end of a connection's first exchange, or in an open loop of one of the first
// ones, at now. took is its duration.
func (t *Timeline) Answered(now int64, took, timeout time.Duration) {
	for longest := t.firstResponse.Load(); int64(took) > longest; longest = t.firstResponse.Load() {
		t.firstResponse.CompareAndSwap(longest, int64(took))
	}
	if !t.whole && !t.step.Open() {
		t.startOthers(now, min(spreadOver*took, timeout/spreadShare))
	}
	if t.waiting.Add(-1) == 0 {
		close(t.leadInOver)
	}
}

// AwaitsResponses reports whether the lead-in still waits for first responses.
func (t *Timeline) AwaitsResponses() bool { return t.waiting.Load() > 0 }

// startOthers starts the other connections, spread over a time from now on, unless they have
// started.
func (t *Timeline) startOthers(now int64, over time.Duration) {
	if t.othersStart.Load() > 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.othersStart.Load() == 0 {
		t.startSpan.Store(int64(over))
		t.othersStart.Store(max(now, 1))
		close(t.startTimesDecided)
		t.wakeAll()
	}
}

// StartTimesKnown reports whether the start times of the connections outside a ramp are known.
func (t *Timeline) StartTimesKnown() bool { return t.othersStart.Load() > 0 }

// Beginning returns when connection i of a closed loop, from 0, starts; Undecided until that is
// known. Those of a ramp start within the interval.
func (t *Timeline) Beginning(i int) int64 {
	first := beforeRamp(t.step)
	if i >= first {
		from := t.From()
		if from == Undecided {
			return Undecided
		}
		return from + int64(rampStart(t.step, i))
	}
	if i == 0 || t.whole && t.slice == nil {
		return 0
	}
	at := t.othersStart.Load()
	if at == 0 {
		return Undecided
	}
	return at + int64(float64(t.startSpan.Load())*float64(i)/float64(first))
}

// BeginsEarly reports whether connection i of a closed loop starts at the beginning, and not later
// in a ramp.
func (t *Timeline) BeginsEarly(i int) bool { return t.step.RampFrom == 0 || i < t.step.RampFrom }

// BeginningKnown returns a channel that is closed once Beginning(i) is known.
func (t *Timeline) BeginningKnown(i int) <-chan struct{} {
	if i >= beforeRamp(t.step) {
		return t.decided
	}
	return t.startTimesDecided
}

// beforeRamp returns how many connections of a closed loop start at the beginning.
func beforeRamp(s bench.Step) int {
	if s.RampFrom > 0 {
		return s.RampFrom
	}
	return s.Connections
}

// rampStart returns when connection i of a closed loop, from 0, sends first: at 0 unless there is a
// ramp.
func rampStart(s bench.Step, i int) time.Duration {
	if s.RampFrom == 0 || i < s.RampFrom {
		return 0
	}
	return time.Duration(float64(s.Duration) * float64(i-s.RampFrom+1) / float64(s.Connections-s.RampFrom+1))
}

// AwaitSteady waits for the steady state: until every connection has had its first response, at
// most until the timeout. Then it decides the interval, and returns true at its beginning. It
// returns false if the load ends before.
func (r *Recorder) AwaitSteady(timeout time.Duration, drained <-chan struct{}) bool {
	late := time.NewTimer(timeout)
	defer late.Stop()
	var first <-chan time.Time // not in another goroutine, which could outlive the loop
	if !r.Open {
		timer := time.NewTimer(timeout / spreadShare)
		defer timer.Stop()
		first = timer.C
	}
	for over := false; !over; {
		select {
		case <-first:
			r.startOthers(r.Now(), timeout/spreadShare)
		case <-r.leadInOver:
			over = true
		case <-late.C:
			r.Unserved, over = int(max(r.waiting.Load(), 0)), true
		case <-r.halted:
			return false
		case <-drained:
			return false
		}
	}
	from, ok := r.decideFromNow()
	if !ok {
		return false
	}
	r.LeadIn = time.Duration(from)
	begin := time.NewTimer(time.Duration(from - r.Now()))
	defer begin.Stop()
	select {
	case <-begin.C:
	case <-r.halted:
	}
	return true
}

// decideFromNow starts the interval as soon as all threads can know of it; ok is false if sending
// has ended.
func (t *Timeline) decideFromNow() (from int64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return 0, false
	}
	from = t.Interval.decideFromNow(t.step.Duration)
	close(t.decided)
	t.wakeAll()
	return from, true
}
