package app

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// TestTryShortens: of a long message the first 40 lines, and how many follow.
func TestTryShortens(t *testing.T) {
	for lines, want := range map[int]string{40: "", 41: "    … and 1 more line\n", 43: "    … and 3 more lines\n"} {
		var out strings.Builder
		a := &attempt{traffic: &traffic{record: &record{}}, out: &out}
		a.message("→", strings.Repeat("a\n", lines))
		testenv.Equal(t, strings.HasSuffix(out.String(), "  a\n"+want) || want == "" && strings.HasSuffix(out.String(), "    a\n"), true, out.String())
		testenv.Equal(t, strings.Count(out.String(), " a\n"), 40)
		testenv.Equal(t, strings.Count(out.String(), "→"), 1)
	}
}

// TestBuild_String: the commit and its date, where they are known.
func TestBuild_String(t *testing.T) {
	b := Build{Version: "1.2.3"}
	testenv.Equal(t, strings.Count(b.String(), "\n"), 1)
	b.Commit = "0123abcd"
	testenv.Equal(t, strings.HasSuffix(b.String(), "\ncommit 0123abcd\n"), true, b)
	b.Date = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	testenv.Equal(t, strings.HasSuffix(b.String(), "\ncommit 0123abcd 2026-11-21T08:00:00Z\n"), true, b)
	testenv.Equal(t, b.software().Date, "2026-11-21T08:00:00Z")
}

// TestTraffic_MissingFile: a file of values that is not there is wrong usage, before anything starts.
func TestTraffic_MissingFile(t *testing.T) {
	p := bench.Profile{Variables: []bench.Variable{{Name: "a", File: "none.csv"}}, Requests: []bench.Request{{Name: "get", Path: "/{a}"}}}
	_, err := newTraffic(&record{plan: Plan{Run: bench.Run{Profile: p}}, env: noEnv}, nil)
	testenv.Fails(t, err, "none.csv")
	testenv.Equal(t, console.ExitCode(t.Context(), err), console.ExitUsage)
}

// TestPlannedProfile_OneRequest: the request of a target without a profile, and its mistakes.
func TestPlannedProfile_OneRequest(t *testing.T) {
	o := RunOptions{Changes: profile.Changes{"target": {"http://127.0.0.1:1/a?b=1"}}, Getenv: noEnv.Getenv}
	p, err := PlannedProfile(o)
	testenv.OK(t, err)
	testenv.Equal(t, len(p.Contenders), 1)
	testenv.Equal(t, p.Requests[0].Path, "/a?b=1")
	o.Request = profile.One{Body: "@none.json"}
	testenv.Fails(t, testenv.Err(PlannedProfile(o)), "none.json")
}

// TestSummary_NoTrials: where the results are and how to continue, without a table.
func TestSummary_NoTrials(t *testing.T) {
	var out, talk strings.Builder
	a := analysis.Of(bench.Run{State: bench.RunInterrupted}, nil)
	testenv.OK(t, Summary(console.Env{Stdout: &out, Stderr: &talk}, "my results", a, false))
	testenv.Equal(t, out.String(), "")
	testenv.Equal(t, talk.String(), "\nresults  my results\nresume   locbench run --resume 'my results'\n")
}
