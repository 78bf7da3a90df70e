package bench

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// The share is of the compared bodies, of all requests or of one kind; a share of max_unexpected
// itself is permitted.
func TestTooManyUnexpected(t *testing.T) {
	kinds := wrongLoad(30, 3000, 9000)
	kinds.Requests = []RequestLoad{
		{Name: "often", Outcomes: Outcomes{Succeeded: 8000, Checked: 2700}},
		{Name: "rare", Outcomes: Outcomes{Succeeded: 270, Checked: 300, Failed: map[ErrorKind]int64{ErrWrong: 30}}},
	}
	for name, test := range map[string]struct {
		load    Load
		allowed float64
		request string
		want    bool
	}{
		"as many as permitted":     {load: wrongLoad(3, 100, 9000), allowed: .03},
		"one more":                 {wrongLoad(4, 100, 9000), .03, "", true},
		"one, and none permitted":  {wrongLoad(1, 100, 9000), 0, "", true},
		"none":                     {load: wrongLoad(0, 100, 9000)},
		"of one kind":              {kinds, .05, "rare", true},
		"all, and all permitted":   {load: wrongLoad(5, 0, 0), allowed: 1}, // compared: not on record
		"of a kind, all permitted": {load: kinds, allowed: .1},
	} {
		request, over := test.load.TooManyUnexpected(test.allowed)
		testenv.Check(t, request == test.request && over == test.want, "%s: %q %t", name, request, over)
	}
}

// A rare kind of request that always fails is the error rate of its step.
func TestWorstErrors(t *testing.T) {
	l := Load{Outcomes: Outcomes{Succeeded: 990, Failed: map[ErrorKind]int64{ErrTimeout: 10}}, Requests: []RequestLoad{
		{Name: "often", Outcomes: Outcomes{Succeeded: 990}}, {Name: "rare", Outcomes: Outcomes{Failed: map[ErrorKind]int64{ErrTimeout: 10}}},
	}}
	rate, request := l.WorstErrors()
	testenv.Check(t, rate == 1 && request == "rare", "%g of %q", rate, request)
	rate, request = (Load{Requests: []RequestLoad{{Name: "a"}}}).WorstErrors()
	testenv.Check(t, rate == 0 && request == "", "%g of %q", rate, request)
	l.Requests = l.Requests[:1]
	rate, request = l.WorstErrors()
	testenv.Check(t, rate == .01 && request == "", "%g of %q", rate, request)
}

