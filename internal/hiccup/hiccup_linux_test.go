package hiccup

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locbench/internal/thread"
)

// A thread of a higher priority that keeps a CPU for 60 ms is to the watching thread what a hypervisor is that runs another machine.
func TestAStallIsSeen(t *testing.T) {
	m := StartKept(time.Millisecond)
	defer m.Stop()
	if !m.Take().Preferred {
		t.Skip("SKIP: no real-time class for this user")
	}
	cpu := thread.CPUs()[0]
	held := make(chan error)
	var from, to time.Time
	go func() {
		thread.Own()
		thread.Pin(cpu)
		err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 2}, 0)
		from = time.Now()
		for err == nil && time.Since(from) < 60*time.Millisecond {
			runtime.KeepAlive(cpu)
		}
		to = time.Now()
		held <- err
	}()
	if err := <-held; err != nil {
		t.Skip("SKIP: no real-time class for this user: ", err)
	}
	deadline := time.Now().Add(5 * time.Second)
	for time.Now().Before(deadline) {
		for _, g := range m.Gaps() {
			// Whatever else stands still on this machine: a long gap on that CPU within that time is the one.
			if g.CPU == cpu && g.Length > 20*time.Millisecond && g.At.Before(to) && g.At.Add(g.Length).After(from) {
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("nobody noticed that CPU %d was taken from %v to %v", cpu, from, to)
}
