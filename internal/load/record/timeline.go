package record

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// Timeline is the course of a step: its clock, the start of each connection, the interval, and the
// end of sending. All threads of a loop read it. Moments are ns since the load began.
type Timeline struct {
	Interval
	step    bench.Step
	started time.Time    // when the load began
	whole   bool         // the whole step is measured, without a lead-in
	bounded bool         // the interval lasts until all requests are answered
	unled   atomic.Int64 // connections of a slice whose first iteration has not ended
	led     atomic.Int64 // when the lead-in of a slice is over; 0: not known yet
	slice   *Slice       // whole iterations count; nil: what ends within the interval

	mu      sync.Mutex
	stopped bool
	granted int64         // requests granted by MaySend
	halted  chan struct{} // closed once stopped
	end     atomic.Int64  // 1 + when sending ended; 0 before
	wake    func()        // makes the threads of a loop check the timeline; may be nil

	// The lead-in; see Answered.

	firstResponse     atomic.Int64  // the longest first exchange of a connection so far, in ns
	waiting           atomic.Int64  // connections without a response yet
	leadInOver        chan struct{} // closed when waiting is 0
	decided           chan struct{} // closed when the interval is decided
	othersStart       atomic.Int64  // when the other connections start; 0: no response yet
	startSpan         atomic.Int64  // over how many ns they start
	startTimesDecided chan struct{} // closed when othersStart is known
}

// init sets up the timeline of a step.
func (t *Timeline) init(s bench.Step) {
	t.step = s
	t.bounded = s.MaxRequests > 0
	t.whole = t.bounded || s.Arrivals != nil
	for _, c := range []*chan struct{}{&t.halted, &t.leadInOver, &t.decided, &t.startTimesDecided} {
		*c = make(chan struct{})
	}
	t.reset(t.Now)
}

// OnWake sets the function that makes threads of a loop check the timeline. Call it before Begin.
func (t *Timeline) OnWake(wake func()) { t.wake = wake }

func (t *Timeline) wakeAll() {
	if t.wake != nil {
		t.wake()
	}
}

// Begin starts the clock. early is how many requests of an open loop must be answered before the
// interval begins; in a closed loop every connection must have its first response.
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
		if t.slice != nil {
			t.startSpan.Store(int64(t.slice.Spread))
			t.unled.Store(int64(t.step.Connections))
		}
	}
}

// Now returns the clock of the step.
func (t *Timeline) Now() int64 { return int64(time.Since(t.started)) }

// At returns a time as a moment of the step.
func (t *Timeline) At(now time.Time) int64 { return int64(now.Sub(t.started)) }

// Time returns a moment of the step as a time.
func (t *Timeline) Time(at int64) time.Time { return t.started.Add(time.Duration(at)) }

// Began returns when the interval began, or the load if that ended before.
func (t *Timeline) Began() time.Time {
	if from := t.From(); from != Undecided {
		return t.Time(from)
	}
	return t.started
}

// Bounded reports whether the number of requests is bounded: then the interval lasts until all are
// answered.
func (t *Timeline) Bounded() bool { return t.bounded }

// Stop ends sending, and the interval unless that lasts until all requests are answered. After it
// returns, no request is sent.
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

// Halted returns a channel that is closed by Stop.
func (t *Timeline) Halted() <-chan struct{} { return t.halted }

// Stopped reports whether Stop has been called.
func (t *Timeline) Stopped() bool { return t.end.Load() > 0 }

// SendingEnded reports whether no more requests may be sent at a moment.
func (t *Timeline) SendingEnded(now int64) bool {
	return t.end.Load() > 0 || now >= t.To()
}

// MaySend reports whether one more of a bounded number of requests may be sent, and counts it.
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

// AwaitEnd waits for the end of the interval, and ends it when its time has come; for that of a
// slice it only waits. drained is closed
// when all requests are answered.
func (t *Timeline) AwaitEnd(drained <-chan struct{}) {
	length := t.step.Duration
	switch {
	case t.slice != nil:
		length = t.slice.End - time.Duration(t.Now())
	case !t.bounded:
		length = time.Duration(t.To() - t.Now())
	}
	end := time.NewTimer(length)
	defer end.Stop()
	select {
	case <-end.C:
		if t.slice != nil { // iterations continue
			return
		}
	case <-t.halted:
	case <-drained:
	}
	t.Stop()
	if t.bounded {
		// All requests are measured.
		<-drained
		t.to.CompareAndSwap(Undecided, t.Now())
	}
}
