package thread

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench/cpuset"
)

// slice is the time slice that a thread requests if it may not use the real-time class. The kernel
// runs a thread with a shorter slice sooner.
const slice = 100 * time.Microsecond

func sharpen() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // if it fails, sleeps are slightly longer
}

// Prefer lets the calling goroutine, which has called Own, run before all others as soon as it
// wakes up: in the real-time class (SCHED_FIFO). Priorities of the ordinary class do not suffice:
// if the kernel first shares CPUs between sessions and containers (autogroups, cgroups), they only
// count within a session. Prefer returns false if it is not permitted. Then the thread requests a
// short time slice, which makes Linux 6.12 and later run it sooner. The same happens with only one
// CPU: the Go runtime sometimes waits for its own threads by spinning. A real-time thread that
// spins on the only CPU blocks the thread it waits for, for up to a second.
//
// A thread that is busy for long must call Ordinary, or it takes a CPU from all others.
func Prefer() bool {
	if len(cpuset.OfThread()) < 2 || !realTime(1) {
		Ordinary()
		return false
	}
	return true
}

// preferOverAll lets the calling goroutine, which has called Own, run even before those that have
// called Prefer. It is for threads with hardly any work.
func preferOverAll() bool { return realTime(2) }

func realTime(priority uint32) bool {
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: priority}
	return unix.SchedSetAttr(0, &attr, 0) == nil
}

// Ordinary undoes Prefer, except for the short time slice.
func Ordinary() {
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Runtime: uint64(slice)}
	_ = unix.SchedSetAttr(0, &attr, 0) // fails only on kernels without time slices
}

// Sleep sleeps in the kernel, not in the runtime's timers. Signals may end it early.
func Sleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}

// Sleep sleeps like the function, in a wait that is not announced to the Go scheduler: the thread continues as
// soon as the kernel lets it, whatever other goroutines do.
func (w *Wait) Sleep(d time.Duration) {
	if driving.Load() == 0 { // nothing is delayed, and the world is stopped at once
		Sleep(d)
		return
	}
	w.left = unix.NsecToTimespec(int64(d))
	_, _ = w.Call(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&w.left)), 0, 0, 0, 0, 0)
}
