package app

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/run/runner"
	"github.com/locbench/locbench/internal/testenv"
)

// TestTryCountsWhatWasNotLookedAt: neither as expected nor failed, and no binary is shown.
func TestTryCountsWhatWasNotLookedAt(t *testing.T) {
	var out strings.Builder
	a := &attempt{out: &out, trial: "a", only: selected{all: true}, site: &site{stream: event.New(time.Now)}}
	sent := []byte("POST / HTTP/1.1\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x00")
	response := load.Response{Status: 200, Head: []byte("Content-Encoding: br\r\n"), Body: []byte("\x01\x02")}
	a.exchange("one", load.Asked{Sent: sent, Response: response, Unread: "br body could not be unpacked: it is broken"})
	a.event(bench.Record{Trial: &bench.Trial{Contender: "a", Round: 1}, Event: bench.TrialEnded{State: bench.TrialComplete}})
	a.summary()
	for _, want := range []string{
		"\nsummary\n  a: 0 requests as expected, 1 not looked at\n", "(3 bytes)\n", "(2 bytes, br)\n", "\n  not looked at: br body could not be unpacked: it is broken\n",
		"a: 1 response not looked at; the others as expected\n",
	} {
		testenv.Check(t, strings.Contains(out.String(), want), "%q is not in %q", want, out.String())
	}
	if strings.Contains(out.String(), "\n  as expected") {
		t.Errorf("%q", out.String())
	}
}

// TestTryShowsTheLogOfAFailure: the lines that are kept, once, and none of a success.
func TestTryShowsTheLogOfAFailure(t *testing.T) {
	log := []bench.LogLine{{Text: "Error: cannot read config.json\x1b[31m"}, {Text: "… 3 lines …", LeftOut: 3}, {Text: "Node.js v18"}}
	for state, want := range map[bench.TrialState]string{
		bench.TrialFailed:   "failed: exited\n  its log:\n    | Error: cannot read config.json␛[31m\n    | … 3 lines …\n    | Node.js v18\n",
		bench.TrialAborted:  "aborted: exited\n",
		bench.TrialComplete: "all as expected\n",
	} {
		var out strings.Builder
		a := &attempt{out: &out, site: &site{}}
		a.event(bench.Record{Trial: &bench.Trial{Contender: "a", Round: 1},
			Event: bench.TrialEnded{State: state, Failure: "exited", LastLog: log}})
		testenv.Check(t, strings.HasSuffix(out.String(), ": "+want), "%s: %q, want %q", state, out.String(), want)
	}
}

// TestTrySaysWhyABuildFailed: with the last lines of its output, once, also if --quiet; and what
// could not be tried is in the summary.
func TestTrySaysWhyABuildFailed(t *testing.T) {
	trial := bench.Trial{Contender: "a", Round: 1}
	failed := bench.Record{Event: bench.PhaseEnded{Phase: bench.PhaseBuild, Err: "build contender a: exit code 7; last lines:\n  RUN x\n  left-pad\x1b[2J not found"}}
	const why = "build failed: build contender a: exit code 7; last lines:\n    | RUN x\n    | left-pad␛[2J not found\n"
	for _, quiet := range []bool{false, true} {
		var out strings.Builder
		a := &attempt{out: &out, quiet: quiet, site: &site{}}
		a.event(failed)
		a.untried(&runner.Incomplete{Failures: []error{&runner.TrialError{Trial: trial, Err: errors.New("build: x")}}})
		a.summary()
		testenv.Equal(t, out.String(), why+"\nsummary\n  a: failed: not built, as reported above\n")

		out.Reset()
		a = &attempt{out: &out, quiet: quiet, site: &site{}}
		a.event(failed)
		a.event(bench.Record{Trial: &trial, Event: bench.TrialEnded{
			State: bench.TrialFailed, Failure: "build: build contender a: exit code 7; last lines: RUN x; left-pad\x1b[2J not found",
		}})
		testenv.Equal(t, out.String(), why+"\na: failed: not built, as reported above\n")
	}
}
