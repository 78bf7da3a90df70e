package run

import (
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
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

// TestFramesOfChecks: a check with a time limit, and the others.
func TestFramesOfChecks(t *testing.T) {
	for name, records := range map[string]func(testing.TB) []bench.Record{
		"live-launching": func(t testing.TB) []bench.Record { return whileChecking(t, 2, 2, 12*time.Second) },
		"live-checking":  func(t testing.TB) []bench.Record { return whileChecking(t, 2, 31, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			var d desk
			deskOf(&d, records).Frames(t, name)
		})
	}
}

// TestWhichCheckRuns, and how long it may take: a start has a time limit.
func TestWhichCheckRuns(t *testing.T) {
	r := New(Options{Session: &session{}})
	s := &r.state
	start := time.Unix(1000, 0)
	s.Phase.Name, s.Phase.Since, s.Last = bench.PhaseCheck, start, start
	s.Run.Profile.Checks.Lifecycle = []string{"no-environment", "no-store", "logs-port", "threads", "stops"}
	shows := func(after time.Duration, class ui.Class, want string) {
		t.Helper()
		s.Last, r.size.Class = start.Add(after), class
		testenv.Equal(t, heading{r}.phase(), want)
	}
	s.Current = &fold.Trial{Result: bench.TrialResult{Checks: []bench.CheckResult{{Group: "lifecycle", Name: "no-environment", Took: time.Second}}}}
	s.Trials = []*fold.Trial{s.Current}
	shows(4*time.Second, ui.Full, "checking no-store: 3s of at most 15s to exit")
	shows(4*time.Second, ui.Column, "checking no-store: 3s of 15s")
	shows(17*time.Second, ui.Full, "checking no-store: 16s")
	s.Current.Result.Checks = append(s.Current.Result.Checks, bench.CheckResult{Group: "lifecycle", Name: "no-store"})
	shows(4*time.Second, ui.Full, "checking threads: 3s")
	s.Current.Result.Instance = &bench.InstanceInfo{}
	shows(4*time.Second, ui.Full, "checking: 2 checks done, 4s")
}
