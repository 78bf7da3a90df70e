package load

import (
	"slices"

	"locbench/internal/stats"
)

// The rule of what has settled. Its numbers were chosen together, by the services of
// settle_test.go.
const (
	// leastLook is the least number of windows that are looked at. A plateau of ten never fills it,
	// wherever it begins: seven of those before are looked at too.
	leastLook = 17
	// settleWithin is the change over all windows that are looked at, from which on it is one.
	settleWithin = 0.03
	// A rise of settleRise from one window to the next has to stand out from the noise, or more
	// windows are waited for.
	settleRise    = 0.01
	riseStandsOut = 0.20 // p value, two-sided
	// A change that is larger than settleWithin may be noise where it has at least such a p value.
	// After earlyLooks windows it must be as small as every second series of noise shows: who asks
	// once a second hears a lucky yes in the end.
	earlyLooks = 19
	noiseEarly = 0.05
	noiseLate  = 0.50
	// firstRest is after how many windows the load rests for the first time, and besideRest how
	// many there have to be on both sides of a rest.
	firstRest  = 8
	besideRest = 5
)

// settling finds out when a service that is being warmed up has come to its final speed, by the
// windows of the load and by nothing else: it has no clock. It has settled when its throughput, and
// its CPU time for each request where that is known, have been level over at least the later half
// of the warm-up, and over leastLook windows, in which the load has rested at least once.
//
// Level takes evidence, not the lack of it. The windows have to be exact enough that a rise of
// settleRise from one to the next would stand out, and show no change of more than settleWithin in
// all. Noise so widens the wait (with 10 % of it from one window to the next it takes 17 to 19
// windows, with 20 % about 25) and excuses a change only as far as noise alone often shows as much.
//
// The rests are for compilers that get no CPU time as long as requests use up the quota: such a
// service stands on a plateau, for as long as the load goes on, and is faster after a pause. No
// look at the load alone can tell that from the final speed. A level that is the same on both sides
// of a rest can. What stays unseen: a plateau of more than leastLook windows that a rest does not
// end, and at a noise of 10 % a rise of up to 1 % a window, of which a measured step then says that
// the service is still warming up (bench.Drift).
type settling struct {
	rates []float64 // of the windows since the last one without a success
	costs []float64 // CPU time for each request; 0: not known
	rests []int     // before which of them the load has rested
}

// advice is what the load is to do next.
type advice int

const (
	goOn    advice = iota
	restNow        // before the next window
	isSettled
)

// add takes in the next whole window: its successes per second, and the contender's CPU time for
// each of them (0: not known).
func (s *settling) add(rate, cost float64) advice {
	if rate <= 0 {
		*s = settling{}
		return goOn
	}
	s.rates, s.costs = append(s.rates, rate), append(s.costs, cost)
	n := len(s.rates)
	if n < leastLook {
		if n == firstRest {
			return restNow
		}
		return goOn
	}
	level := false
	for _, look := range []int{max(leastLook, (n+1)/2), n} {
		if !s.level(look) {
			continue
		}
		level = true
		if s.restedWithin(look) {
			return isSettled
		}
	}
	if level && (len(s.rests) == 0 || n-s.rests[len(s.rests)-1] >= besideRest) {
		return restNow
	}
	return goOn
}

// rested says that there is no load between the last window and the next.
func (s *settling) rested() { s.rests = append(s.rests, len(s.rates)) }

// level tells whether the last windows are.
func (s *settling) level(look int) bool {
	first := len(s.rates) - look
	if !isLevel(s.rates[first:], len(s.rates)) {
		return false
	}
	costs := s.costs[first:]
	return slices.ContainsFunc(costs, func(c float64) bool { return c <= 0 }) || isLevel(costs, len(s.costs))
}

// isLevel tells it of a series after so many windows in all.
func isLevel(series []float64, windows int) bool {
	line, ok := stats.FitLine(series)
	if !ok || line.P(settleRise) > riseStandsOut {
		return false
	}
	noise := noiseEarly
	if windows > earlyLooks {
		noise = noiseLate
	}
	return max(line.Change(), -line.Change()) <= settleWithin || line.P(line.Slope) >= noise
}

// restedWithin tells whether the load has rested among the last windows, with enough of them on
// both sides.
func (s *settling) restedWithin(look int) bool {
	n := len(s.rates)
	return slices.ContainsFunc(s.rests, func(r int) bool { return r >= n-look+besideRest && r <= n-besideRest })
}
