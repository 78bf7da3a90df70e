package portable

import (
	"time"

	"locbench/internal/host/thread"
)

// timerSlack is how late timers of the runtime may be. The rest of a nap is slept in the kernel.
const timerSlack = 3 * time.Millisecond

// nap sleeps until a moment, more exactly than the runtime's timers where the system permits it.
// Use it from one goroutine, which must end after close.
type nap struct {
	timer *time.Timer
	sleep func(time.Duration) // for at most timerSlack
}

// newNap returns a nap that sleeps its rest with sleep; nil is the kernel's, on a thread with
// realtime priority.
func newNap(sleep func(time.Duration)) *nap {
	if sleep == nil {
		thread.Own()
		thread.Prefer()
		sleep = thread.Sleep
	}
	return &nap{time.NewTimer(0), sleep}
}

func (n *nap) close() { n.timer.Stop() }

// until sleeps until t, or returns false when halted is closed.
func (n *nap) until(t time.Time, halted <-chan struct{}) bool {
	for {
		left := time.Until(t)
		select {
		case <-halted:
			return false
		default:
		}
		switch {
		case left <= 0:
			return true
		case left <= timerSlack:
			n.sleep(left)
		default:
			n.timer.Reset(left - timerSlack)
			select {
			case <-n.timer.C:
			case <-halted:
				return false
			}
		}
	}
}
