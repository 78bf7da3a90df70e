// Package hdr wraps HdrHistogram: it records latencies, converts them to bench.Latencies, and reads
// and merges the histograms of results files. It is the only package that uses the library.
// Quantiles are never averaged: distributions are combined by merging their histograms.
//
// A Histogram has buckets of 3 significant digits with a unit of 1 ns, up to 10 minutes, so
// quantiles are precise to 0.1%. Count, minimum, maximum, mean and standard deviation are exact.
package hdr

import (
	"errors"
	"fmt"
	"math"
	"time"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/locbench/locbench/internal/bench"
)

const (
	// Highest is the longest latency with its own bucket. Longer latencies count in the last
	// bucket; maximum and mean stay exact.
	Highest = 10 * time.Minute

	digits     = 3
	maxEncoded = 1 << 20 // characters; a full histogram takes less than a tenth
	maxCount   = 1 << 53 // far above any run, and sums of counts stay in range
)

// Histogram is a distribution of latencies. Create it with New. It is not safe for concurrent use.
type Histogram struct {
	buckets *hdrhistogram.Histogram
	count   int64
	sum     float64 // exact below 2^53 ns (104 days of latencies in a step)
	m2      float64 // sum of squared deviations from the mean (Welford)
	mean    float64 // running, for m2
	min     int64
	max     int64
}

// New returns an empty histogram (about 250 kB).
func New() *Histogram {
	return &Histogram{buckets: hdrhistogram.New(1, int64(Highest), digits)}
}

// Record adds one latency. A negative one counts as 0.
func (h *Histogram) Record(d time.Duration) {
	v := max(int64(d), 0)
	// Within the range of the histogram RecordValue cannot fail.
	_ = h.buckets.RecordValue(min(v, int64(Highest)))
	if h.count == 0 || v < h.min {
		h.min = v
	}
	h.max = max(h.max, v)
	h.count++
	h.sum += float64(v)
	delta := float64(v) - h.mean
	h.mean += delta / float64(h.count)
	h.m2 += delta * (float64(v) - h.mean)
}

// Count returns the number of latencies recorded.
func (h *Histogram) Count() int64 { return h.count }

// Min returns the exact smallest latency; 0 without any.
func (h *Histogram) Min() time.Duration { return time.Duration(h.min) }

// Max returns the exact largest latency; 0 without any.
func (h *Histogram) Max() time.Duration { return time.Duration(h.max) }

// Mean returns the exact mean; 0 without any.
func (h *Histogram) Mean() time.Duration {
	return time.Duration(math.Round(h.sum / float64(max(h.count, 1))))
}

// SD returns the exact standard deviation of the population; 0 without any.
func (h *Histogram) SD() time.Duration {
	return time.Duration(math.Round(math.Sqrt(h.m2 / float64(max(h.count, 1)))))
}

// Quantile returns the latency that a share q (0 … 1) of all latencies does not exceed, precise to
// 3 significant digits and never outside Min … Max; 0 without any.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	v := h.buckets.ValueAtQuantile(q * 100)
	return time.Duration(min(max(v, h.min), h.max))
}

// Reset empties the histogram and keeps its memory.
func (h *Histogram) Reset() {
	h.buckets.Reset()
	*h = Histogram{buckets: h.buckets}
}

// Merge adds all of other's latencies to h.
func (h *Histogram) Merge(other *Histogram) {
	if other.count == 0 {
		return
	}
	h.buckets.Merge(other.buckets)
	if h.count == 0 || other.min < h.min {
		h.min = other.min
	}
	h.max = max(h.max, other.max)
	// Chan, Golub, LeVeque: the exact combination of two means and sums of squared deviations.
	n, m := float64(h.count), float64(other.count)
	delta := other.mean - h.mean
	h.m2 += other.m2 + delta*delta*n*m/(n+m)
	h.mean += delta * m / (n + m)
	h.sum += other.sum
	h.count += other.count
}

