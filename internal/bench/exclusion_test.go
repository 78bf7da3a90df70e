package bench

import (
	"math"
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
		testenv.Check(t, strings.HasPrefix(got, test.want) && (got == "") == (test.want == "") && !strings.HasSuffix(got, ": "),
			"%s:\n got %q\nwant %q", name, got, test.want)
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

func wrongLoad(wrong, checked, succeeded int64) Load {
	return Load{Outcomes: Outcomes{Succeeded: succeeded, Checked: checked, Failed: map[ErrorKind]int64{ErrWrong: wrong}}}
}

func TestErrorRateEstimatesUnexpectedBodies(t *testing.T) {
	other := wrongLoad(3, 114, 9000)
	other.Failed[ErrTimeout] = 997
	kinds := wrongLoad(30, 600, 9970) // a rare kind, wrong in 1 of 10, is compared as often as the frequent one
	kinds.Requests = []RequestLoad{
		{Name: "often", Outcomes: Outcomes{Succeeded: 9000, Checked: 300}},
		{Name: "never"},
		{Name: "rare", Outcomes: Outcomes{Succeeded: 970, Checked: 300, Failed: map[ErrorKind]int64{ErrWrong: 30}}},
	}
	for name, test := range map[string]struct {
		load Load
		want float64
	}{
		"3 of 114":              {wrongLoad(3, 114, 9997), 3. / 114},
		"all compared":          {wrongLoad(5, 1000, 995), .005},
		"all that was compared": {wrongLoad(5, 5, 995), 1},
		"none wrong":            {wrongLoad(0, 114, 10000), 0},
		"not on record":         {wrongLoad(5, 0, 995), .005},
		"with other errors":     {other, (997 + 9003*3./114) / 10000},
		"by kind":               {kinds, .01},
		"no request":            {Load{}, 0},
	} {
		if got := test.load.ErrorRate(); !(math.Abs(got-test.want) < 1e-9) { // NaN is wrong, too
			t.Errorf("%s: %g, want %g", name, got, test.want)
		}
	}
}

func TestLoad_Errors(t *testing.T) {
	dropped := wrongLoad(3, 100, 897) // 3% of 900
	dropped.Dropped = 100
	lead := wrongLoad(3, 10, 2)
	lead.Lead, lead.Drain = 3, 3
	step := func(sent int64, d Definition) StepResult {
		return StepResult{Load: Load{Counts: Counts{Sent: sent}, Definition: d}}
	}
	definition := func(steps ...StepResult) string { return all(TrialResult{Steps: steps}.Definition()) }
	var none, some Statuses
	none.Add(Statuses{})
	some.Add(Statuses{200: 1})
	some.Add(Statuses{200: 1, 429: 5})
	check(t, fact{"with dropped requests", math.Round(1e9 * dropped.ErrorRateWithDropped()), 127e6},
		fact{"an estimate", lead.ErrorRateIsEstimate(), true}, fact{"all compared", wrongLoad(3, 10, 7).ErrorRateIsEstimate(), false},
		fact{"none unexpected", wrongLoad(0, 10, 90).ErrorRateIsEstimate(), false},
		fact{"all that was compared", wrongLoad(3, 3, 7).ErrorRateIsEstimate(), true},
		fact{"not on record", wrongLoad(3, 2, 7).ErrorRateIsEstimate(), false},
		fact{"the oldest definition", definition(step(0, 0), step(1, 2), step(1, 1), step(1, 2)), all(Definition(1), true)},
		fact{"a rate of no time", Load{Outcomes: Outcomes{Succeeded: 1}}.Throughput(), 0.},
		fact{"nothing sent", definition(step(0, 2)), all(Definition(0), false)},
		fact{"statuses", some, Statuses{200: 2, 429: 5}}, fact{"no statuses", none == nil, true})
}

func TestUnexpectedBodiesExclude(t *testing.T) {
	step := func(name string, connections int, warmUp bool, l Load) StepResult {
		return StepResult{Step: Step{Name: name, Connections: connections, WarmUp: warmUp}, Load: l}
	}
	right, wrong := step("1c", 1, false, wrongLoad(0, 300, 9000)), step("16c", 16, false, wrongLoad(3, 114, 9997))
	wrong.Load.Examples = map[ErrorKind]string{ErrWrong: "$.guest: expected A, is B"}
	warmUp := wrong
	warmUp.Step.WarmUp = true
	checks := []CheckResult{{Status: CheckFailed, Request: "GET /x", Detail: "no"}}
	byRequest := step("16c", 16, false, Load{Requests: []RequestLoad{{Name: "get", Outcomes: Outcomes{Checked: 114, Failed: map[ErrorKind]int64{ErrWrong: 3}}}}})
	const (
		where = " in round 2 at step 16c (16 connections)"
		of114 = "sent unexpected bodies: 3 of 114 compared bodies were unexpected (2.6%, 95% CI 0.9% to 7.5%) in all steps, first"
		of414 = "sent unexpected bodies: 3 of 414 compared bodies were unexpected (0.72%, 95% CI 0.25% to 2.1%) in all steps, first"
		body  = "; first: $.guest: expected A, is B"
	)
	for name, test := range map[string]struct {
		steps   []StepResult
		checks  []CheckResult
		allowed float64
		want    string // "": not excluded
	}{
		"right":             {steps: []StepResult{right}},
		"at one step":       {steps: []StepResult{right, wrong}, want: of414 + where + body},
		"in a warm-up":      {steps: []StepResult{warmUp, right}, want: of414 + where + body},
		"in all steps":      {steps: []StepResult{wrong}, want: of114 + where + body},
		"by request only":   {steps: []StepResult{byRequest}, want: of114 + where},
		"allowed":           {steps: []StepResult{right, wrong}, allowed: .03},
		"more than allowed": {steps: []StepResult{right, wrong}, allowed: .02, want: of414 + " too many (3 of 114)" + where + body},
		"before checks":     {steps: []StepResult{right, wrong}, checks: checks, want: of414 + where + ", and failed 1 of 1 check" + body},
	} {
		trial := TrialResult{Trial: Trial{Round: 2}, Steps: test.steps, Checks: test.checks}
		got := ""
		if u := trial.Excluded(1, test.allowed); u != nil { // max_errors of 100% permits no unexpected body
			got = u.String()
		}
		testenv.Check(t, got == test.want, "%s:\n got %q\nwant %q", name, got, test.want)
	}
}

func TestExclusion_Add(t *testing.T) {
	one := &Exclusion{Unexpected: &Unexpected{Count: 1, Compared: 300, Step: "16c", Round: 2}, First: "body"}
	cause, step := &Cause{Kind: CauseKilled}, StepResult{Load: wrongLoad(3, 114, 9997)}
	checks := &Exclusion{FailedChecks: 1, Checks: 2, First: "check"}
	check(t, fact{"sum", *checks.Add(one).Add(one).Add(checks), Exclusion{FailedChecks: 2, Checks: 4, First: "body",
		Unexpected: &Unexpected{Count: 2, Compared: 600, Step: "16c", Round: 2}}}, fact{"unchanged", one.Unexpected.Count, int64(1)},
		fact{"a cause alone", *TrialResult{State: TrialFailed, Cause: cause}.Excluded(1, 1), Exclusion{Cause: cause}},
		fact{"bodies", *TrialResult{Steps: []StepResult{step, step}}.Bodies(), Bodies{Unexpected: 6, Compared: 228}})
}

// A contender has one share of unexpected bodies: of those compared in all its rounds, also where
// only one round had any.
func TestUnexpectedBodiesOfAllRounds(t *testing.T) {
	run := Run{}
	for round, wrong := range []int64{0, 2, 0, 1} {
		trial := TrialResult{Trial: Trial{Contender: "a", Round: round + 1}, State: TrialComplete, Steps: []StepResult{
			{Step: Step{WarmUp: true}, Load: wrongLoad(0, 50, 100)}, {Load: wrongLoad(wrong, 300, 900)},
		}}
		run.Trials = append(run.Trials, TrialEntry{Trial: trial.Trial, Excluded: run.ExclusionOf(trial), Bodies: trial.Bodies()})
	}
	before := *run.Trials[1].Excluded.Unexpected
	run.Trials = append(run.Trials, TrialEntry{Trial: Trial{Contender: "b", Round: 1}, Bodies: &Bodies{Compared: 1000}})
	all := run.Excluded()
	testenv.Check(t, len(all) == 1 && all[0].Unexpected.Count == 3 && all[0].Unexpected.Compared == 4*350 && all[0].Unexpected.Round == 2,
		"%+v", all[0].Unexpected)
	got := *run.Trials[1].Excluded.Unexpected
	testenv.Check(t, got == before && got.Compared == 350, "the entry of a trial has changed: %+v", got)
}

func TestShareOfUnexpectedBodies(t *testing.T) {
	for want, x := range map[string]Unexpected{
		"3 of 114 compared bodies were unexpected (2.6%)":       {Count: 3, Compared: 114},
		"1 of 1,907 compared bodies was unexpected (0.052%)":    {Count: 1, Compared: 1907},
		"50 of 50 compared bodies were unexpected (100%)":       {Count: 50, Compared: 50},
		"1 of 1 compared body was unexpected (100%)":            {Count: 1},
		"199 of 2,000 compared bodies were unexpected (10%)":    {Count: 199, Compared: 2000},
		"198 of 2,000 compared bodies were unexpected (9.9%)":   {Count: 198, Compared: 2000},
		"199 of 200 compared bodies were unexpected (>99%)":     {Count: 199, Compared: 200},
		"1,999 of 2,000 compared bodies were unexpected (>99%)": {Count: 1999, Compared: 2000},
	} {
		testenv.Equal(t, x.Share(), want)
	}
	for _, c := range []struct{ count, compared int64 }{{1, 1}, {50, 50}, {25, 1907}} {
		x := Unexpected{Count: c.count, Compared: c.compared}
		share := float64(c.count) / float64(c.compared)
		low, high := x.Interval()
		testenv.Check(t, 0 < low && low < share && share <= high && high <= 1, "%v: %g to %g", c, low, high)
	}
}
