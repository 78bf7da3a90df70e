package bench

import (
	"fmt"
	"slices"
	"strings"
)

// Standing is the state of a run, and which contenders have failed in it: "kt-ktor", "kt-ktor in 2
// of 6 rounds". A run whose legs were all run is complete though a contender has failed, as long as
// another leg is complete; earlier versions called it failed.
func (r Run) Standing() (state RunState, failed []string) {
	rounds, failures := map[string]int{}, map[string]int{}
	var labels []string
	complete, tried := false, true
	for _, e := range r.Legs {
		label := e.Leg.Label()
		if rounds[label]++; rounds[label] == 1 {
			labels = append(labels, label)
		}
		switch e.State {
		case LegComplete:
			complete = true
		case LegFailed:
			failures[label]++
		default:
			tried = false
		}
	}
	slices.Sort(labels) // their order in the first round is drawn
	for _, label := range labels {
		switch n := failures[label]; {
		case n == 0:
		case n == rounds[label]:
			failed = append(failed, label)
		default:
			failed = append(failed, fmt.Sprintf("%s in %d of %d rounds", label, n, rounds[label]))
		}
	}
	if r.State == RunFailed && complete && tried {
		return RunComplete, failed
	}
	return r.State, failed
}

// StandingText is a line: "complete; failed: kt-ktor".
func (r Run) StandingText() string {
	const named = 3
	state, failed := r.Standing()
	text := string(state)
	if len(failed) == 0 {
		return text
	}
	if state != RunFailed {
		text += "; failed"
	}
	if n := len(failed); n > named {
		return fmt.Sprintf("%s: %d contenders", text, n)
	}
	return text + ": " + strings.Join(failed, ", ")
}
