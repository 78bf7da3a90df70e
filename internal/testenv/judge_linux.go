//go:build acceptance

package testenv

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Judge is for tests of the part timing, whose bounds a machine that stands still or works for
// somebody else can break. It measures up to attempts times. An attempt is not judged when the
// machine stood still for longer than limit at a time, when the hypervisor took more than a
// hundredth of the CPU time, or when the machine was at work before or after it. The first attempt
// that nothing disturbed decides: an error of measure fails the test. Where all attempts were
// disturbed the test is skipped, with what disturbed them.
//
// It watches by itself, and not with locbench's own watch for machine stalls, which it also judges.
func Judge(t *testing.T, attempts int, limit time.Duration, measure func(t testing.TB) error) {
	t.Helper()
	var disturbed []string
	for i := range attempts {
		if by := atRest(); by != "" {
			disturbed = append(disturbed, "before: "+by)
			time.Sleep(time.Second << min(i, 2)) // what is at work may be the end of another test
			continue
		}
		stop := watchMachine()
		err := measure(t)
		by := stop(limit)
		if by == "" {
			by = atRest()
		}
		if by == "" {
			if err != nil {
				t.Errorf("attempt %d, which nothing disturbed: %v", i+1, err)
			}
			return
		}
		t.Logf("attempt %d is not judged: %s (it says: %v)", i+1, by, err)
		disturbed = append(disturbed, by)
	}
	t.Skipf("not judged: the machine disturbed all %d attempts: %s", attempts, strings.Join(disturbed, "; "))
}

const (
	restTime   = 300 * time.Millisecond // how long the machine is looked at before and after an attempt
	restShare  = 0.15                   // of all CPUs, which work is at most where the machine is idle
	mostStolen = 0.01
	nap        = 2 * time.Millisecond
)

// atRest says who is at work on this machine, or "".
func atRest() string {
	busy := func() float64 {
		before := readCPUTimes()
		time.Sleep(restTime)
		return before.until(readCPUTimes()).busy
	}
	// What the attempt itself has left to tidy up may still be at it the first time.
	first := busy()
	if first > restShare {
		first = busy()
	}
	if first > restShare {
		return fmt.Sprintf("the machine is %.0f%% busy without the test", 100*first)
	}
	return ""
}

// watchMachine has a thread on each CPU sleep and look how late it wakes up, in the real-time class
// where that is permitted: otherwise the load of the test itself would look like a machine stall. What
// it returns ends that and says what has disturbed the machine, or "".
func watchMachine() func(limit time.Duration) string {
	var set unix.CPUSet
	_ = unix.SchedGetaffinity(0, &set)
	var cpus []int
	for cpu := range 64 * len(set) {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	// A thread that sleeps in the kernel keeps its place to run Go code, so only the kernel
	// decides when it wakes up.
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(before + len(cpus) + 1)
	var ended atomic.Bool
	var longest, ordinary atomic.Int64
	var threads sync.WaitGroup
	for _, cpu := range cpus {
		threads.Go(func() {
			runtime.LockOSThread() // and is never unlocked: the thread ends with the goroutine
			one := unix.CPUSet{}
			one.Set(cpu)
			_ = unix.SchedSetaffinity(0, &one)
			realTime := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 3}
			if err := unix.SchedSetAttr(0, &realTime, 0); err != nil {
				ordinary.Store(1)
			}
			for !ended.Load() {
				due := time.Now().Add(nap)
				sleepInKernel(nap)
				if late := int64(time.Since(due)); late > longest.Load() {
					longest.Store(late)
				}
			}
		})
	}
	times := readCPUTimes()
	return func(limit time.Duration) string {
		spent := times.until(readCPUTimes())
		ended.Store(true)
		threads.Wait()
		runtime.GOMAXPROCS(before)
		switch late := time.Duration(longest.Load()); {
		case late > limit && ordinary.Load() == 0:
			return fmt.Sprintf("the machine stood still for %v", late.Round(10*time.Microsecond))
		case spent.stolen > mostStolen:
			return fmt.Sprintf("the hypervisor took %.1f%% of the CPU time", 100*spent.stolen)
		}
		return ""
	}
}

// sleepInKernel sleeps without the knowledge of the Go scheduler.
func sleepInKernel(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// cpuTimes are ticks of all CPUs together since the machine was started.
type cpuTimes struct{ busy, stolen, all float64 }

// until returns shares of the time between two readings.
func (a cpuTimes) until(b cpuTimes) cpuTimes {
	all := max(b.all-a.all, 1)
	return cpuTimes{busy: (b.busy - a.busy) / all, stolen: (b.stolen - a.stolen) / all, all: 1}
}

// readCPUTimes reads the first line of /proc/stat: cpu user nice system idle iowait irq softirq
// steal …
func readCPUTimes() (c cpuTimes) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return c
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	for i, field := range strings.Fields(string(line))[1:] {
		ticks, _ := strconv.ParseFloat(field, 64)
		switch i {
		case 3, 4:
			c.all += ticks
		case 7:
			c.all, c.stolen = c.all+ticks, ticks
		case 0, 1, 2, 5, 6:
			c.all, c.busy = c.all+ticks, c.busy+ticks
		}
	}
	return c
}
