package workload

import (
	"math"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/locbench/locbench/internal/bench"
)

// Schedule returns when requests are scheduled. Its rates are those of vegeta's pacers. The moments
// follow from the rate alone, never from what has been sent: a late client or contender does not
// shift them.
//
// The first request is scheduled at 0, the next one when the integral of the rate has grown by 1.
type Schedule struct {
	pacer    vegeta.Pacer
	duration time.Duration // how long the pacer holds: afterwards the rate is that of its end
	origin   float64       // ns since the start: the pacer holds from here on; before it, its first rate
	at       float64       // ns since the start: up to here the integral is known
	begun    bool          // the first request has been taken
}

// NewSchedule returns the schedule of a step that has a rate.
func NewSchedule(s bench.Step) *Schedule { return &Schedule{pacer: pacer(s), duration: s.Duration} }

func pacer(s bench.Step) vegeta.Pacer {
	switch {
	case s.RampTo > 0:
		return vegeta.LinearPacer{StartAt: hits(s.Rate), Slope: (s.RampTo - s.Rate) / s.Duration.Seconds()}
	case s.Wave != nil:
		return vegeta.SinePacer{Period: s.Wave.Period, Mean: hits(s.Rate), Amp: hits(s.Wave.Amplitude)}
	}
	return hits(s.Rate)
}

// hits returns a rate for vegeta, exact to a millionth of a request per second; as a 32-bit program
// to nine digits.
func hits(perSecond float64) vegeta.Rate {
	scale := 1e6
	for perSecond*scale > math.MaxInt {
		scale /= 10
	}
	return vegeta.Rate{Freq: int(math.Round(perSecond * scale)), Per: time.Duration(scale) * time.Second}
}

// Begins makes the pacer hold from a moment in ns on.
func (s *Schedule) Begins(at int64) { s.origin = float64(at) }

// Rate returns the scheduled requests per second at the moment up to which the schedule has come.
func (s *Schedule) Rate() float64 { return s.rate(s.at) }

// rate returns the scheduled requests per second at a moment in ns.
func (s *Schedule) rate(at float64) float64 {
	return s.pacer.Rate(time.Duration(min(max(at-s.origin, 0), float64(s.duration))))
}

// Next returns when the next request is scheduled.
func (s *Schedule) Next() time.Duration {
	return time.Duration(math.Round(s.at + s.wait()))
}

// wait returns how many ns after s.at the integral of the rate has grown by 1. Over such a short time
// the rate is nearly linear, hence the rate in the middle.
func (s *Schedule) wait() float64 {
	if !s.begun {
		return 0
	}
	wait := 1 / s.rate(s.at)
	for range 8 {
		better := 1 / s.rate(s.at+wait*1e9/2)
		if math.Abs(better-wait) < 1e-9*wait {
			break
		}
		wait = better
	}
	return wait * 1e9
}

// Take proceeds to the request after the next one.
func (s *Schedule) Take() {
	s.at += s.wait()
	s.begun = true
}

const (
	// Limits on the connections of an open loop without max_connections: one per request scheduled
	// in a second, within these.
	minDefaultConnections = 256
	maxDefaultConnections = 4096
)

// MaxOpenConnections returns how many connections a step may open: the number of the step; or as
// many as users; or for a rate as many as requests are scheduled in a second, so requests wait only
// for responses slower than that.
func MaxOpenConnections(s bench.Step) int {
	switch {
	case s.Connections > 0:
		return s.Connections
	case s.MaxConnections > 0:
		return s.MaxConnections
	case s.Arrivals != nil:
		return min(s.Arrivals.Users, maxDefaultConnections)
	}
	top := math.Ceil(max(s.Rate+s.Swing(), s.RampTo))
	return int(min(max(top, minDefaultConnections), maxDefaultConnections))
}

// initialTime is how much of an open loop's schedule has connections before the clock starts.
const initialTime = 10 * time.Millisecond

// InitialConnections returns how many connections an open loop opens before the clock starts, at
// most limit. Users need none, as each opens a new connection.
func InitialConnections(s bench.Step, limit int) int {
	if s.Arrivals != nil {
		return 0
	}
	return min(max(int(s.Rate*initialTime.Seconds()), 1), limit)
}
