package stats

import (
	"math"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/testenv"
)

func about(a, b, share float64) bool { return math.Abs(a-b) <= share*math.Abs(b) }

// 1 … 1000 µs, uniform: mean 500.5, SD of the population √((n²−1)/12), and 57.7%, 2·SD/n, within
// one SD.
func TestLatencySpread(t *testing.T) {
	a, b := hdr.New(), hdr.New()
	for i := range 1000 {
		h := a
		if i >= 300 {
			h = b
		}
		h.Record(time.Duration(i+1) * time.Microsecond)
	}
	s, ok, err := LatencySpread(a.Latencies(), b.Latencies())
	testenv.Check(t, err == nil && ok && s.N == 1000 && s.Max == 1e6 && about(s.Mean, 500500, 1e-6) && about(s.SD, 288675, 1e-3) && about(s.Within, .577, .005),
		"%+v %t %v", s, ok, err)
	// Equal values are all within, although their SD is 0 and their bucket has a width.
	c := hdr.New()
	for range 10 {
		c.Record(1234567)
	}
	s, ok, err = LatencySpread(c.Latencies())
	testenv.Check(t, err == nil && ok && s.SD == 0 && s.Within == 1, "%+v %t %v", s, ok, err)
	_, ok, err = LatencySpread()
	testenv.Check(t, !ok && err == nil, "of none: %t %v", ok, err)
	_, ok, err = LatencySpread(bench.Latencies{Count: 5, HDR: "nonsense"})
	testenv.Check(t, !ok && err != nil, "of nonsense: %t %v", ok, err)
}

func TestRateSpread(t *testing.T) {
	window := func(ms time.Duration, n int64) bench.Window {
		return bench.Window{Length: ms * time.Millisecond, Succeeded: n}
	}
	load := func(windows ...bench.Window) bench.Load {
		return bench.Load{Elapsed: time.Duration(len(windows)) * time.Second, Outcomes: bench.Outcomes{Bytes: 1250}, Windows: windows}
	}
	for _, test := range []struct {
		name  string
		steps []bench.Load
		want  Spread
	}{
		{"two steps", []bench.Load{load(window(1000, 100), window(1000, 200)),
			load(window(1000, 300), window(1000, 200))},
			Spread{N: 4, Mean: 200, SD: math.Sqrt(5000), Max: 300, Within: .5}},
		{"lengths that differ by 10%", []bench.Load{load(window(900, 72), window(1100, 132), window(1000, 100))},
			Spread{N: 3, Mean: 100, SD: math.Sqrt(800. / 3), Max: 120, Within: 1. / 3}},
		{"lengths that differ by more", []bench.Load{load(window(899, 99), window(1101, 110), window(1000, 100))},
			Spread{N: 1, Mean: 100, Max: 100, Within: 1}},
		{"one SD from the mean", []bench.Load{load(window(1000, 110), window(1000, 131))},
			Spread{N: 2, Mean: 120.5, SD: 10.5, Max: 131, Within: 1}},
		{"only a short window", []bench.Load{load(window(899, 7), window(2000, 7))}, Spread{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, ok := RateSpread(test.steps...)
			if w := test.want; ok != (w.N > 0) || s.N != w.N || !near(s.Mean, w.Mean) || !near(s.SD, w.SD) ||
				!near(s.Max, w.Max) ||
				!near(s.Within, w.Within) {
				t.Errorf("%+v, want %+v", s, w)
			}
		})
	}
	second := window(1000, 7)
	got := BytesPerSecond(load(second, second), load(second, second, second))
	testenv.Check(t, got == 500 && BytesPerSecond() == 0, "%g bytes per second", got)
}
