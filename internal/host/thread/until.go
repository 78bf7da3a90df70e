package thread

import "time"

// timerSlack is how late timers of the runtime may be. The rest of a nap is slept in the kernel.
const timerSlack = 3 * time.Millisecond

// Nap sleeps until a moment, more exactly than the runtime's timers where the system permits it.
// Use it from one goroutine, which must end after Close.
type Nap struct {
	timer *time.Timer
	sleep func(time.Duration) // for at most timerSlack
}

// NewNap returns a Nap that sleeps its rest with sleep; nil is the kernel's, on a thread with
// realtime priority.
func NewNap(sleep func(time.Duration)) *Nap {
	if sleep == nil {
		Own()
		Prefer()
		sleep = Sleep
	}
	return &Nap{time.NewTimer(0), sleep}
}

// Close frees its timer.
func (n *Nap) Close() { n.timer.Stop() }

// Until sleeps until t, or returns false when halted is closed.
func (n *Nap) Until(t time.Time, halted <-chan struct{}) bool {
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
