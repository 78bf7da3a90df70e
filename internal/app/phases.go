package app

import (
	"context"

	"locbench/internal/bench"
	"locbench/internal/load/phases"
)

// firstRequests times the first requests of a contender one by one, of the profile's first kind.
func (s *site) firstRequests(ctx context.Context, baseURL string) (bench.Phases, error) {
	p := s.plan.Profile
	return phases.Measure(ctx, phases.Plan{
		BaseURL: baseURL, Request: p.Requests[0], IDs: s.ids, Requests: p.Phases.Requests, Timeout: p.Timeout, Seed: s.plan.Seed,
	})
}
