package app

import (
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/load/apart"
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

// runsApart reports whether a contender is loaded from that process: where no response is checked. Checks
// leave garbage, and what a data set knows of a response is in this process.
func (t *traffic) runsApart(at runner.Place) bool {
	return t.process != nil && !strings.HasPrefix(at.BaseURL, "https:") && !t.checking()
}

// checking reports whether bodies of responses are compared, or decide whether a request is repeated.
func (t *traffic) checking() bool {
	return t.known != nil && t.known.Any() || len(t.expect) > 0 || len(t.until) > 0
}

// ServeLoad is the process that drives the load of a run, until its standard input ends.
func ServeLoad(env console.Env) error { return apart.Serve(env.Stdin, env.Stdout) }
