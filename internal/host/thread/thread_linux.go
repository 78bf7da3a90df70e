package thread

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"locbench/internal/bench/cpuset"
)

// slice is the turn that a thread asks for which may not be preferred otherwise. A shorter one is
// given sooner.
const slice = 100 * time.Microsecond

func sharpen() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // without it sleeps are a little longer
}

// Prefer lets the calling goroutine, which has called Own, run before all others as soon as it
// wakes up: in the real-time class (SCHED_FIFO). Priorities of the ordinary class would not do:
// where the kernel shares CPUs between sessions and containers first (autogroups, cgroups), they
// count within a session only. It returns false where that is not permitted; then the thread asks
// for short turns, which Linux 6.12 and later give sooner. So it does where this process has one
// CPU only: the Go runtime waits for its own threads by spinning at times, in the belief that they
// continue meanwhile, and a real-time thread that spins on the only CPU of the one it waits for stands
// until the kernel takes its class away for the rest of a second.
//
// Who is busy for long must call Ordinary, or takes a CPU from everybody else.
func Prefer() bool {
	if len(cpuset.OfThread()) < 2 || !realTime(1) {
		Ordinary()
		return false
	}
	return true
}

// preferOverAll lets the calling goroutine, which has called Own, run before those that have called
// Prefer, too. It is for those who hardly do anything.
func preferOverAll() bool { return realTime(2) }

func realTime(priority uint32) bool {
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: priority}
	return unix.SchedSetAttr(0, &attr, 0) == nil
}

// Ordinary takes back what Prefer has done, but for the short turns.
func Ordinary() {
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Runtime: uint64(slice)}
	_ = unix.SchedSetAttr(0, &attr, 0) // it fails only on kernels that do not know of turns
}

// Sleep sleeps in the kernel, not in the runtime's timers. Signals may end it early.
func Sleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}

// nap sleeps as Sleep does, but without the knowledge of the Go scheduler: the thread keeps its
// right to run Go code, and continues as soon as the kernel lets it, whatever other goroutines do. It
// takes one from GOMAXPROCS for that time (see Tune). A signal ends it early, such as
// the garbage collector's when everybody has to stop.
func nap(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}
