package thread

import (
	"testing"

	"golang.org/x/sys/unix"
)

// On one CPU a thread that spins for another, as those of the Go runtime do, must not be of the real-time class.
func TestPreferNeedsTwoCPUs(t *testing.T) {
	all := CPUs()
	classes := make(chan [2]uint32)
	go func() {
		Own()
		free := Prefer()
		var got [2]uint32
		got[0] = class(t)
		if want := uint32(unix.SCHED_NORMAL); free {
			want = unix.SCHED_FIFO
			if got[0] != want {
				t.Errorf("class %d, not %d", got[0], want)
			}
		}
		Pin(all[0])
		if Prefer() {
			t.Error("real-time with one CPU")
		}
		got[1] = class(t)
		classes <- got
	}()
	if got := <-classes; got[1] != unix.SCHED_NORMAL {
		t.Errorf("class %d on one CPU", got[1])
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
