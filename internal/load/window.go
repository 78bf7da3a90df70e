package load

import (
	"sync"
	"time"

	"locbench/internal/bench"
)

// closeWindow ends the window in use and opens the next one. The figures are computed outside the lock.
//
// The window in which the sending ended is as long as Load.Elapsed tells for the step: until that end plus the mean, over the
// connections, of how much later their last success came. What it then still waited for answers would understate its rate.
func (r *recorder) closeWindow() bench.Window {
	r.gather()
	r.mu.Lock()
	now := time.Since(r.started)
	done := r.window
	r.window, r.spare = r.spare, done
	r.window.from = now
	// The first window is none of the drain, even if the clock did not advance while requests were sent.
	drain := r.stopped && done.from >= r.sending && done.from > 0
	end := now
	if r.stopped && !drain {
		end = r.elapsed()
	}
	rate := 0.
	if r.open != nil && !drain {
		rate = r.open.rate
	}
	r.mu.Unlock()

	w := done.told(end, rate)
	w.Drain = drain
	r.total.add(done)
	done.reset(0)
	return w
}

// told is the window that ends at end.
func (t *tally) told(end time.Duration, rate float64) bench.Window {
	w := bench.Window{
		Start: t.from, Length: end - t.from, Succeeded: t.succeeded, Bytes: t.bytes,
		P50: t.latency.Quantile(.50), P90: t.latency.Quantile(.90), P99: t.latency.Quantile(.99),
		Max: t.latency.Max(), Sent: t.sent, Due: t.due, Late: t.late, Dropped: t.dropped, Rate: rate,
	}
	if len(t.failed) > 0 {
		w.Failed = make(map[bench.ErrorKind]int64, len(t.failed))
		for kind, n := range t.failed {
			w.Failed[kind] = n
		}
	}
	return w
}

// closeWindows closes a window every length until drained, and then the last one, and delivers each to onWindow.
// A boundary at the end of the step waits half a window for the answers in flight: they belong to the last window then,
// instead of making a very short one with an odd rate. Windows of the drain behind it are left out when nothing ended in them.
func (r *recorder) closeWindows(duration, length time.Duration, drained <-chan struct{}, onWindow func(bench.Window)) {
	deliver := newDelivery(onWindow)
	defer deliver.finish()
	var settling settling
	keep := func(w bench.Window) {
		r.windows = append(r.windows, w)
		deliver.add(w)
		if r.settles && r.settled == 0 && settling.add(w, length) {
			r.settled = w.Start + w.Length
			r.stop()
		}
	}
	something := func(w bench.Window) bool { return w.Succeeded+w.Due+w.Sent+w.Dropped > 0 || len(w.Failed) > 0 }
	boundary := time.Duration(0)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		boundary += length
		if boundary >= duration && boundary < duration+length/2 {
			boundary = duration + length/2
		}
		timer.Reset(boundary - time.Since(r.started))
		select {
		case <-timer.C:
			if w := r.closeWindow(); !w.Drain || something(w) {
				keep(w)
			}
		case <-drained:
			if w := r.closeWindow(); something(w) || len(r.windows) == 0 {
				keep(w)
			}
			return
		}
	}
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
