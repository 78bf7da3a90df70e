package hiccup

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locbench/internal/thread"
)

// A thread of a higher priority that keeps a CPU for 60 ms is to the watching thread what a
// hypervisor is that runs another machine.
func TestAStallIsSeen(t *testing.T) {
	m := StartKept(time.Millisecond)
	defer m.Stop()
	if !m.Take().Preferred {
		t.Skip("SKIP: no real-time class for this user")
	}
	cpu := thread.CPUs()[0]
	// A CPU that is taken between two naps is not seen: it may need more than one attempt.
	for attempt := 0; attempt < 5; attempt++ {
		time.Sleep(20 * time.Millisecond)
		if from, to := hold(t, cpu, 60*time.Millisecond); seen(m, cpu, from, to) {
			return
		}
	}
	t.Errorf("nobody noticed that CPU %d was taken from it", cpu)
}

// hold takes a CPU from everybody else.
func hold(t *testing.T, cpu int, d time.Duration) (from, to time.Time) {
	t.Helper()
	held := make(chan error)
	go func() {
		thread.Own()
		thread.Pin(cpu)
		err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 3}, 0)
		from = time.Now()
		for err == nil && time.Since(from) < d {
			runtime.KeepAlive(cpu)
		}
		to = time.Now()
		held <- err
	}()
	if err := <-held; err != nil {
		t.Skip("SKIP: no real-time class for this user: ", err)
	}
	return from, to
}

// seen waits for a long gap on that CPU within that time, whatever else stands still on this
// machine.
func seen(m *Meter, cpu int, from, to time.Time) bool {
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		for _, g := range m.Gaps() {
			if g.CPU == cpu && g.Length > 20*time.Millisecond && g.At.Before(to) && g.At.Add(g.Length).After(from) {
				return true
			}
		}
	}
	return false
}
