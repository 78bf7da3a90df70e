package thread

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench/cpuset"
)

// On one CPU a thread that spins for another, as those of the Go runtime do, must not be of the
// real-time class.
func TestPreferNeedsTwoCPUs(t *testing.T) {
	pinned := make(chan uint32)
	go func() {
		Own()
		if Prefer() {
			if got := class(t); got != unix.SCHED_FIFO {
				t.Errorf("class %d, though preferred", got)
			}
		}
		_ = cpuset.KeepThread(cpuset.OfThread().First(1))
		if Prefer() {
			t.Error("real-time with one CPU")
		}
		pinned <- class(t)
	}()
	if got := <-pinned; got != unix.SCHED_NORMAL {
		t.Errorf("class %d on one CPU", got)
	}
}

func class(t *testing.T) uint32 {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		t.Error(err)
		return 0
	}
	return attr.Policy
}
