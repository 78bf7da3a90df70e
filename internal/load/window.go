package load

import (
	"sync"
	"time"

	"locbench/internal/bench"
)

// batchTime is for how long a window waits for threads that count what they saw before its end.
const batchTime = 2 * time.Millisecond

// settleTime is for how long the last window waits for a thread that has not counted yet what it saw within the interval.
const settleTime = 100 * time.Millisecond

// closeWindow ends the window in use at end, since the beginning of the load, and opens one that is to end at until.
func (r *recorder) closeWindow(end, until time.Duration) bench.Window {
	r.gather(int64(until))
	done := r.window
	r.window, r.spare = r.spare, done
	r.window.from = end
	w := done.window(end, r.rate)
	w.Start -= time.Duration(r.interval.from.Load())
	r.total.add(done)
	done.reset(0)
	return w
}

// window is t as the window that ends at end.
func (t *tally) window(end time.Duration, rate float64) bench.Window {
	w := bench.Window{
		Start: t.from, Length: end - t.from, Succeeded: t.succeeded, Bytes: t.bytes,
		P50: t.latency.Quantile(.50), P90: t.latency.Quantile(.90), P99: t.latency.Quantile(.99),
		Max: t.latency.Max(), Sent: t.sent, Due: t.due, Late: t.late, Dropped: t.dropped, Rate: rate,
	}
	if len(t.failed) > 0 {
		w.Failed = make(map[bench.ErrorKind]int64, len(t.failed))
		addFailures(w.Failed, t.failed)
	}
	return w
}

// closeWindows closes a window every length from the beginning of the interval to its end, and delivers each to onWindow. An end that
// comes within half a window of a boundary takes the place of that.
func (r *recorder) closeWindows(length time.Duration, drained <-chan struct{}, onWindow func(bench.Window)) {
	deliver := newDelivery(onWindow)
	defer deliver.finish()
	keep := func(w bench.Window) {
		r.windows = append(r.windows, w)
		if r.closed != nil && r.closed(w) {
			r.stop()
		}
		deliver.add(w)
	}
	from := time.Duration(r.interval.from.Load())
	r.gather(int64(from + length)) // what was before the interval is in none of its windows
	r.window.from = from
	timer := time.NewTimer(0)
	defer timer.Stop()
	for boundary := from + length; boundary+length/2 < time.Duration(r.interval.to.Load()); boundary += length {
		timer.Reset(boundary + batchTime - time.Since(r.started))
		select {
		case <-timer.C:
			keep(r.closeWindow(boundary, boundary+length))
			continue
		case <-r.halted:
		case <-drained:
		}
		break
	}
	r.closeLast(timer, drained, keep)
}

// closeLast closes the window in which the interval ends.
func (r *recorder) closeLast(timer *time.Timer, drained <-chan struct{}, keep func(bench.Window)) {
	if r.bounded {
		<-drained
		r.interval.to.CompareAndSwap(undecided, r.now())
	} else {
		<-r.halted
		timer.Reset(settleTime)
		select {
		case <-timer.C:
		case <-drained:
		}
	}
	r.gather(undecided) // up to the boundary that does not come any more
	if end := time.Duration(r.interval.to.Load()); end > r.window.from || len(r.windows) == 0 {
		keep(r.closeWindow(end, undecided))
	}
}

// gatherRest takes over what came after the last window: the drain, and what a thread that was kept from running has counted late.
func (r *recorder) gatherRest() {
	for range 2 { // those of the window, and those behind its end
		r.gather(undecided)
	}
	if n := len(r.windows); n > 0 {
		last := &r.windows[n-1]
		last.Succeeded += r.window.succeeded
		last.Bytes += r.window.bytes
	}
	r.total.add(r.window)
}

// delivery hands windows to a callback from a goroutine of its own, so that a slow callback holds up nothing.
type delivery struct {
	mu    sync.Mutex
	queue []bench.Window
	ended bool
	wake  chan struct{}
	done  chan struct{}
}

func newDelivery(onWindow func(bench.Window)) *delivery {
	d := &delivery{wake: make(chan struct{}, 1), done: make(chan struct{})}
	go d.run(onWindow)
	return d
}

// finish waits until all windows have been delivered.
func (d *delivery) finish() {
	d.mu.Lock()
	d.ended = true
	d.mu.Unlock()
	d.signal()
	<-d.done
}

func (d *delivery) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *delivery) run(onWindow func(bench.Window)) {
	defer close(d.done)
	for range d.wake {
		d.mu.Lock()
		queue, ended := d.queue, d.ended
		d.queue = nil
		d.mu.Unlock()
		for _, w := range queue {
			if onWindow != nil {
				onWindow(w)
			}
		}
		if ended {
			return
		}
	}
}

func (d *delivery) add(w bench.Window) {
	d.mu.Lock()
	d.queue = append(d.queue, w)
	d.mu.Unlock()
	d.signal()
}
