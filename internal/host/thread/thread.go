// Package thread is about how this process is scheduled while it drives load: it gives goroutines
// that must wake up on time their own thread, which the system prefers (Own, Prefer), sets the Go
// runtime (Tune), and notices when the machine itself stands still (WatchStalls). What a system cannot
// do or does not permit is left as it was.
package thread

import (
	"runtime"

	"locbench/internal/bench/cpuset"
)

// atFirst is for how many CPUs the Go runtime has found this process good for, a cgroup's quota
// included, before anybody changed that.
var atFirst = runtime.GOMAXPROCS(0)

// Cores returns how many CPUs this process has: those on which it may run, no more than a quota lets it
// use.
func Cores() int {
	if n := len(cpuset.OfThread()); n > 0 {
		return min(n, atFirst)
	}
	return atFirst
}

// Own gives the calling goroutine its own thread, which wakes from a sleep to the nanosecond
// where the system can do that, instead of to 50 µs. The thread is never given back: it ends with
// the goroutine.
func Own() {
	runtime.LockOSThread()
	sharpen()
}
