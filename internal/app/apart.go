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
func loadProcess(r *record) *apart.Process {
	run := r.plan.Run
	if len(r.env.Self) < 2 || run.Engine == bench.EngineVegeta || load.FastApplies(false, run.Profile.Protocol == bench.HTTP2) != nil {
		return nil
	}
	return &apart.Process{Path: r.env.Self[0], Name: r.env.Self[1]}
}

// runsApart reports whether a contender is loaded from that process.
func (t *traffic) runsApart(at runner.Place) bool {
	return t.process != nil && !strings.HasPrefix(at.BaseURL, "https:")
}

// knownTo returns the known responses, for the load's process.
func (t *traffic) knownTo() (known apart.Known) {
	for _, r := range t.requests {
		if t.known != nil && t.known.Knows(r.Name) {
			known.Requests = append(known.Requests, r.Name)
		}
	}
	known.Check = func(request string, id int64, language string, body []byte) error {
		err := t.known.Check(request, id, language, body)
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
		t := &traffic{known: theirs{known}}
		err := t.compile(plan.Requests)
		t.judges(plan)
		return err
	})
}
