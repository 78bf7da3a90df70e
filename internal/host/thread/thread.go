// Package thread controls how this process is scheduled while it drives load. It gives goroutines
// that must wake up on time their own thread, which the system prefers (Own, Prefer), sets the Go
// runtime (Tune), and notices machine stalls (WatchStalls). It changes nothing that the system
// cannot do or does not permit.
package thread

import (
	"runtime"

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
