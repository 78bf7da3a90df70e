package record

import (
	"sync"

	"github.com/locbench/locbench/internal/bench"
)

// Delivery hands windows to a callback from its own goroutine, so a slow one delays nothing else.
type Delivery struct {
	onWindow func(bench.Window) // may be nil
	mu       sync.Mutex
	queue    []bench.Window
	running  bool
	wg       sync.WaitGroup
}

// NewDelivery returns a delivery to onWindow, which may be nil.
func NewDelivery(onWindow func(bench.Window)) *Delivery { return &Delivery{onWindow: onWindow} }

// Add hands over a window.
func (d *Delivery) Add(w bench.Window) {
	if d.onWindow == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, w)
	if !d.running {
		d.running = true
		d.wg.Go(d.run)
	}
}

// Finish waits until all windows have been delivered.
func (d *Delivery) Finish() { d.wg.Wait() }

// run delivers until the queue is empty.
func (d *Delivery) run() {
	for {
		d.mu.Lock()
		queue := d.queue
		d.queue, d.running = nil, len(queue) > 0
		d.mu.Unlock()
		if len(queue) == 0 {
			return
		}
		for _, w := range queue {
			d.onWindow(w)
		}
	}
}
