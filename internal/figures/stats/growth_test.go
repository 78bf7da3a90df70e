package stats

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMemoryGrowth_Recorded: of services that were recorded under a constant load, only the one
// that leaks (about 3.3 KiB a request with the slack of its allocator) grows.
func TestMemoryGrowth_Recorded(t *testing.T) {
	for _, name := range []string{"go-leak", "go-plain", "go-gogc400", "go-cache", "node-plain", "jvm-plain"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile("testdata/memory/" + name + ".csv")
			if err != nil {
				t.Fatal(err)
			}
			var points []MemoryPoint
			for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
				var p MemoryPoint
				if _, err := fmt.Sscanf(line, "%g,%g", &p.Requests, &p.Bytes); err != nil {
					t.Fatal(err)
				}
				points = append(points, p)
			}
			// From the first 15 readings on, whenever the load had ended.
			for n := 15; n <= len(points); n++ {
				rate, ok := MemoryGrowth(points[:n])
				if leaks := name == "go-leak"; ok != leaks || ok && (rate < 2048 || rate > 2*2048) {
					t.Errorf("after %d readings: %.0f bytes per request, %v", n, rate, ok)
				}
			}
		})
	}
}

func TestMemoryGrowth_Shapes(t *testing.T) {
	const mib = 1 << 20
	for name, test := range map[string]struct {
		of   func(i int) float64 // MiB after reading i of 40, 1000 requests apart
		want bool
	}{
		"constant":          {func(int) float64 { return 50 }, false},
		"leak":              {func(i int) float64 { return 50 + 2*float64(i) }, true},
		"leak below a saw":  {func(i int) float64 { return 50 + 2*float64(i) + float64(i*7%5)*6 }, true},
		"sawtooth":          {func(i int) float64 { return 50 + float64(i%13)*10 }, false},
		"cache that fills":  {func(i int) float64 { return 50 + min(64, 4*float64(i)) }, false},
		"slower and slower": {func(i int) float64 { return 200 - 6000/float64(i+40) }, false},
		"comes back":        {func(i int) float64 { return 50 + 2*float64(min(i, 39-i)) }, false},
		"one jump":          {func(i int) float64 { return 50 + 40*float64(i/25) }, false},
		"small":             {func(i int) float64 { return 20 + 0.18*float64(i) }, false},
		"little of a lot":   {func(i int) float64 { return 4000 + 2*float64(i) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var points []MemoryPoint
			for i := range 40 {
				points = append(points, MemoryPoint{float64(1000 * i), test.of(i) * mib})
			}
			if rate, ok := MemoryGrowth(points); ok != test.want {
				t.Errorf("%.0f bytes per request, %v, want %v", rate, ok, test.want)
			}
			if _, ok := MemoryGrowth(points[:growthPoints-1]); ok {
				t.Error("growth after too few readings")
			}
		})
	}
}
