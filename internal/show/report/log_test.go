package report

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestFailuresKeepBothEndsOfTheLog: a log of any length is bounded, with its first and last lines;
// one that was kept whole by the run stays whole.
func TestFailuresKeepBothEndsOfTheLog(t *testing.T) {
	of := func(n int) []string {
		var lines []bench.LogLine
		for i := range n {
			lines = append(lines, bench.LogLine{Text: fmt.Sprint(i)})
		}
		c := column{trial: &bench.TrialResult{State: bench.TrialFailed, Failure: "exited", LastLog: lines}}
		return failures(layout{columns: []column{c}})[0].LastLog
	}
	got := of(5000)
	testenv.Check(t, len(got) == maxLog && got[0] == "0" && got[maxLog-1] == "4999", "%q", got)
	// What a run keeps: 30 lines, and two that say how many were left out.
	if got := of(32); len(got) != 32 || !slices.Contains(got, "15") {
		t.Errorf("%q", got)
	}
}

// TestFailuresSayTheStopOnce: of a contender that hung at its stop the failure says it.
func TestFailuresSayTheStopOnce(t *testing.T) {
	for _, c := range []struct {
		trial bench.TrialResult
		want  int // sentences
	}{
		{bench.TrialResult{State: bench.TrialFailed, Failure: "did not stop", Cause: &bench.Cause{Kind: bench.CauseHung, Text: "did not stop"}}, 1},
		{bench.TrialResult{State: bench.TrialFailed, Failure: "did not respond", Cause: &bench.Cause{Kind: bench.CauseSilent}}, 2},
		{bench.TrialResult{State: bench.TrialComplete}, 1},
	} {
		c.trial.Stop = &bench.StopResult{Killed: true, Handled: true}
		all := failures(layout{columns: []column{{trial: &c.trial}}})
		testenv.Check(t, len(all) == 1 && len(all[0].What) == c.want, "%+v, want %d sentences", all, c.want)
	}
}