// Each limit of the profile decides for its own kind of failure.
func TestExclusionFollowsTheProfile(t *testing.T) {
	step := func(failed, succeeded int64) StepResult {
		return StepResult{Load: Load{Outcomes: Outcomes{Succeeded: succeeded, Failed: map[ErrorKind]int64{ErrTimeout: failed}}}}
	}
	warm := step(0, 100)
	warm.Step.WarmUp = true
	unexpected := StepResult{Step: Step{Name: "16c"}, Load: wrongLoad(3, 100, 9000)}
	unexpected.Load.Examples = map[ErrorKind]string{ErrWrong: "of all"}
	unexpected.Load.Requests = []RequestLoad{
		{Name: "often", Outcomes: Outcomes{Checked: 50, Succeeded: 8000, Examples: map[ErrorKind]string{ErrWrong: "of another"}}},
		{Name: "rare", Outcomes: Outcomes{Checked: 50, Succeeded: 1000, Failed: map[ErrorKind]int64{ErrWrong: 3}, Examples: map[ErrorKind]string{ErrWrong: "expected A, is B"}}},
	}
	checks := []CheckResult{{Status: CheckFailed, Request: "GET /x"}, {Status: CheckPassed}, {Status: CheckSkipped}}
	detailed := []CheckResult{{Status: CheckFailed, Request: "GET /x", Detail: "no"}}
	const body = "sent unexpected bodies: 3 of 100 compared bodies were unexpected (3%, 95% CI 1% to 8.5%) in all steps, first in round 0 at step 16c; " +
		"first: rare: expected A, is B"
	for name, test := range map[string]struct {
		run    Run
		steps  []StepResult
		checks []CheckResult
		want   string // "": not excluded
	}{
		"errors":               {steps: []StepResult{step(20, 980)}, want: "failed at least 2% of its requests in every step; first: timeout"},
		"the least errors":     {steps: []StepResult{step(50, 950), step(20, 980), step(30, 970)}, want: "failed at least 2% of"},
		"a valid step":         {steps: []StepResult{step(50, 950), step(10, 990)}},
		"max_errors":           {run: Run{Profile: Profile{MaxErrors: .02}}, steps: []StepResult{step(20, 980)}},
		"more than max_errors": {run: Run{Profile: Profile{MaxErrors: .02}}, steps: []StepResult{step(21, 979)}, want: "failed at least 2.1%"},
		"everything":           {steps: []StepResult{step(20, 0)}, want: "failed every request"},
		"a valid warm-up":      {steps: []StepResult{warm, step(20, 980)}, want: "failed at least 2%"},
		"an empty step":        {steps: []StepResult{step(0, 0), step(20, 980)}, want: "failed at least 2%"},
		"empty steps":          {steps: []StepResult{step(0, 0)}},
		"bodies":               {run: Run{Profile: Profile{MaxErrors: .1}}, steps: []StepResult{unexpected}, want: body},
		"max_unexpected":       {run: Run{Profile: Profile{MaxUnexpected: .06, MaxErrors: .1}}, steps: []StepResult{unexpected}},
		"checks":               {checks: checks, want: "failed 1 of 2 checks; first: GET /x"},
		"details of a check":   {checks: detailed, want: "failed 1 of 1 check; first: GET /x: no"},
		"accepted checks":      {run: Run{AcceptFailedChecks: true}, checks: checks},
		"accepted checks, bodies": {
			run: Run{AcceptFailedChecks: true, Profile: Profile{MaxErrors: .1}}, checks: checks, steps: []StepResult{unexpected}, want: body,
		},
		"a search": {run: Run{Search: "p99<50ms"}, checks: checks, steps: []StepResult{unexpected, step(20, 0)}},
	} {
		got := ""
		if u := test.run.ExclusionOf(TrialResult{Steps: test.steps, Checks: test.checks}); u != nil {
			got = u.String()
		}
		if !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") || strings.HasSuffix(got, ": ") {
			t.Errorf("%s:\n got %q\nwant %q", name, got, test.want)
		}
	}
}

// Of the rounds of a contender the lowest error rate counts, and unexpected bodies are named first.
func TestExclusionsOfRounds(t *testing.T) {
	errors := func(rate float64) *Exclusion { return &Exclusion{NoValidStep: true, Errors: rate, First: "timeout"} }
	testenv.Equal(t, errors(.5).Add(errors(.2)).Add(errors(.3)).Errors, .2, "0.2")
	body := &Exclusion{Unexpected: &Unexpected{Count: 1, Compared: 2}, First: "body"}
	for _, sum := range []*Exclusion{errors(.5).Add(body), body.Add(errors(.5))} {
		testenv.Check(t, sum.First == "body" && sum.Errors == .5 && sum.NoValidStep, "%+v", sum)
	}
}

// The most frequent kind of error is named.
func TestMostFrequentKindOfError(t *testing.T) {
	l := Load{Outcomes: Outcomes{Failed: map[ErrorKind]int64{ErrTimeout: 1, ErrRefused: 9, ErrReset: 0}}}
	kinds := l.FailedKinds()
	testenv.Check(t, len(kinds) == 2 && kinds[0] == ErrRefused, "%v", kinds)
}

// TestExcluded_OneKind: one kind of request that always fails excludes a contender, and is not said
// to be every request.
func TestExcluded_OneKind(t *testing.T) {
	load := Load{Outcomes: Outcomes{Succeeded: 18, Failed: map[ErrorKind]int64{ErrTimeout: 2}}, Requests: []RequestLoad{
		{Name: "get", Outcomes: Outcomes{Succeeded: 18}}, {Name: "order", Outcomes: Outcomes{Failed: map[ErrorKind]int64{ErrTimeout: 2}}},
	}}
	x := TrialResult{Steps: []StepResult{{Load: load}}}.Excluded(.5, 0)
	testenv.Check(t, x != nil && x.Brief() == "failed at least 10% of its requests in every step", "%+v", x)
}
