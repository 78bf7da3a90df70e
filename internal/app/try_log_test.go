package app

import (
	"strings"
	"testing"

	"locbench/internal/bench"
)

// TestTryShowsTheLogOfAFailure: the lines that are kept, once, and none of a success.
func TestTryShowsTheLogOfAFailure(t *testing.T) {
	log := []bench.LogLine{{Text: "Error: cannot read config.json\x1b[31m"}, {Text: "… 3 lines …", LeftOut: 3}, {Text: "Node.js v18"}}
	for state, want := range map[bench.TrialState]string{
		bench.TrialFailed:   "failed: exited\n  its log:\n    | Error: cannot read config.json␛[31m\n    | … 3 lines …\n    | Node.js v18\n",
		bench.TrialAborted:  "aborted: exited\n",
		bench.TrialComplete: "all as expected\n",
	} {
		var out strings.Builder
		a := &attempt{out: &out, conductor: &conductor{}}
		a.event(bench.Record{Trial: &bench.Trial{Contender: "a", Round: 1},
			Event: bench.TrialEnded{State: state, Failure: "exited", LastLog: log}})
		if !strings.HasSuffix(out.String(), ": "+want) {
			t.Errorf("%s: %q, want %q", state, out.String(), want)
		}
	}
}
