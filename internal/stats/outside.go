package stats

import (
	"fmt"

	"locbench/internal/verdict"
)

// Kind is what a measure is of, as far as it decides who is compared by it.
type Kind int

// The kinds.
const (
	OfLife       Kind = iota // of a whole life: start-up, memory
	OfCPU                    // of requests at the peak: CPU time of each
	OfLatency                // of requests under a load that the client has to put on
	OfThroughput             // the peak itself
)

// Outside says why a contender stands in no tier of such a measure, however many rounds it has:
// rounds failed (so many), requests failed, the step that the measure is of was not in a steady
// state, or the client or a clock has decided about its figures; "" if there is no such reason.
func Outside(of Kind, c Contender, at Step, failed int, clientBound bool) string {
	if failed > 0 {
		rounds := "rounds"
		if c.Legs == 1 {
			rounds = "round"
		}
		return fmt.Sprintf("%d of %d %s failed", failed, c.Legs, rounds)
	}
	if of == OfLife {
		return ""
	}
	peak, ok := c.PeakStep()
	switch {
	case !ok:
		return ""
	case at.Drifting > 0:
		return at.DriftWords()
	case peak.ErrorRatio() >= verdict.ErrorsExclude:
		return fmt.Sprintf("%.3g %% of the requests at its peak failed", 100*peak.ErrorRatio())
	case of == OfThroughput && peak.Step.Open():
		return "its load was set by a clock"
	case of >= OfLatency && clientBound:
		return "client-bound at its peak"
	}
	return ""
}
