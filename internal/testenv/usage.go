package testenv

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// PeakMiB returns the peak memory of this process.
func PeakMiB(tb testing.TB) float64 {
	tb.Helper()
	status, err := os.ReadFile("/proc/self/status")
	OK(tb, err)
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseFloat(strings.Fields(peak)[0], 64)
	OK(tb, err)
	return kib / 1024
}

// CPUTime returns the CPU time of a process from /proc, in ticks of 10 ms.
func CPUTime(tb testing.TB, pid int) time.Duration {
	tb.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	OK(tb, err)
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks int64
	for _, f := range fields[11:13] { // utime, stime
		n, err := strconv.ParseInt(f, 10, 64)
		OK(tb, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
