package plain

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/testenv"
)

// TestPrinter_FailedBuild: the trials of a contender that was not built do not repeat the error.
func TestPrinter_FailedBuild(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		var talk bytes.Buffer
		p := New(Options{Out: &talk, Talk: &talk, Quiet: quiet})
		trial := bench.Trial{Contender: "a", Round: 1}
		p.Handle(bench.Record{Event: bench.PhaseEnded{Phase: bench.PhaseBuild, Err: "run make: exit status 2; last output:\n  cc a.c\n\n  \x1b[1mno rule\n"}})
		testenv.Equal(t, talk.String(), "  build    failed: run make: exit status 2; last output:\n      | cc a.c\n      | ␛[1mno rule\n", quiet)
		p.Handle(bench.Record{Trial: &trial, Event: bench.TrialStarted{Number: 1, Of: 1}})
		p.Handle(bench.Record{Trial: &trial, Event: bench.TrialEnded{
			State: bench.TrialFailed, Failure: "build: run make: exit status 2; last output: cc a.c; \x1b[1mno rule",
		}})
		testenv.Equal(t, strings.Count(talk.String(), "no rule"), 1, talk.String())
		testenv.Equal(t, strings.Contains(talk.String(), "failed: not built, as reported above\n"), true, talk.String())
	}
}

// TestEnd_FailureOnce: the end of a run has each failure once.
func TestEnd_FailureOnce(t *testing.T) {
	for _, row := range []struct {
		name, text string
		spoil      func(*bench.TrialResult)
	}{
		{"a failed build", "no rule", func(r *bench.TrialResult) { r.Failure = "build: no rule" }},
		{"an exit", "exit code 3", func(r *bench.TrialResult) {
			r.Cause = &bench.Cause{Kind: bench.CauseExited, Text: "exit code 3"}
			r.Failure = r.Cause.String()
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			trial := benchtest.With(benchtest.Trial("a", 1), func(r *bench.TrialResult) {
				r.State = bench.TrialFailed
				row.spoil(r)
			})
			var out bytes.Buffer
			testenv.OK(t, whole(&out, analysis.Of(benchtest.Run(trial), []bench.TrialResult{trial}), 0))
			testenv.Equal(t, strings.Count(out.String(), row.text), 1, out.String())
		})
	}
}

// Each phase of checks has its own numbers.
func TestPrinter_Checks(t *testing.T) {
	var talk bytes.Buffer
	p := New(Options{Talk: &talk})
	trial := bench.Trial{Contender: "a", Round: 1}
	handle := func(e bench.Event) { p.Handle(bench.Record{Trial: &trial, Event: e}) }
	done := func(status bench.CheckStatus) {
		handle(bench.CheckDone{Check: bench.CheckResult{Group: "g", Name: "n", Status: status}})
	}
	handle(bench.TrialStarted{})
	done(bench.CheckPassed)
	done(bench.CheckFailed)
	handle(bench.PhaseEnded{Phase: bench.PhaseCheck, Note: "responses"})
	done(bench.CheckPassed)
	done(bench.CheckInfo)
	done(bench.CheckSkipped)
	handle(bench.PhaseEnded{Phase: bench.PhaseCheck, Note: "lifecycle"})
	handle(bench.PhaseEnded{Phase: bench.PhaseCheck, Note: "none"})
	for _, want := range []string{"checks   responses: 1 passed, 1 failed (", "checks   lifecycle: 2 passed, 1 skipped (g) ("} {
		testenv.Equal(t, strings.Contains(talk.String(), want), true, talk.String())
	}
	testenv.Equal(t, strings.Contains(talk.String(), "none"), false)
}

func TestEnding_list(t *testing.T) {
	for most, want := range map[int]string{3: "a\nb\n", 2: "a\nb\n", 1: "a\n1 more note in the report\n", 0: "2 more notes in the report\n"} {
		var b ending
		b.list([]string{"a", "b"}, most, "note")
		testenv.Equal(t, b.String(), want)
	}
}
