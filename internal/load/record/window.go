package record

import (
	"math"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// batchTime is how long a window waits for threads that still count what ended in it.
const batchTime = 2 * time.Millisecond

// settleTime is the default of Recorder.SettleTime.
const settleTime = 100 * time.Millisecond

// closeWindow ends the current window at end, since the load began, and opens one that ends at
// until.
func (r *Recorder) closeWindow(end, until time.Duration) bench.Window {
	r.gather(int64(until))
	w := r.window.snapshot(r.windowFrom, end, r.Rate)
	w.Start -= time.Duration(r.From())
	r.Ended.Add(r.window)
	r.window.reset()
	r.windowFrom = end
	return w
}

// snapshot returns the tally as a window between two moments.
func (t *Tally) snapshot(from, end time.Duration, rate float64) bench.Window {
	w := t.Window
	w.Start, w.Length, w.Rate = from, end-from, rate
	w.P50, w.P90, w.P99, w.Max = t.Latency.Quantile(.50), t.Latency.Quantile(.90), t.Latency.Quantile(.99), t.Latency.Max()
	w.Failed = nil
	w.Failed.Add(t.Failed)
	return w
}

// partTime is the time between two looks at a window that is not closed.
const partTime = 250 * time.Millisecond

// CloseWindows closes a window every length from the beginning of the interval to its end, and
// delivers each to onWindow. If the interval ends less than half a window after a boundary, the
// window extends to that end. onPart, if not nil, gets four times a second what is in the window
// so far.
func (r *Recorder) CloseWindows(length time.Duration, drained <-chan struct{}, onWindow, onPart func(bench.Window)) {
	deliver, parts := NewDelivery(onWindow), NewDelivery(onPart)
	defer deliver.Finish()
	defer parts.Finish()
	keep := func(w bench.Window) {
		r.Windows = append(r.Windows, w)
		deliver.Add(w)
	}
	from := time.Duration(r.From())
	r.gather(int64(from + length)) // what ended before the interval is in no window
	r.windowFrom = from
	timer := time.NewTimer(0)
	defer timer.Stop()
	// next sets the timer to the next part, and to the end of the window at the latest.
	next := func(end time.Duration) (at time.Duration) {
		if at = end; onPart != nil {
			at = min(at, from+(time.Duration(r.Now())-batchTime-from).Truncate(partTime)+partTime)
		}
		timer.Reset(at + batchTime - time.Duration(r.Now()))
		return at
	}
	for boundary := from + length; boundary+length/2 < time.Duration(r.To()); {
		at := next(boundary)
		select {
		case <-timer.C:
			if at == boundary {
				keep(r.closeWindow(boundary, boundary+length))
				boundary += length
			} else {
				parts.Add(r.part(at, boundary))
			}
			continue
		case <-r.halted:
		case <-drained:
		}
		break
	}
	ended := r.Halted()
	if r.bounded {
		ended = drained
	}
	const never = math.MaxInt64 / 2
	for over := false; !over; {
		at := next(never)
		select {
		case <-timer.C:
			parts.Add(r.part(at, Undecided))
		case <-ended:
			over = true
		}
	}
	r.closeLast(timer, drained, keep)
}

// part returns what the window has at a moment; boundary is its end, Undecided for the last one.
func (r *Recorder) part(at, boundary time.Duration) bench.Window {
	r.gather(int64(boundary))
	w := r.window.snapshot(r.windowFrom, at, r.Rate)
	w.Start -= time.Duration(r.From())
	return w
}

// closeLast closes the window in which the interval ends.
func (r *Recorder) closeLast(timer *time.Timer, drained <-chan struct{}, keep func(bench.Window)) {
	if r.bounded {
		<-drained
		r.to.CompareAndSwap(Undecided, r.Now())
	} else {
		<-r.halted
		timer.Reset(r.SettleTime)
		select {
		case <-timer.C:
		case <-drained:
		}
	}
	r.gather(Undecided) // no boundary follows
	if end := time.Duration(r.To()); end > r.windowFrom || len(r.Windows) == 0 {
		keep(r.closeWindow(end, Undecided))
	}
}

// Finish adds what came after the last window: the drain, and what a delayed thread counted late.
// Call it when all requests are answered and the windows are closed.
func (r *Recorder) Finish() {
	for range 2 { // the tally of the window, and the one after its end
		r.gather(Undecided)
	}
	if n := len(r.Windows); n > 0 {
		last, late := &r.Windows[n-1], r.window
		last.Add(bench.Window{Succeeded: late.Succeeded, Bytes: late.Bytes, Rejected: late.Rejected})
	}
	r.Ended.Add(r.window)
	for _, c := range r.counters {
		r.Breakdown.Add(c.Breakdown)
		r.sample.Merge(c.sample, later(-time.Duration(r.From())))
	}
	r.FirstResponse = time.Duration(r.firstResponse.Load())
	r.Started, r.Elapsed = r.Began(), r.Interval.Length()
	if r.slice != nil && r.step.Connections > 0 {
		r.Elapsed = r.ConnectionTime / time.Duration(r.step.Connections)
		r.LeadIn = r.Interval.Length() - r.Elapsed
	}
}
