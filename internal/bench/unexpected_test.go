package bench

import (
	"math"
	"testing"
)

func wrongLoad(wrong, checked, succeeded int64) Load {
	return Load{Succeeded: succeeded, Checked: checked, Failed: map[ErrorKind]int64{ErrWrong: wrong}}
}

func TestErrorRateEstimatesUnexpectedBodies(t *testing.T) {
	other := wrongLoad(3, 114, 9000)
	other.Failed[ErrTimeout] = 997
	kinds := wrongLoad(30, 600, 9970) // a rare kind, wrong in 1 of 10, is compared as often as the frequent one
	kinds.Requests = []RequestLoad{
		{Name: "often", Succeeded: 9000, Checked: 300},
		{Name: "rare", Succeeded: 970, Checked: 300, Failed: map[ErrorKind]int64{ErrWrong: 30}},
	}
	for name, test := range map[string]struct {
		load Load
		want float64
	}{
		"3 of 114":          {wrongLoad(3, 114, 9997), 3. / 114},
		"all compared":      {wrongLoad(5, 1000, 995), .005},
		"none wrong":        {wrongLoad(0, 114, 10000), 0},
		"not on record":     {wrongLoad(5, 0, 995), .005},
		"with other errors": {other, (997 + 9003*3./114) / 10000},
		"by kind":           {kinds, .01},
		"no request":        {Load{}, 0},
	} {
		if got := test.load.ErrorRate(); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, got, test.want)
		}
	}
}

func TestErrorRateWithDropped(t *testing.T) {
	l := wrongLoad(3, 100, 897) // 3% of 900
	l.Dropped = 100
	if got := l.ErrorRateWithDropped(); math.Abs(got-.127) > 1e-9 {
		t.Errorf("%g, want 0.127", got)
	}
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
	share := "sent unexpected bodies: 3 of 114 compared bodies were unexpected (2.6%), first in round 2 at step 16c (16 connections)"
	for name, test := range map[string]struct {
		steps   []StepResult
		checks  []CheckResult
		allowed float64
		want    string // "": not excluded
	}{
		"right":             {steps: []StepResult{right}},
		"at one step":       {steps: []StepResult{right, wrong}, want: share + "; first: $.guest: expected A, is B"},
		"in a warm-up":      {steps: []StepResult{warmUp, right}, want: share + "; first: $.guest: expected A, is B"},
		"allowed":           {steps: []StepResult{right, wrong}, allowed: .03},
		"more than allowed": {steps: []StepResult{right, wrong}, allowed: .02, want: share + "; first: $.guest: expected A, is B"},
		"before checks": {steps: []StepResult{right, wrong}, checks: checks,
			want: share + ", and failed 1 of 1 check; first: $.guest: expected A, is B"},
	} {
		trial := TrialResult{Trial: Trial{Round: 2}, Steps: test.steps, Checks: test.checks}
		got := ""
		if u := trial.Excluded(1, test.allowed); u != nil { // max_errors of 100% permits no unexpected body
			got = u.String()
		}
		if got != test.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, test.want)
		}
	}
}

func TestExclusionsOfTrialsAreAdded(t *testing.T) {
	one := &Exclusion{Unexpected: &Unexpected{Count: 1, Compared: 300, Step: "16c", Round: 2}, First: "body"}
	checks := &Exclusion{FailedChecks: 1, Checks: 2, First: "check"}
	if sum := checks.Add(one).Add(one); sum.Unexpected.Count != 2 || sum.Unexpected.Compared != 600 || sum.First != "body" || one.Unexpected.Count != 1 {
		t.Errorf("%+v, unexpected %+v", sum, sum.Unexpected)
	}
}
