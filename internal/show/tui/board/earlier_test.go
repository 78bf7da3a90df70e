package board

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
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

// published returns the state of a run whose results come with the source, and which has no event
// log.
func published(t *testing.T, name string) *fold.State {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "testdata", "results", name)
	run, trials, err := results.Read(dir)
	testenv.OK(t, err)
	s := &fold.State{}
	for _, rec := range results.Records(run, trials, dir) {
		s.Apply(rec)
	}
	return s
}

// TestBottleneckIsInTheTable: the table names every bottleneck that the details name.
func TestBottleneckIsInTheTable(t *testing.T) {
	for _, name := range []string{"locations", "delay-matrix", "burst", "cold-warm"} {
		s := published(t, name)
		b := New()
		for _, trial := range s.Trials {
			b.show(s, trial)
			v := &view{b: b, l: ui.NewLook(ui.LookOptions{}), s: s, trial: trial}
			for _, step := range trial.Steps {
				if step.Result == nil || v.verdict(step.Result).Bound == "" {
					continue
				}
				testenv.Check(t, v.notes(step.Result) != "", "%s, step %d: the column is empty, the detail says %s",
					trial.Result.Trial, step.Index+1, v.verdict(step.Result))
				testenv.Contains(t, strings.Join(v.detail(step, 200), "\n"), "!nothing was used up",
					"!bound by unclear")
			}
		}
	}
}

// TestChartsHaveRoom: with four lines of 80×24 taken, a chart still has three lines below its
// title.
func TestChartsHaveRoom(t *testing.T) {
	s := published(t, "locations")
	_, first := find(t, text(New(), s, 80, 20), "throughput ")
	_, second := find(t, text(New(), s, 80, 20), "CPU ")
	testenv.Check(t, second-first >= 4, "a chart of %d lines with its title:\n%s", second-first,
		text(New(), s, 80, 20))
}

func TestLogThatWasNotSaved(t *testing.T) {
	s, b := published(t, "locations"), New()
	press(t, b, s, "5")
	v := text(b, s, 80, 20)
	testenv.Check(t, strings.Contains(v, "log not saved: no events.jsonl"), "%s", v)
	press(t, b, s, "[", "[", "[")
	if v := text(b, s, 80, 20); !strings.Contains(v, "kt-ktor, round 1, 20 lines, last lines only: no events.jsonl") || !strings.Contains(v, "GET /city/v1/get") {
		t.Errorf("%s", v)
	}
	s.Phase.Name = bench.PhaseLoad
	press(t, b, s, "]")
	testenv.Contains(t, text(b, s, 80, 20), "no output")
}
