package load

import (
	"fmt"
	"math"
	"time"

	"locbench/internal/bench"
)

const (
	settleWindows = 3    // on each side of the comparison
	settleWithin  = 0.03 // of the throughput
)

// settling tells when the throughput of a step has settled: when the mean of its last three windows differs from that of the three
// before by no more than 3 %, or by no more than neighbouring windows do among these six anyhow (on a noisy machine a trend that is
// smaller than the noise cannot be seen). Windows without a success, of the drain, or of odd length do not count.
type settling struct{ last []float64 }

// add takes in a window, and tells whether the throughput has settled with it.
func (s *settling) add(w bench.Window, length time.Duration) bool {
	if w.Drain || w.Length < length*9/10 || w.Succeeded == 0 {
		s.last = s.last[:0]
		return false
	}
	s.last = append(s.last, w.Throughput())
	if len(s.last) > 2*settleWindows {
		s.last = append(s.last[:0], s.last[1:]...)
	}
	if len(s.last) < 2*settleWindows {
		return false
	}
	before, after, steps := 0., 0., 0.
	for i, x := range s.last {
		if i < settleWindows {
			before += x / settleWindows
		} else {
			after += x / settleWindows
		}
		if i > 0 {
			steps += math.Abs(x-s.last[i-1]) / (2*settleWindows - 1)
		}
	}
	// A steady rise moves the means apart by three of its steps: it never passes for noise.
	return math.Abs(after-before) <= max(settleWithin*after, steps)
}

// unsettled is the doubt about a step that was to last until its throughput had settled.
func unsettled(s bench.Step, l bench.Load) string {
	if !s.Settle || l.Settled > 0 {
		return ""
	}
	return fmt.Sprintf("the throughput had not settled within %s", s.Duration)
}
