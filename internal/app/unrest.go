package app

import (
	"fmt"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/machine"
)

// warnUnrest warns once of what on this machine moves the figures from the beginning.
func (s *site) warnUnrest() {
	if phrases := machine.Unrest(s.plan.Machine); len(phrases) > 0 {
		s.warn("this machine is not at rest: " + strings.Join(phrases, "; ") + " ('locbench doctor' says more)")
	}
}

// stolen is from which share of the CPUs' time on a step is doubted because other machines had it.
const stolen = .02

// unrest says what disturbed a step from outside.
func unrest(res bench.StepResult) (doubts []string) {
	if _, steal, ok := res.HostShare(); ok && steal >= stolen {
		doubts = append(doubts, fmt.Sprintf("the hypervisor gave %.1f %% of this machine's CPU time to others", 100*steal))
	}
	if n, ok := res.Throttles(); ok && n > 0 {
		doubts = append(doubts, fmt.Sprintf("CPUs were slowed down for their heat (%d times)", n))
	}
	return doubts
}
