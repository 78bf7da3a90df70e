package thread

import (
	"time"

	"golang.org/x/sys/unix"
)

// slice is the turn that a preferred thread asks for. A shorter one is given sooner.
const slice = 100 * time.Microsecond

func sharpen() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // without it sleeps are a little longer
}

// Prefer lets the calling goroutine, which has called Own, run before others as soon as it wakes up: at nice -20, or, where that is not
// permitted, with short turns, which Linux 6.12 and later give sooner. It returns whether it was the former. Not a
// real-time class: a client that is busy all the time must not take a CPU from the contender altogether.
func Prefer() bool {
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Runtime: uint64(slice), Nice: -20}
	if unix.SchedSetAttr(0, &attr, 0) == nil {
		return true
	}
	attr.Nice = 0
	_ = unix.SchedSetAttr(0, &attr, 0)
	return false
}

// Pin keeps the calling goroutine, which has called Own, on one CPU. It returns whether it does.
func Pin(cpu int) bool {
	var set unix.CPUSet
	set.Set(cpu)
	return unix.SchedSetaffinity(0, &set) == nil
}

// CPUs are the numbers of those on which this process may run.
func CPUs() (numbers []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// Sleep sleeps in the kernel, not in the runtime's timers. Signals may end it early.
func Sleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}
