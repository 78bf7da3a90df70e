package app

import (
	"errors"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/load/apart"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/text/console"
)

// loadProcess returns the process of engine fast; nil where that engine does not apply, or this
// binary cannot be started.
func (s *site) loadProcess() *apart.Process {
	run := s.plan.Run
	if len(s.env.Self) < 2 || run.Engine == bench.EngineVegeta || load.FastApplies(false, run.Profile.Protocol == bench.HTTP2) != nil {
		return nil
	}
	return &apart.Process{Path: s.env.Self[0], Name: s.env.Self[1]}
}

// runsApart reports whether a contender is loaded from that process.
func (s *site) runsApart(at runner.Place) bool {
	return s.process != nil && !strings.HasPrefix(at.BaseURL, "https:")
}

// knownTo returns the known responses, for the load's process.
func (s *site) knownTo() (known apart.Known) {
	for _, r := range s.requests {
		if s.known != nil && s.known.Knows(r.Name) {
			known.Requests = append(known.Requests, r.Name)
		}
	}
	known.Check = func(request string, id int64, language string, body []byte) error {
		err := s.known.Check(request, id, language, body)
		if errors.Is(err, needs.ErrUnknown) {
			return load.ErrNotKnown
		}
		return err
	}
	return known
}

// theirs are the responses that the process of a run knows, in the load's process.
type theirs struct{ known apart.Known }

func (t theirs) Any() bool                 { return len(t.known.Requests) > 0 }
func (t theirs) Knows(request string) bool { return slices.Contains(t.known.Requests, request) }

func (t theirs) Check(request string, id int64, language string, body []byte) error {
	err := error(load.ErrNotKnown)
	if t.Knows(request) {
		err = t.known.Check(request, id, language, body)
	}
	if errors.Is(err, load.ErrNotKnown) {
		return needs.ErrUnknown
	}
	return err
}

// ServeLoad is the process that drives the load of a run, until its standard input ends.
func ServeLoad(env console.Env) error {
	return apart.Serve(env.Stdin, env.Stdout, func(plan *load.Plan, known apart.Known) error {
		s := &site{known: theirs{known}}
		err := s.readExpectations(plan.Requests)
		s.judges(plan)
		return err
	})
}
