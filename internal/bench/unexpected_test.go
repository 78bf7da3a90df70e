package bench

import (
	"math"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

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
	if len(all) != 1 || all[0].Unexpected.Count != 3 || all[0].Unexpected.Compared != 4*350 || all[0].Unexpected.Round != 2 {
		t.Errorf("%+v", all[0].Unexpected)
	}
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
