package stats

import (
	"math"
	"math/rand/v2"
	"slices"
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
