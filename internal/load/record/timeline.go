package record

import (
	"sync"
	"sync/atomic"
	"time"

	"locbench/internal/bench"
)

// Timeline is the course of a step, which all threads of a loop read: its clock, when connections
// begin, the interval, and when the sending ends. Moments are ns since the beginning of the load.
type Timeline struct {
	Interval
	step    bench.Step
	started time.Time // the beginning of the load
	whole   bool      // all of the step is measured, without a lead-in
	bounded bool      // the interval lasts until all requests are answered

	mu      sync.Mutex
	stopped bool
	granted int64         // requests, by MaySend
	halted  chan struct{} // closed once stopped
	end     atomic.Int64  // 1 + when the sending ended, once it has
	wake    func()        // lets the threads of a loop look at what has changed; may be nil

	// The lead-in; see Answered.

	waiting           atomic.Int64  // connections that have had no response yet
	leadInOver        chan struct{} // closed when there are none
	decided           chan struct{} // closed when the interval has been
	othersStart       atomic.Int64  // when the other connections begin; 0: the first has no response yet
	startSpan         atomic.Int64  // over how long a time
	startTimesDecided chan struct{} // closed when that is known
}

// init makes the timeline of a step.
func (t *Timeline) init(s bench.Step) {
	t.step = s
	t.bounded = s.MaxRequests > 0
	t.whole = t.bounded || s.Arrivals != nil
	for _, c := range []*chan struct{}{&t.halted, &t.leadInOver, &t.decided, &t.startTimesDecided} {
		*c = make(chan struct{})
	}
	t.reset(t.Now)
}

// OnWake sets what lets the threads of a loop look at what has changed. Call it before Begin.
func (t *Timeline) OnWake(wake func()) { t.wake = wake }

func (t *Timeline) wakeAll() {
	if t.wake != nil {
		t.wake()
	}
}

// Begin starts the clock. early is how many requests of an open loop have to be answered before
// the interval begins; in a closed one every connection must have its response.
func (t *Timeline) Begin(early int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.started = time.Now()
	if !t.step.Open() {
		early = beforeRamp(t.step)
	}
	t.waiting.Store(int64(early))
	if t.whole {
		to := int64(t.step.Duration)
		if t.bounded {
			to = Undecided
		}
		t.decide(0, to)
		close(t.decided)
		close(t.startTimesDecided)
		t.othersStart.Store(1)
	}
}

// Now returns the clock of the step.
func (t *Timeline) Now() int64 { return int64(time.Since(t.started)) }

// At returns a time by the clock of the step.
func (t *Timeline) At(now time.Time) int64 { return int64(now.Sub(t.started)) }

// Time returns a moment of the step as a time.
func (t *Timeline) Time(at int64) time.Time { return t.started.Add(time.Duration(at)) }

// Began returns when the interval did, or the load, where that has ended before.
func (t *Timeline) Began() time.Time {
	if from := t.From(); from != Undecided {
		return t.Time(from)
	}
	return t.started
}

// Bounded says whether the number of requests is: then the interval lasts until all are answered.
func (t *Timeline) Bounded() bool { return t.bounded }

// Stop ends the sending, and the interval unless that lasts until all is answered. Once it has
// returned, no request is sent any more.
func (t *Timeline) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopLocked()
}

func (t *Timeline) stopLocked() {
	if t.stopped {
		return
	}
	t.stopped = true
	now := t.Now()
	if !t.bounded {
		t.bringForward(now)
	}
	t.end.Store(1 + now)
	close(t.halted)
	t.wakeAll()
}

// Halted returns closed when Stop has been called.
func (t *Timeline) Halted() <-chan struct{} { return t.halted }

// Stopped says whether Stop has been called.
func (t *Timeline) Stopped() bool { return t.end.Load() > 0 }

// SendingEnded says whether no request is to be sent any more at a moment.
func (t *Timeline) SendingEnded(now int64) bool {
	return t.end.Load() > 0 || now >= t.To()
}

// MaySend grants one more request of a bounded number.
func (t *Timeline) MaySend() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return false
	}
	t.granted++
	if t.granted == t.step.MaxRequests {
		t.stopLocked()
	}
	return true
}

// AwaitEnd returns at the end of the interval, which it brings about where that is a matter of
// time. drained is closed when all is answered.
func (t *Timeline) AwaitEnd(drained <-chan struct{}) {
	end := time.NewTimer(t.step.Duration)
	defer end.Stop()
	if !t.bounded {
		end.Reset(time.Duration(t.To() - t.Now()))
	}
	select {
	case <-end.C:
	case <-t.halted:
	case <-drained:
	}
	t.Stop()
	if t.bounded {
		// Everything that was asked for is measured.
		<-drained
		t.to.CompareAndSwap(Undecided, t.Now())
	}
}
