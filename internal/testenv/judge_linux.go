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

// Judge is for tests of the part timing, whose bounds a machine stall or other work on the machine
// can break. It measures up to attempts times. An attempt does not count if a machine stall was
// longer than limit, if the hypervisor took more than a hundredth of the CPU time, or if the
// machine was busy before or after it. The first undisturbed attempt decides: an error of measure
// fails the test. If all attempts were disturbed the test is skipped, with the reasons.
//
// It does not use locbench's own detection of machine stalls, which is also tested with it.
func Judge(t *testing.T, attempts int, limit time.Duration, measure func(t testing.TB) error) {
	t.Helper()
	var disturbed []string
	for i := range attempts {
		if by := busyWith(); by != "" {
			disturbed = append(disturbed, "before: "+by)
			time.Sleep(time.Second << min(i, 2)) // another test may just be ending
			continue
		}
		stop := watchMachine()
		err := measure(t)
		by := stop(limit)
		if by == "" {
			by = busyWith()
		}
		if by == "" {
			if err != nil {
				t.Errorf("attempt %d, which nothing disturbed: %v", i+1, err)
			}
			return
		}
		t.Logf("attempt %d does not count: %s (result: %v)", i+1, by, err)
		disturbed = append(disturbed, by)
	}
	t.Skipf("no result: all %d attempts were disturbed: %s", attempts, strings.Join(disturbed, "; "))
}

const (
	restTime   = 300 * time.Millisecond // observation before and after an attempt
	restShare  = 0.15                   // most CPU time of an idle machine, as a share of all CPUs
	mostStolen = 0.01
	nap        = 2 * time.Millisecond
)

// busyWith returns a phrase about other work on this machine; "" if it is idle.
func busyWith() string {
	busy := func() float64 {
		before := readCPUTimes()
		time.Sleep(restTime)
		return before.until(readCPUTimes()).busy
	}
	// The attempt's own clean-up may still be running the first time.
	first := busy()
	if first > restShare {
		first = busy()
	}
	if first > restShare {
		return fmt.Sprintf("the machine is %.0f%% busy without the test", 100*first)
	}
	return ""
}

// watchMachine measures how late a sleeping thread on each CPU wakes up, in the real-time class if
// that is permitted: otherwise the load of the test itself would look like a machine stall. The
// returned function ends that and returns the disturbance, or "".
func watchMachine() func(limit time.Duration) string {
	var set unix.CPUSet
	_ = unix.SchedGetaffinity(0, &set)
	var cpus []int
	for cpu := range 64 * len(set) {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	// A thread that sleeps in the kernel keeps its P, so only the kernel decides when it wakes up.
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(before + len(cpus) + 1)
	var ended atomic.Bool
	var longest, ordinary atomic.Int64
	var threads sync.WaitGroup
	for _, cpu := range cpus {
		threads.Go(func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			one := unix.CPUSet{}
			one.Set(cpu)
			_ = unix.SchedSetaffinity(0, &one)
			realTime := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 3}
			if err := unix.SchedSetAttr(0, &realTime, 0); err != nil {
				ordinary.Store(1)
			}
			for !ended.Load() {
				wake := time.Now().Add(nap)
				sleepInKernel(nap)
				if late := int64(time.Since(wake)); late > longest.Load() {
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
			return fmt.Sprintf("machine stall of %v", late.Round(10*time.Microsecond))
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

// cpuTimes are ticks of all CPUs together since boot.
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
