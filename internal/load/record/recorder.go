// Package record keeps what the loops of a step see: the timeline of the step, counters per thread,
// the windows cut from them, and the result.
//
// Each thread writes into its own counters; one goroutine gathers them when a window ends. Structs
// with an Add method hold sums over threads, windows and slices. A test finds fields that an Add
// forgets.
package record

import (
	"sync/atomic"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// Recorder collects what the loop of a step sees, one window at a time.
type Recorder struct {
	Timeline
	// SettleTime is how long the last window waits for threads that have not counted yet what they
	// saw within the interval; New sets 100 ms.
	SettleTime time.Duration
	Seed       uint64      // decides which requests are kept
	counters   []*Counters // made before the start
	failed     atomic.Pointer[error]

	// The goroutine that closes windows owns the fields below, and after it the one that has waited
	// for it.

	Result
	window     *Tally
	windowFrom time.Duration // since the load began
}

// New returns the recorder of a step whose mix has requests and sessions with these names.
func New(s bench.Step, names []string, sessions ...string) *Recorder {
	r := &Recorder{Result: newResult(s, names, sessions), window: newTally(s.Open()), SettleTime: settleTime}
	r.init(s)
	return r
}

// NewCounters returns counters for one thread of the loop.
func (r *Recorder) NewCounters() *Counters {
	c := newCounters(r.Open, len(r.names), len(r.sessions))
	c.sample, c.names = newSample(r.step, r.Seed, len(r.counters)), r.names
	r.counters = append(r.counters, c)
	return c
}

// Idled records how long one of the client's threads had nothing to do within the interval.
func (r *Recorder) Idled(d time.Duration) {
	length := r.Interval.Length()
	if r.slice != nil {
		length = time.Duration(r.Now())
	}
	if length > 0 {
		r.Saturation = max(r.Saturation, 1-float64(d)/float64(length))
	}
}

// Fail stops sending, as nothing can be sent any more. The first error stays.
func (r *Recorder) Fail(err error) {
	r.failed.CompareAndSwap(nil, &err)
	r.Stop()
}

// Err returns the error passed to Fail; nil if there was none.
func (r *Recorder) Err() error {
	if err := r.failed.Load(); err != nil {
		return *err
	}
	return nil
}
