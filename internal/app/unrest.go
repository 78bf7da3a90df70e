package app

import (
	"strings"

	"locbench/internal/bench"
	"locbench/internal/machine"
)

// warnUnrest warns once of what on this machine moves the figures from the beginning.
func (s *site) warnUnrest() {
	if phrases := machine.Unrest(s.plan.Machine); len(phrases) > 0 {
		s.warn(bench.Finding{Kind: bench.FoundUnrest, Text: "this machine is not at rest: " + strings.Join(phrases, "; ") + " ('locbench doctor' says more)"})
	}
}
