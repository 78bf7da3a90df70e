package run

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
)

// whileChecking returns the records up to a check of a trial, and what the check that runs then
// adds.
func whileChecking(t testing.TB, trial, n int, runs time.Duration) []bench.Record {
	started := 0
	records := tuitest.Until(tuitest.Records(t, "faults"), n, func(rec bench.Record) bool {
		if _, ok := rec.Event.(bench.TrialStarted); ok {
			started++
		}
		_, ok := rec.Event.(bench.CheckDone)
		return ok && started == trial
	})
	last := records[len(records)-1]
	last.At, last.Event = last.At.Add(runs), bench.Notice{Level: "info", Text: "waiting"}
	return append(records, last)
}

// TestFramesOfChecks: how many are done.
func TestFramesOfChecks(t *testing.T) {
	for name, records := range map[string]func(testing.TB) []bench.Record{
		"live-checking": func(t testing.TB) []bench.Record { return whileChecking(t, 2, 31, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			var d desk
			deskOf(&d, records).Frames(t, name)
		})
	}
}
