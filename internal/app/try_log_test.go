package app

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/results/event"
	"github.com/locbench/locbench/internal/testenv"
)

// TestTrySaysWhatWasNotLookedAt: neither as expected nor failed, and no binary is shown.
func TestTrySaysWhatWasNotLookedAt(t *testing.T) {
	var out strings.Builder
	a := &attempt{out: &out, trial: "a", traffic: &traffic{record: &record{stream: event.New(time.Now)}}}
	sent := []byte("POST / HTTP/1.1\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x00")
	response := load.Response{Status: 200, Head: []byte("Content-Encoding: br\r\n"), Body: []byte("\x01\x02")}
	a.exchange("one", load.Asked{Sent: sent, Response: response, Unread: "br body could not be unpacked: it is broken"})
	a.event(bench.Record{Trial: &bench.Trial{Contender: "a", Round: 1}, Event: bench.TrialEnded{State: bench.TrialComplete}})
	for _, want := range []string{
		"(3 bytes)\n", "(2 bytes, br)\n", "\n  not looked at: br body could not be unpacked: it is broken\n",
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
		a := &attempt{out: &out}
		a.event(bench.Record{Trial: &bench.Trial{Contender: "a", Round: 1},
			Event: bench.TrialEnded{State: state, Failure: "exited", LastLog: log}})
		testenv.Check(t, strings.HasSuffix(out.String(), ": "+want), "%s: %q, want %q", state, out.String(), want)
	}
}

// TestTrySaysWhyABuildFailed: with the last lines of its output.
func TestTrySaysWhyABuildFailed(t *testing.T) {
	var out strings.Builder
	a := &attempt{out: &out}
	a.event(bench.Record{Event: bench.PhaseEnded{Phase: bench.PhaseBuild, Err: "build contender a: exit code 7; last lines:\n  RUN x\n  left-pad\x1b[2J not found"}})
	testenv.Equal(t, out.String(), "build failed: build contender a: exit code 7; last lines:\n    | RUN x\n    | left-pad␛[2J not found\n")
}
