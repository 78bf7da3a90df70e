package stats

import (
	"math"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
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
	if err != nil || !ok || s.N != 1000 || s.Max != 1e6 || !about(s.Mean, 500500, 1e-6) || !about(s.SD, 288675, 1e-3) || !about(s.Within, .577, .005) {
		t.Errorf("%+v %t %v", s, ok, err)
	}
	// Equal values are all within, although their SD is 0 and their bucket has a width.
	c := hdr.New()
	for range 10 {
		c.Record(1234567)
	}
	if s, ok, err := LatencySpread(c.Latencies()); err != nil || !ok || s.SD != 0 || s.Within != 1 {
		t.Errorf("%+v %t %v", s, ok, err)
	}
	if _, ok, err := LatencySpread(); ok || err != nil {
		t.Errorf("of none: %t %v", ok, err)
	}
	if _, ok, err := LatencySpread(bench.Latencies{Count: 5, HDR: "nonsense"}); ok || err == nil {
		t.Errorf("of nonsense: %t %v", ok, err)
	}
}

func TestRateSpread(t *testing.T) {
	window := func(length time.Duration, n int64) bench.Window { return bench.Window{Length: length, Succeeded: n} }
	drain := window(time.Second, 7)
	drain.Drain = true
	a := bench.Load{Elapsed: 4 * time.Second, Bytes: 1000, Windows: []bench.Window{window(time.Second, 100), window(time.Second, 200), window(300*time.Millisecond, 5), drain}}
	b := bench.Load{Elapsed: time.Second, Bytes: 1500, Windows: []bench.Window{window(time.Second, 300), window(time.Second, 200)}}
	s, ok := RateSpread(a, b)
	if !ok || s.N != 4 || !about(s.Mean, 200, 1e-9) || !about(s.SD, math.Sqrt(5000), 1e-9) || s.Max != 300 || !about(s.Within, .5, 1e-9) {
		t.Errorf("%+v %t", s, ok)
	}
	if got := BytesPerSecond(a, b); got != 500 {
		t.Errorf("%g bytes per second", got)
	}
	if _, ok := RateSpread(bench.Load{Windows: []bench.Window{drain}}); ok || BytesPerSecond() != 0 {
		t.Error("of nothing")
	}
	if s, ok := RateSpread(bench.Load{Windows: []bench.Window{window(time.Second, 9)}}); !ok || s.Within != 1 || s.SD != 0 {
		t.Errorf("of one: %+v", s)
	}
}
