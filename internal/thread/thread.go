// Package thread gives goroutines that must wake up on time a thread of their own with which the system deals better than with others.
// What a system cannot do or does not permit is left as it was.
package thread

import (
	"runtime"
	"sync"
)

// atFirst is for how many CPUs the Go runtime has found this process good for, a cgroup's quota included, before anybody changed that.
var atFirst = runtime.GOMAXPROCS(0)

// Cores is how many CPUs this process has: those on which it may run, no more than a quota lets it use.
func Cores() int {
	if n := len(CPUs()); n > 0 {
		return min(n, atFirst)
	}
	return atFirst
}

var procs struct {
	sync.Mutex
	taken, before int
}

// spare is for how many goroutines that have to go on at once there is room to run Go code besides all others.
const spare = 2

// Room lets more threads run Go code at the same time than there are CPUs: for kept ones which do not give up that right while they sleep, and some
// more. Without, a thread that the kernel lets run at once would wait for the Go scheduler's leave: all of its places may be held by threads that
// the kernel lets wait. close takes it back.
func Room(kept int) (close func()) {
	procs.Lock()
	defer procs.Unlock()
	if procs.taken == 0 {
		procs.before = runtime.GOMAXPROCS(0)
	}
	procs.taken += kept + spare
	runtime.GOMAXPROCS(procs.before + procs.taken)
	return sync.OnceFunc(func() {
		procs.Lock()
		defer procs.Unlock()
		procs.taken -= kept + spare
		runtime.GOMAXPROCS(procs.before + procs.taken)
	})
}

// Rebase says that somebody has set GOMAXPROCS anew while there may be room: the room comes on top again.
func Rebase() {
	procs.Lock()
	defer procs.Unlock()
	procs.before = runtime.GOMAXPROCS(0)
	if procs.taken > 0 {
		runtime.GOMAXPROCS(procs.before + procs.taken)
	}
}

// Own gives the calling goroutine a thread of its own, which wakes from a sleep to the nanosecond where the system can do that, instead of to 50 µs. The
// thread is never given back: it ends with the goroutine.
func Own() {
	runtime.LockOSThread()
	sharpen()
}
