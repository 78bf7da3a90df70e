package embedded_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/embedded"
	"github.com/locbench/locbench/internal/testenv"
)

// BenchmarkFill measures how long the bundled cities take, from the data set in the binary to the
// full store, and the memory in use then. LOCBENCH_FILL_CITIES generates that number of cities
// instead.
func BenchmarkFill(b *testing.B) {
	generate, _ := strconv.Atoi(os.Getenv("LOCBENCH_FILL_CITIES"))
	for b.Loop() {
		var before, after runtime.MemStats
		b.StopTimer()
		runtime.GC()
		runtime.ReadMemStats(&before)
		cpu := cpuTime(b, os.Getpid())
		b.StartTimer()
		set, err := dataset.Bundled()
		if generate > 0 {
			set, err = dataset.Generated(generate, 60, 1)
		}
		testenv.OK(b, err)
		s, err := embedded.New(embedded.Options{})
		if err == nil {
			err = s.Fill(b.Context(), set, nil)
		}
		testenv.OK(b, err)
		b.StopTimer()
		b.ReportMetric((cpuTime(b, os.Getpid()) - cpu).Seconds(), "CPU-s/op")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB-kept")
		b.ReportMetric(peakMiB(b), "MiB-peak")
		b.StartTimer()
		testenv.OK(b, s.Close())
	}
}

// peakMiB returns the peak memory of this process.
func peakMiB(tb testing.TB) float64 {
	tb.Helper()
	status, err := os.ReadFile("/proc/self/status")
	testenv.OK(tb, err)
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseFloat(strings.Fields(peak)[0], 64)
	testenv.OK(tb, err)
	return kib / 1024
}

// cpuTime returns the CPU time of a process from /proc, in ticks of 10 ms.
func cpuTime(tb testing.TB, pid int) time.Duration {
	tb.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	testenv.OK(tb, err)
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks int64
	for _, f := range fields[11:13] { // utime, stime
		n, err := strconv.ParseInt(f, 10, 64)
		testenv.OK(tb, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
