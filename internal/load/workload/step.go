package workload

import (
	"math"
	"time"

	"locbench/internal/bench"
)

const (
	// Bounds on the connections of an open loop that names none: as many as come due in a second,
	// within these.
	fewConnections  = 256
	manyConnections = 4096
)

// MostOpen is how many connections a step may have open: its own number, or for an open loop that
// names none as many as its highest rate brings in a second (so that only answers slower than that
// are ever waited for), or as it has users.
func MostOpen(s bench.Step) int {
	switch {
	case s.Connections > 0:
		return s.Connections
	case s.MaxConnections > 0:
		return s.MaxConnections
	case s.Arrivals != nil:
		return min(s.Arrivals.Users, manyConnections)
	}
	top := math.Ceil(max(s.Rate+s.Swing(), s.RampTo))
	return int(min(max(top, fewConnections), manyConnections))
}

// warmOpen is for how long a time an open loop's requests have connections before the clock starts.
const warmOpen = 10 * time.Millisecond

// Early is how many connections an open loop opens before the clock starts, with at most so many:
// for users none, as theirs are new.
func Early(s bench.Step, most int) int {
	if s.Arrivals != nil {
		return 0
	}
	return min(max(int(s.Rate*warmOpen.Seconds()), 1), most)
}
