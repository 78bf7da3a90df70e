package thread

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/testenv"
)

// On one CPU a thread that spins for another, as those of the Go runtime do, must not be of the
// real-time class.
func TestPreferNeedsTwoCPUs(t *testing.T) {
	pinned := make(chan uint32)
	go func() {
		Own()
		if Prefer() {
			testenv.Equal(t, class(t), unix.SCHED_FIFO, "class")
		}
		_ = cpuset.KeepThread(cpuset.OfThread().First(1))
		testenv.Check(t, !Prefer(), "real-time with one CPU")
		pinned <- class(t)
	}()
	testenv.Equal(t, <-pinned, unix.SCHED_NORMAL, "class")
}

func class(t *testing.T) uint32 {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		t.Error(err)
		return 0
	}
	return attr.Policy
}
