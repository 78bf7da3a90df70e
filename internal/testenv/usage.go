package testenv

import (
	"fmt"
	"os"
	"path/filepath"
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

// LoadProcess returns the load's process of a run; 0: none.
func LoadProcess(tb testing.TB, run int) int {
	tb.Helper()
	children, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", run))
	OK(tb, err)
	for _, file := range children {
		text, _ := os.ReadFile(file) // a thread may have ended
		for _, pid := range strings.Fields(string(text)) {
			args, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			if n, err := strconv.Atoi(pid); err == nil && strings.HasSuffix(strings.TrimRight(string(args), "\x00"), "load-process") {
				return n
			}
		}
	}
	return 0
}
