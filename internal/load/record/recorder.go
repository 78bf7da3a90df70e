// Package record keeps what the loops of a step see: the step's course in time, counters for each
// thread, the windows that are cut from them, and what all of it comes to.
//
// Threads write into counters of their own; one goroutine gathers them when a window ends. What is
// summed over threads, windows and turns is in structs with an Add method, and a test finds a field
// that one of them forgets.
package record

import (
	"sync/atomic"
	"time"

	"locbench/internal/bench"
)

// Recorder collects what the loop of a step sees, in a window at a time.
type Recorder struct {
	Timeline
	// SettleTime is for how long the last window waits for a thread that has not counted yet what it
	// saw within the interval; New makes it 100 ms.
	SettleTime time.Duration
	counters   []*Counters // made before the start
	failed     atomic.Pointer[error]

	// What follows belongs to the goroutine that closes windows, and to whoever has waited for it.

	Result
	window     *Tally
	windowFrom time.Duration // since the beginning of the load
}

// New makes the recorder of a step whose mix has requests and sessions of these names.
func New(s bench.Step, names []string, sessions ...string) *Recorder {
	r := &Recorder{Result: newResult(s, names, sessions), window: newTally(s.Open()), SettleTime: settleTime}
	r.init(s)
	return r
}

// NewCounters makes counters for one thread of the loop.
func (r *Recorder) NewCounters() *Counters {
	c := newCounters(r.Open, len(r.names), len(r.sessions))
	r.counters = append(r.counters, c)
	return c
}

// Idled notes for how long one of the client's threads has waited for something to do within the
// interval.
func (r *Recorder) Idled(d time.Duration) {
	if length := r.Interval.Length(); length > 0 {
		r.Saturation = max(r.Saturation, 1-float64(d)/float64(length))
	}
}

// Fail stops the sending, as nothing can be sent any more. The first error stays.
func (r *Recorder) Fail(err error) {
	r.failed.CompareAndSwap(nil, &err)
	r.Stop()
}

// Err returns what the sending was stopped for by Fail; nil where it was not.
func (r *Recorder) Err() error {
	if err := r.failed.Load(); err != nil {
		return *err
	}
	return nil
}
