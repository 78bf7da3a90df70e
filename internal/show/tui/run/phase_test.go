package run

import (
	"strings"
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

// TestFramesOfChecks: a check with a time limit, and checks whose time is known from another trial.
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

// TestWhichCheckRuns, and how long it may take: a start has a time limit, others are known from a
// trial that has had them, of the same contender if there is one.
func TestWhichCheckRuns(t *testing.T) {
	r := New(Options{Session: &session{}})
	s := &r.state
	start := time.Unix(1000, 0)
	s.Phase.Name, s.Phase.Since, s.Last = bench.PhaseCheck, start, start
	s.Run.Profile.Checks.Lifecycle = []string{"no-environment", "no-store", "logs-port", "threads", "stops"}
	trial := func(contender string, round int, took time.Duration, names string) *fold.Trial {
		t := &fold.Trial{Result: bench.TrialResult{Trial: bench.Trial{Contender: contender, Round: round}}}
		for _, name := range strings.Fields(names) {
			c := bench.CheckResult{Group: "lifecycle", Name: name, Took: took}
			if len(name) == 1 {
				c.Group = "get"
			}
			t.Result.Checks = append(t.Result.Checks, c)
		}
		return t
	}
	shows := func(after time.Duration, class ui.Class, want string) {
		t.Helper()
		s.Last, r.size.Class = start.Add(after), class
		testenv.Equal(t, heading{r}.phase(), want)
	}
	s.Current = trial("a", 1, time.Second, "no-environment")
	s.Trials = []*fold.Trial{s.Current}
	shows(4*time.Second, ui.Full, "checking no-store: 3s of at most 15s to exit")
	shows(17*time.Second, ui.Full, "checking no-store: 16s")
	s.Current.Result.Checks = append(s.Current.Result.Checks, bench.CheckResult{Group: "lifecycle", Name: "no-store"})
	shows(4*time.Second, ui.Full, "checking threads: 3s")
	s.Current.Result.Instance = &bench.InstanceInfo{}
	shows(4*time.Second, ui.Full, "checking: 2 checks done, 4s")

	s.Trials = append(s.Trials, trial("b", 1, 4*time.Second, "no-environment no-store logs-port a b c still-responds stops"))
	shows(0, ui.Full, "checking: 2 checks done, 0s") // it has not had them all
	s.Trials[1].Steps = []*fold.Step{{}}
	shows(0, ui.Full, "check 3 of 6, about 16s left")
	shows(3*time.Second, ui.Column, "check 3/6, about 13s left")
	shows(17*time.Second, ui.Full, "check 3 of 6, 17s")
	s.Current.Result.Instance = nil
	s.Current.Result.Checks = s.Current.Result.Checks[:1]
	shows(4*time.Second, ui.Column, "check 2/6, no-store: 3s of 15s")

	s.Current = trial("a", 2, 0, "logs-port")
	s.Current.Result.Instance = &bench.InstanceInfo{}
	same := trial("a", 1, time.Second, "no-environment logs-port a b stops")
	same.Steps = s.Trials[1].Steps
	s.Trials = []*fold.Trial{same, s.Trials[1], s.Current}
	shows(0, ui.Full, "check 2 of 3, about 2s left")
}
