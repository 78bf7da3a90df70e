// Package thread controls how this process is scheduled while it drives load. It gives goroutines
// that must wake up on time their own thread, which the system prefers (Own, Prefer), sets the Go
// runtime (Tune), and notices machine stalls (WatchStalls). It changes nothing that the system
// cannot do or does not permit.
package thread

import (
	"runtime"
	"time"

	"github.com/locbench/locbench/internal/bench/cpuset"
)

// initialProcs is the Go runtime's initial GOMAXPROCS, which takes a cgroup's quota into account.
var initialProcs = runtime.GOMAXPROCS(0)

// Cores returns the number of CPUs on which this process may run, limited by a quota.
func Cores() int {
	if n := len(cpuset.OfThread()); n > 0 {
		return min(n, initialProcs)
	}
	return initialProcs
}

// Own gives the calling goroutine its own thread. If the system can do it, the thread wakes up from
// a sleep on time to the nanosecond instead of to 50 µs. The thread ends with the goroutine.
func Own() {
	runtime.LockOSThread()
	sharpen()
}

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
