//go:build acceptance && timing && linux

package thread

import (
	"fmt"
	"runtime"
	"sync"
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

// BenchmarkPlantedStalls plants stalls of 2 and 10 ms on one CPU and on all, and reports how many
// are noticed with a look every LookEvery and half as often, and the CPU time of looking.
//
//	go test -tags acceptance,timing -run '^$' -bench PlantedStalls -benchtime 1x ./internal/host/thread
func BenchmarkPlantedStalls(b *testing.B) {
	const planted = 150
	defer Tune(2 * StallThreads()).Stop()
	cpus := cpuset.OfThread()
	for _, length := range []time.Duration{2 * time.Millisecond, 10 * time.Millisecond} {
		for _, all := range []bool{false, true} {
			for _, every := range []time.Duration{LookEvery, 2 * LookEvery} {
				b.Run(fmt.Sprintf("%s/all %t/every %s", length, all, every), func(b *testing.B) {
					m := WatchStalls(every)
					defer m.Stop()
					noticed := 0
					for i := range planted {
						// A time that has nothing to do with the looks.
						time.Sleep(20*time.Millisecond + time.Duration(i*997%8000)*time.Microsecond)
						m.Take()
						var stalls sync.WaitGroup
						for _, cpu := range cpus {
							if all || cpu == cpus[0] {
								stalls.Go(func() { hold(b, cpu, length) })
							}
						}
						stalls.Wait()
						time.Sleep(10 * time.Millisecond)
						if m.Take().Count > 0 {
							noticed++
						}
					}
					var before, after unix.Rusage
					_ = unix.Getrusage(unix.RUSAGE_SELF, &before)
					time.Sleep(time.Second)
					_ = unix.Getrusage(unix.RUSAGE_SELF, &after)
					used := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
					b.ReportMetric(100*float64(noticed)/planted, "found-%")
					b.ReportMetric(float64(used)/1e6, "CPU-ms/s")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
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
