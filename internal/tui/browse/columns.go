package browse

import (
	"cmp"
	"strings"

	"locbench/internal/results"
)

// column is one by which the list can be sorted.
type column int

const (
	byStarted column = iota
	byProfile
	byContenders
	byState
	byLegs
	byPeak
	byFolder
	columns
)

var columnNames = [columns]string{"started", "profile", "contenders", "state", "legs", "peak/s", "folder"}

// compare orders two entries by the chosen column; what people look for first comes first. Equal
// ones stay the newest first.
func (s *Screen) compare(a, b *results.Entry) int {
	switch s.sort {
	case byProfile:
		return cmp.Compare(a.Profile, b.Profile)
	case byContenders:
		return cmp.Compare(strings.Join(a.Contenders, " "), strings.Join(b.Contenders, " "))
	case byState:
		return cmp.Compare(stateText(a), stateText(b))
	case byLegs:
		return cmp.Compare(b.Legs, a.Legs)
	case byPeak:
		return cmp.Compare(s.peak(b), s.peak(a))
	case byFolder:
		return cmp.Compare(a.Dir, b.Dir)
	}
	return b.Time().Compare(a.Time())
}

// peak is the best throughput of a folder, 0 where it is not known yet.
func (s *Screen) peak(e *results.Entry) float64 {
	if k := s.known[e.Dir]; k != nil {
		return k.peak
	}
	return 0
}
