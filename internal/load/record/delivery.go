package record

import (
	"sync"

	"locbench/internal/bench"
)

// Delivery hands windows to a callback from a goroutine of its own, so that a slow callback holds
// up nothing.
type Delivery struct {
	mu    sync.Mutex
	queue []bench.Window
	ended bool
	wake  chan struct{}
	done  chan struct{}
}

func NewDelivery(onWindow func(bench.Window)) *Delivery {
	d := &Delivery{wake: make(chan struct{}, 1), done: make(chan struct{})}
	go d.run(onWindow)
	return d
}

// Finish waits until all windows have been delivered.
func (d *Delivery) Finish() {
	d.mu.Lock()
	d.ended = true
	d.mu.Unlock()
	d.signal()
	<-d.done
}

func (d *Delivery) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *Delivery) run(onWindow func(bench.Window)) {
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

// Add hands over a window.
func (d *Delivery) Add(w bench.Window) {
	d.mu.Lock()
	d.queue = append(d.queue, w)
	d.mu.Unlock()
	d.signal()
}
