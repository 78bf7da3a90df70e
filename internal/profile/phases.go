package profile

import "locbench/internal/bench"

// phases asks for the first requests of a leg to be timed one by one.
type phases struct {
	Requests int `yaml:"requests" strict:"required,min=1,max=1000" example:"10"`
}

func (p *phases) spec() *bench.PhaseSpec {
	if p == nil {
		return nil
	}
	return &bench.PhaseSpec{Requests: p.Requests}
}

func phasesOf(s *bench.PhaseSpec) *phases {
	if s == nil {
		return nil
	}
	return &phases{Requests: s.Requests}
}
