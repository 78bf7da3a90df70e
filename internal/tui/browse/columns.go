package browse

import (
	"cmp"
	"strings"

	"locbench/internal/results"
)

// columns are those by which the list can be sorted, and how two entries are ordered by each: what
// people look for first comes first.
var columns = []struct {
	name    string
	compare func(s *Screen, a, b *results.Entry) int
}{
	{"started", func(_ *Screen, a, b *results.Entry) int { return b.Time().Compare(a.Time()) }},
	{"profile", by(func(e *results.Entry) string { return e.Profile })},
	{"contenders", by(func(e *results.Entry) string { return strings.Join(e.Contenders, " ") })},
	{"state", by(stateText)},
	{"legs", by(func(e *results.Entry) int { return -e.Legs })},
	{"peak/s", func(s *Screen, a, b *results.Entry) int { return cmp.Compare(s.peak(b), s.peak(a)) }},
	{"folder", by(func(e *results.Entry) string { return e.Dir })},
}

func by[T cmp.Ordered](key func(*results.Entry) T) func(*Screen, *results.Entry, *results.Entry) int {
	return func(_ *Screen, a, b *results.Entry) int { return cmp.Compare(key(a), key(b)) }
}

// peak is the best throughput of a folder, 0 where it is not known yet.
func (s *Screen) peak(e *results.Entry) float64 {
	if k := s.known[e.Dir]; k != nil {
		return k.peak
	}
	return 0
}
