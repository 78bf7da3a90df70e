package stats

import (
	"math"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
)

// Spread describes the distribution of values. SD is the standard deviation of the population.
type Spread struct {
	N        int64
	Mean, SD float64
	Max      float64
	Within   float64 // share of the values within one SD of the mean, 0 … 1
}

// LatencySpread returns the spread of all latencies of some steps in ns; ok is false without any.
// Within is precise to the buckets of the histogram, 0.1%.
func LatencySpread(steps ...bench.Latencies) (s Spread, ok bool, err error) {
	h, err := hdr.Merge(steps...)
	if err != nil || h == nil || h.Count() == 0 {
		return s, false, err
	}
	s = Spread{N: h.Count(), Mean: float64(h.Mean()), SD: float64(h.SD()), Max: float64(h.Max())}
	var within int64
	for _, bar := range h.Bars() {
		if math.Abs(float64(bar.From+bar.To)/2-s.Mean) <= max(s.SD, float64(bar.To-bar.From)/2) {
			within += bar.Count
		}
	}
	s.Within = float64(within) / float64(max(1, s.N))
	return s, true, nil
}

// wholeWindow is the minimum length of a window in RateSpread.
const wholeWindow = 900 * time.Millisecond

// RateSpread returns the spread of throughput over the full windows of some steps; ok
// is false without any.
func RateSpread(steps ...bench.Load) (s Spread, ok bool) {
	var rates []float64
	for _, l := range steps {
		for _, w := range l.Windows {
			if w.Length >= wholeWindow && w.Length <= 2*time.Second-wholeWindow {
				rates = append(rates, w.Throughput())
			}
		}
	}
	if len(rates) == 0 {
		return s, false
	}
	s.N = int64(len(rates))
	for _, r := range rates {
		s.Mean += r / float64(len(rates))
		s.Max = max(s.Max, r)
	}
	for _, r := range rates {
		s.SD += (r - s.Mean) * (r - s.Mean) / float64(len(rates))
	}
	s.SD = math.Sqrt(s.SD)
	for _, r := range rates {
		if math.Abs(r-s.Mean) <= s.SD*(1+1e-9) {
			s.Within += 1 / float64(len(rates))
		}
	}
	return s, true
}

// BytesPerSecond returns the rate of bytes in the bodies of successes; 0 for steps without length.
func BytesPerSecond(steps ...bench.Load) float64 {
	var bytes int64
	var elapsed time.Duration
	for _, l := range steps {
		bytes, elapsed = bytes+l.Bytes, elapsed+l.Elapsed
	}
	if elapsed <= 0 {
		return 0
	}
	return float64(bytes) / elapsed.Seconds()
}
