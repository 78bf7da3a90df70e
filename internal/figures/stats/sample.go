package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
)

// Sample is a uniform sample of values that come one by one. Each value draws a rank, and those with
// the lowest ranks stay. So samples merge into one that is as uniform, however many values each has
// seen. Draw and Keep allocate nothing. A nil sample is empty and takes no values.
type Sample[T any] struct {
	seen  int64
	kept  []ranked[T] // a heap: the highest rank is first
	ranks *rand.PCG
}

type ranked[T any] struct {
	rank  uint64
	value T
}

// freePlace is the rank of a place without a value.
const freePlace = math.MaxUint64

// NewSample returns a sample of at most n values, at least 1. Seed and stream decide which; samples
// that are to be merged differ in one of them.
func NewSample[T any](n int, seed, stream uint64) *Sample[T] {
	return &Sample[T]{
		kept:  slices.Repeat([]ranked[T]{{rank: freePlace}}, max(n, 1)),
		ranks: rand.NewPCG(seed, stream),
	}
}

// Seen returns the number of values of which it is a sample.
func (s *Sample[T]) Seen() int64 {
	if s == nil {
		return 0
	}
	return s.seen
}

// Draw counts a value and draws its rank. If keep is true, it belongs to the sample: see Keep. The
// sample is not nil.
func (s *Sample[T]) Draw() (rank uint64, keep bool) {
	s.seen++
	rank = s.ranks.Uint64()
	return rank, rank < s.kept[0].rank
}

// Keep puts a value with its rank in the place of the one with the highest rank.
func (s *Sample[T]) Keep(rank uint64, value T) {
	at := 0
	for child := 1; child < len(s.kept); child = 2*at + 1 {
		if next := child + 1; next < len(s.kept) && s.kept[next].rank > s.kept[child].rank {
			child = next
		}
		if s.kept[child].rank <= rank {
			break
		}
		s.kept[at], at = s.kept[child], child
	}
	s.kept[at] = ranked[T]{rank, value}
}

// Merge adds another sample, each of its values after change.
func (s *Sample[T]) Merge(other *Sample[T], change func(*T)) {
	if s == nil {
		return
	}
	s.seen += other.Seen()
	for _, r := range other.all() {
		if r.rank < s.kept[0].rank {
			change(&r.value)
			s.Keep(r.rank, r.value)
		}
	}
}

// Values returns the values in the order of compare.
func (s *Sample[T]) Values(compare func(a, b T) int) (values []T) {
	for _, r := range s.all() {
		if r.rank != freePlace {
			values = append(values, r.value)
		}
	}
	slices.SortStableFunc(values, compare)
	return values
}

func (s *Sample[T]) all() []ranked[T] {
	if s == nil {
		return nil
	}
	return s.kept
}

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
