package workload

import (
	"errors"
	"fmt"
	"math"
	"time"

	"locbench/internal/bench"
)

// Bounds of a step.
const (
	MaxConnections = 65535 // what one address can have at most
	MaxRate        = 1e6   // requests due per second
	maxUsers       = 1_000_000

	// Bounds on the connections of an open loop that names none: as many as come due in a second,
	// within these.
	fewConnections  = 256
	manyConnections = 4096
)

// checkStep tells all that is wrong with a step.
func checkStep(s bench.Step) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	ways := 0
	for _, is := range []bool{s.Connections != 0, s.Rate != 0 || s.PeakShare != 0, s.Arrivals != nil} {
		if is {
			ways++
		}
	}
	switch {
	case ways > 1:
		errs = append(errs, errors.New("a step has connections, a rate or arrivals, and only one of these"))
	case s.Arrivals != nil:
		a := *s.Arrivals
		if a.Users < 1 || a.Users > maxUsers || a.Requests < 1 || a.Requests > maxUsers || a.Over <= 0 {
			bad("arrivals of %d users over %s with %d requests each: there must be 1 to %d users and requests, and a time", a.Users, a.Over, a.Requests, maxUsers)
		}
		if s.MaxRequests != 0 {
			bad("at most %d requests: arrivals say themselves how many there are", s.MaxRequests)
		}
	case s.PeakShare != 0 && s.Rate == 0:
		bad("the rate is %g %% of a peak that no step before has found", 100*s.PeakShare)
	case s.Rate != 0:
		rates := []float64{s.Rate, s.Rate + swing(s), s.Rate - swing(s)}
		if s.RampTo != 0 {
			rates = append(rates, s.RampTo)
		}
		for _, rate := range rates {
			if !(rate > 0 && rate <= MaxRate) {
				bad("%g requests due per second: it must be more than 0 and at most %.0f", rate, MaxRate)
				break
			}
		}
		if s.RampTo != 0 && s.Wave != nil || s.Wave != nil && s.Wave.Period <= 0 {
			errs = append(errs, errors.New("a rate is constant, a ramp, or a wave with a period"))
		}
	case s.RampFrom != 0 && (s.RampFrom < 1 || s.RampFrom >= s.Connections):
		bad("a ramp from %d to %d connections: it must begin with 1 at least, and with fewer than it ends with", s.RampFrom, s.Connections)
	case s.Connections < 1 || s.Connections > MaxConnections:
		bad("%d connections: it must be 1 to %d", s.Connections, MaxConnections)
	}
	if s.MaxConnections < 0 || s.MaxConnections > MaxConnections {
		bad("at most %d connections: it must be 1 to %d", s.MaxConnections, MaxConnections)
	}
	if s.Duration <= 0 {
		bad("duration %s: it must be positive", s.Duration)
	}
	if s.MaxRequests < 0 {
		bad("at most %d requests: it must not be negative", s.MaxRequests)
	}
	return errs
}

// swing is how far the rate goes above and below Rate.
func swing(s bench.Step) float64 {
	if s.Wave == nil {
		return 0
	}
	return math.Abs(s.Wave.Amplitude)
}

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
	top := math.Ceil(max(s.Rate+swing(s), s.RampTo))
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
