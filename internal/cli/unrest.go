package cli

import (
	"context"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/machine"
)

// others are the containers that run on the engine and are not this run's.
func (s *site) others(ctx context.Context) string {
	if s.engine == nil {
		return ""
	}
	names, err := s.engine.Running(ctx, s.plan.ID)
	if err != nil {
		return "" // the run will find out what is wrong with the engine
	}
	return machine.Names(names)
}

// tellUnrest warns once of what on this machine moves the figures from the beginning.
func (s *site) tellUnrest() {
	if phrases := machine.Unrest(s.plan.Machine); len(phrases) > 0 {
		text := "this machine is not at rest: " + strings.Join(phrases, "; ") + " ('locbench doctor' says more)"
		s.stream.Publish(nil, bench.Warn(bench.Finding{Kind: bench.FoundUnrest, Text: text}))
	}
}
