package hdr

import (
	"fmt"
	"math"
	"time"

	"locbench/internal/bench"
)

// Read reads a histogram that another tool has encoded (V2, compressed, base64, unit 1 ns), of
// which only the longest latency may be known exactly: highest, or 0. Minimum, mean and standard
// deviation are those of its buckets. The text is as hostile as that of Decode.
func Read(text string, highest time.Duration) (bench.Latencies, error) {
	buckets, err := decodeBuckets(text)
	if err != nil {
		return bench.Latencies{}, fmt.Errorf("read histogram: %w", err)
	}
	n := buckets.TotalCount()
	if n < 0 || n > maxCount {
		return bench.Latencies{}, fmt.Errorf("read histogram: %d latencies", n)
	}
	if n == 0 {
		return bench.Latencies{}, nil
	}
	h := New()
	if dropped := h.buckets.Merge(buckets); dropped != 0 {
		return bench.Latencies{}, fmt.Errorf("read histogram: %d latencies over %s", dropped, Highest)
	}
	h.count, h.min, h.max = n, max(buckets.Min(), 0), buckets.Max()
	// The maximum of the log is the exact one where it lies in the last bucket.
	if v := int64(highest); v > 0 && (v > int64(Highest) || h.buckets.ValuesAreEquivalent(v, h.max)) {
		h.max = v
	}
	h.mean = buckets.Mean()
	h.sum = h.mean * float64(n)
	h.m2 = math.Pow(buckets.StdDev(), 2) * float64(n)
	return h.Latencies(), nil
}
