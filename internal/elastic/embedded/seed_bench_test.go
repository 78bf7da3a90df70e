package embedded_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"locbench/internal/elastic/embedded"
	"locbench/internal/locations/dataset"
)

// BenchmarkFill measures how long the bundled cities take, from the first bulk request to the first
// search, and what memory stays in use.
func BenchmarkFill(b *testing.B) {
	set, err := dataset.Bundled()
	if err != nil {
		b.Fatal(err)
	}
	var bodies [][]byte
	var body bytes.Buffer
	for doc, err := range set.Documents(dataset.CityIndex) {
		if err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(&body, `{"create":{"_id":%q}}`+"\n%s\n", doc.ID, doc.Source)
		if body.Len() > 2<<20 {
			bodies = append(bodies, bytes.Clone(body.Bytes()))
			body.Reset()
		}
	}
	bodies = append(bodies, body.Bytes())
	size := 0
	for _, body := range bodies {
		size += len(body)
	}
	post := func(s *embedded.Server, method, path string, body []byte) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(method, path, bytes.NewReader(body)))
		if w.Code != http.StatusOK {
			b.Fatalf("%s %s: %d %.200s", method, path, w.Code, w.Body.String())
		}
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		cpu := cpuTime(b, os.Getpid())
		s, err := embedded.New(embedded.Options{})
		if err != nil {
			b.Fatal(err)
		}
		post(s, http.MethodPut, "/city", dataset.CityMapping())
		for _, body := range bodies {
			post(s, http.MethodPost, "/city/_bulk", body)
		}
		post(s, http.MethodPost, "/city/_refresh", nil)
		b.StopTimer()
		b.ReportMetric((cpuTime(b, os.Getpid()) - cpu).Seconds(), "CPU-s/op")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB-kept")
		b.StartTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// cpuTime is what a process has used so far, from /proc: in ticks of 10 ms.
func cpuTime(tb testing.TB, pid int) time.Duration {
	tb.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		tb.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks int64
	for _, f := range fields[11:13] { // utime, stime
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
