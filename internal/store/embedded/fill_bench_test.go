package embedded_test

import (
	"os"
	"runtime"
	"strconv"
	"testing"

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
		cpu := testenv.CPUTime(b, os.Getpid())
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
		b.ReportMetric((testenv.CPUTime(b, os.Getpid()) - cpu).Seconds(), "CPU-s/op")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB-kept")
		b.ReportMetric(testenv.PeakMiB(b), "MiB-peak")
		b.StartTimer()
		testenv.OK(b, s.Close())
	}
}
