package board

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/testenv"
)

// TestEarlierProblems: those of before the resume are named as such, and not counted as of now.
func TestEarlierProblems(t *testing.T) {
	s := &fold.State{}
	s.Apply(bench.Record{Event: bench.RunStarted{}})
	s.Apply(bench.Record{Event: bench.Notice{Level: "error", Text: "interrupted by SIGINT"}})
	s.Apply(bench.Record{Event: bench.RunStarted{Run: bench.Run{Resumed: []time.Time{time.Unix(1, 0)}}}})
	b := New()
	press(t, b, s, "6")
	v := text(b, s, 120, 20)
	testenv.Contains(t, v, "1 before the resume", "before the resume: interrupted by SIGINT", "!1 error")
	s.Apply(bench.Record{Event: bench.Notice{Level: "error", Text: "of now"}})
	testenv.Contains(t, text(b, s, 120, 20), "1 error", "!before the resume: of now")
}

// TestFirstAndLastLogLines: the view of a trial that failed before its load has both ends of its
// log.
func TestFirstAndLastLogLines(t *testing.T) {
	s := &fold.State{}
	trial := bench.Trial{Contender: "a", Round: 1}
	var log []bench.LogLine
	for i := range 30 {
		log = append(log, bench.LogLine{Text: fmt.Sprintf("line-%d.", i)})
	}
	s.Apply(bench.Record{Event: bench.RunStarted{Run: bench.Run{Trials: []bench.TrialEntry{{Trial: trial}}}}})
	s.Apply(bench.Record{Trial: &trial, Event: bench.TrialStarted{Number: 1, Of: 1}})
	s.Apply(bench.Record{Trial: &trial, Event: bench.TrialEnded{State: bench.TrialFailed, Failure: "exited", LastLog: log}})
	s.Apply(bench.Record{Event: bench.RunEnded{State: bench.RunComplete}})
	testenv.Contains(t, text(New(), s, 80, 24), "line-0.", "line-29.", " lines …")
}

// TestExcludedIsNotFailed: where the sentence is too long for the first line, the counts tell
// contenders that failed and excluded ones apart.
func TestExcludedIsNotFailed(t *testing.T) {
	s := &fold.State{}
	run := bench.Run{State: bench.RunComplete, Profile: bench.Profile{Name: "orders"}}
	for i := range 4 { // the sentence of four is short, that of three is not
		entry := bench.TrialEntry{Trial: bench.Trial{Contender: fmt.Sprintf("contender-with-a-long-name-%d", i), Round: 1}, State: bench.TrialComplete}
		if i < 3 {
			entry.Excluded = &bench.Exclusion{Unexpected: &bench.Unexpected{Count: 1, Compared: 50}}
		}
		run.Trials = append(run.Trials, entry)
	}
	s.Apply(bench.Record{Event: bench.RunStarted{Run: run}})
	s.Apply(bench.Record{Event: bench.RunEnded{State: bench.RunComplete}})
	v := text(New(), s, 80, 24)
	testenv.Check(t, strings.Contains(v, "! 3 excluded") && !strings.Contains(v, "failed"), "%s", v)
}
