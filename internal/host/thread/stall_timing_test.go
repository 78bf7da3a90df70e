//go:build acceptance && timing && linux

package thread

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/testenv"
)

// A thread of a higher priority that keeps a CPU for 60 ms affects the watching thread like a
// hypervisor that runs another machine.
func TestAStallIsSeen(t *testing.T) {
	defer Tune(StallThreads()).Stop()
	m := WatchStalls(time.Millisecond)
	defer m.Stop()
	if !m.Take().Realtime {
		t.Skip("SKIP: no real-time class for this user")
	}
	cpu := cpuset.OfThread()[0]
	// One in some hundred times the CPU is taken between two naps, which is not noticed.
	noticed := 0
	for range 3 {
		time.Sleep(20 * time.Millisecond)
		m.Take()
		hold(t, cpu, 60*time.Millisecond)
		if seen(m) {
			noticed++
		}
	}
	testenv.Check(t, noticed != 0, "no stall noticed after CPU %d was taken", cpu)
}

// hold takes a CPU from all other threads.
func hold(t testing.TB, cpu int, d time.Duration) {
	t.Helper()
	held := make(chan error)
	go func() {
		Own()
		_ = cpuset.KeepThread(cpuset.Of(cpu))
		err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 3}, 0)
		for from := time.Now(); err == nil && time.Since(from) < d; {
			runtime.KeepAlive(cpu)
		}
		held <- err
	}()
	if err := <-held; err != nil {
		t.Skip("SKIP: no real-time class for this user: ", err)
	}
}

// seen waits for a long stall.
func seen(m *StallMeter) bool {
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if m.Take().Max > 20*time.Millisecond {
			return true
		}
	}
	return false
}
