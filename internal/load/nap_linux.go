package load

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sharpen makes the thread of this goroutine sleep to the nanosecond instead of to 50 µs. The thread is never given back: it
// ends with the goroutine.
func sharpen() {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // without it naps are a little longer
}

// sleep sleeps in the kernel. Signals may end it early.
func sleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}