// Quantiles returns the quantiles without the buckets; zero for nil or an empty histogram.
func (h *Histogram) Quantiles() bench.Latencies {
	if h == nil || h.count == 0 {
		return bench.Latencies{}
	}
	return bench.Latencies{
		Count: h.count,
		Min:   h.Min(), Max: h.Max(), Mean: h.Mean(), SD: h.SD(),
		P50: h.Quantile(.50), P75: h.Quantile(.75), P90: h.Quantile(.90), P95: h.Quantile(.95),
		P99: h.Quantile(.99), P999: h.Quantile(.999),
	}
}

// Latencies returns the quantiles and the encoded buckets, as in results files.
func (h *Histogram) Latencies() bench.Latencies {
	l := h.Quantiles()
	if l.Count > 0 {
		// The only failure is an unknown version of the format.
		encoded, _ := h.buckets.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		l.HDR = string(encoded)
	}
	return l
}

// Decode decodes the histogram of l. Results files are not trusted: the length of the text is
// limited, and the counts must match.
func Decode(l bench.Latencies) (*Histogram, error) {
	if l.Count == 0 && l.HDR == "" {
		return New(), nil
	}
	if l.Count > maxCount {
		return nil, fmt.Errorf("decode histogram: %d latencies, expected at most %d", l.Count, int64(maxCount))
	}
	if l.Count < 0 || l.Min < 0 || l.Max < l.Min || l.Mean < 0 || l.SD < 0 {
		return nil, errors.New("decode histogram: inconsistent values")
	}
	buckets, err := decodeBuckets(l.HDR)
	if err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	if n := buckets.TotalCount(); n != l.Count {
		return nil, fmt.Errorf("decode histogram: %d latencies in the buckets, expected %d", n, l.Count)
	}
	h := &Histogram{buckets: buckets}
	if buckets.HighestTrackableValue() != int64(Highest) || buckets.SignificantFigures() != digits {
		h = New()
		if dropped := h.buckets.Merge(buckets); dropped != 0 {
			return nil, fmt.Errorf("decode histogram: %d latencies over %s", dropped, Highest)
		}
	}
	n := float64(l.Count)
	h.count, h.min, h.max = l.Count, int64(l.Min), int64(l.Max)
	h.mean, h.sum, h.m2 = float64(l.Mean), float64(l.Mean)*n, float64(l.SD)*float64(l.SD)*n
	return h, nil
}

// decodeBuckets decodes the base64 text of a V2 histogram.
func decodeBuckets(text string) (*hdrhistogram.Histogram, error) {
	if len(text) > maxEncoded {
		return nil, fmt.Errorf("%d characters, expected at most %d", len(text), maxEncoded)
	}
	b, err := hdrhistogram.Decode([]byte(text))
	switch {
	case err != nil:
		return nil, err
	case b.SignificantFigures() < 1 || b.SignificantFigures() > digits:
		return nil, fmt.Errorf("%d significant digits, expected 1 to %d", b.SignificantFigures(), digits)
	case b.LowestTrackableValue() != 1 || b.HighestTrackableValue() < 2:
		return nil, fmt.Errorf("range %d to %d ns, expected a start at 1", b.LowestTrackableValue(),
			b.HighestTrackableValue())
	}
	return b, nil
}

// Merge returns the sum of several histograms, from which quantiles of all latencies can be
// computed; nil without any latency.
func Merge(ls ...bench.Latencies) (all *Histogram, err error) {
	for _, l := range ls {
		if l.Count == 0 && l.HDR == "" {
			continue
		}
		h, err := Decode(l)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = h
		} else {
			all.Merge(h)
		}
	}
	return all, nil
}

// Bar is the number of latencies from From to To, both included.
type Bar struct {
	From, To time.Duration
	Count    int64
}

// Bars returns the non-empty buckets of h, the shortest latencies first; each is at most 0.1% wide.
func (h *Histogram) Bars() []Bar {
	var out []Bar
	for _, b := range h.buckets.Distribution() {
		if b.Count > 0 {
			out = append(out, Bar{time.Duration(b.From), time.Duration(b.To), b.Count})
		}
	}
	return out
}
