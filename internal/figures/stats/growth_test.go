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

// TestMemoryGrowth_Bounds: right above each bound memory grows, right below it does not.
func TestMemoryGrowth_Bounds(t *testing.T) {
	const mib = 1 << 20
	grows := func(n int, of func(share float64) float64) bool { // MiB after a share of the requests
		var points []MemoryPoint
		for i := range n {
			share := float64(i) / float64(n-1)
			points = append(points, MemoryPoint{1e5 * share, mib * of(share)})
		}
		_, ok := MemoryGrowth(points)
		return ok
	}
	line := func(from, by float64) func(float64) float64 { // by: without the first fifth
		return func(share float64) float64 { return from + by*(share-.2)/.8 }
	}
	// bent grows by 50 MiB in the first half of what counts, and by later in the second.
	bent := func(later float64) func(float64) float64 {
		return func(share float64) float64 {
			if share < .6 {
				return 100 + 50*(share-.2)/.4
			}
			return 150 + later*(share-.6)/.4
		}
	}
	// flat grows by 25 MiB in each quarter, but by little in the third, and by more in the last.
	flat := func(little float64) func(float64) float64 {
		return func(share float64) float64 {
			switch {
			case share < .6:
				return 100 + 25*(share-.2)/.2
			case share < .8:
				return 150 + little*(share-.6)/.2
			}
			return 150 + little + (50-little)*(share-.8)/.2
		}
	}
	for name, test := range map[string]struct {
		n    int
		of   func(float64) float64
		want bool
	}{
		"10 readings":                  {10, line(50, 50), true},
		"9 readings":                   {9, line(50, 50), false},
		"8.1 MiB":                      {41, line(50, 8.1), true},
		"7.9 MiB":                      {41, line(50, 7.9), false},
		"10.1% of a large heap":        {41, line(1000, 101), true},
		"9.9% of a large heap":         {41, line(1000, 99), false},
		"72% of the earlier rate":      {41, bent(36), true},
		"68% of the earlier rate":      {41, bent(34), false},
		"42% in a quarter":             {41, flat(10.5), true},
		"38% in a quarter":             {41, flat(9.5), false},
		"a start in the first fifth":   {41, func(share float64) float64 { return 100 + 300*min(share, .2) + 100*share }, true},
		"growth in the first fifth":    {41, func(share float64) float64 { return 100 + 500*min(share, .2) }, false},
		"growth beyond the first 24%":  {41, func(share float64) float64 { return 100 + 500*min(share, .24) }, false},
		"a slow start, then a leak":    {41, func(share float64) float64 { return 100 + 100*max(share-.2, 0) }, true},
		"a leak after a third is over": {41, func(share float64) float64 { return 100 + 100*max(share-.35, 0) }, false},
	} {
		if got := grows(test.n, test.of); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
