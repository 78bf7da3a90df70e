package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// TestCause: what ended the trial is its cause, never what happened earlier.
func TestCause(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	info := &InstanceInfo{StartedAt: start, Limits: Limits{Memory: 256 << 20}, LimitsEnforced: true}
	at := start.Add(41 * time.Second)
	silent := &Cause{Kind: CauseSilent, Text: "did not respond after the load"}
	for name, test := range map[string]struct {
		trial           TrialResult
		kind            CauseKind
		text, predicate string
	}{
		"killed": {
			TrialResult{State: TrialFailed, Instance: info, Exit: &Exit{At: at, Code: 137, Signal: "SIGKILL", OOMKilled: true}},
			CauseKilled, "killed out of memory at 256 MiB (limits.memory), 41.0 s after its start",
			"was killed out of memory at 256 MiB (limits.memory), 41.0 s after its start",
		},
		"killed without a limit": {TrialResult{State: TrialFailed, Exit: &Exit{OOMKilled: true}}, CauseKilled,
			"killed out of memory", "was killed out of memory"},
		"exited": {
			TrialResult{State: TrialFailed, Instance: info, Exit: &Exit{At: at, Code: 7}},
			CauseExited, "the contender died: exit code 7, 41.0 s after its start", "died: exit code 7, 41.0 s after its start",
		},
		"silent": {TrialResult{State: TrialFailed, Cause: silent}, CauseSilent, silent.Text, silent.Text},
		"not ready": {TrialResult{State: TrialFailed, Cause: &Cause{Kind: CauseNotReady, Text: "not ready after 10s: GET /"}},
			CauseNotReady, "not ready after 10s: GET /", "was not ready after 10s: GET /"},
		"silent, then killed on stop": {TrialResult{State: TrialFailed, Cause: silent, Exit: &Exit{Code: 137}}, CauseSilent,
			silent.Text, silent.Text},
		"a need that ended":                      {trial: TrialResult{State: TrialFailed, Exit: &Exit{Code: 1}, Cause: &Cause{Kind: CauseNeed, Text: "lost db: it has ended"}}},
		"an earlier silence of a complete trial": {trial: TrialResult{State: TrialComplete, Cause: silent}},
		"an incident before another failure": {trial: TrialResult{State: TrialFailed, Failure: "build",
			Incidents: []Incident{{Kind: IncidentSilent, Text: "no response: frozen"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := test.trial.WhyFailed()
			if c == nil {
				c = &Cause{}
			}
			testenv.Check(t, c.Kind == test.kind && c.String() == test.text && c.Predicate() == test.predicate,
				"%q, %q, %q", c.Kind, c, c.Predicate())
		})
	}
}

// TestExclusionNamesTheCauseFirst: whatever else was wrong with the contender, the cause comes
// first, the gravest of all rounds; checks and errors that follow from it are left out.
func TestExclusionNamesTheCauseFirst(t *testing.T) {
	failing := StepResult{Load: Load{Outcomes: Outcomes{Failed: map[ErrorKind]int64{ErrRefused: 36}, Succeeded: 964}}}
	unexpected := StepResult{Load: Load{Outcomes: Outcomes{Failed: map[ErrorKind]int64{ErrWrong: 3}, Succeeded: 964, Checked: 114}}}
	trial := func(e *Exit, c *Cause, steps ...StepResult) TrialResult {
		return TrialResult{State: TrialFailed, Exit: e, Cause: c, Steps: steps,
			Checks: []CheckResult{{Group: "lifecycle", Name: "stops", Status: CheckFailed}}}
	}
	killed, silent := &Exit{OOMKilled: true}, &Cause{Kind: CauseSilent, Text: "did not respond"}
	for name, test := range map[string]struct {
		trials []TrialResult
		want   string
	}{
		"errors":            {[]TrialResult{trial(killed, nil, failing)}, "was killed out of memory"},
		"unexpected bodies": {[]TrialResult{trial(killed, nil, unexpected)}, "was killed out of memory, and sent unexpected bodies: 3 of 114"},
		"graver later":      {[]TrialResult{trial(nil, silent), trial(&Exit{Code: 7}, nil), trial(killed, nil), trial(nil, silent)}, "was killed out of memory"},
		"a need that ended": {[]TrialResult{trial(nil, &Cause{Kind: CauseNeed, Text: "lost db"}, failing, unexpected)}, ""},
		"without a cause":   {[]TrialResult{trial(nil, nil, failing)}, "failed 1 of 1 check, and failed at least 3.6%"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Run{}
			for _, trial := range test.trials {
				r.Trials = append(r.Trials, TrialEntry{Trial: Trial{Contender: "a"}, State: trial.State, Excluded: r.ExclusionOf(trial)})
			}
			all := r.Excluded()
			if test.want == "" && len(all) == 0 {
				return
			}
			if len(all) != 1 || !strings.HasPrefix(all[0].String(), test.want) || test.want == "was killed out of memory" && all[0].String() != test.want {
				t.Errorf("%v, want %q", all, test.want)
			}
		})
	}
}

// TestKilledProcessesAsCause: a contender of several processes continues to run, so it was not
// killed itself. A limit is named only where it is enforced.
func TestKilledProcessesAsCause(t *testing.T) {
	info := &InstanceInfo{Limits: Limits{Memory: 256 << 20}}
	for enforced, want := range map[bool]string{
		true:  "lost 2 processes, killed out of memory at 256 MiB (limits.memory), first in step 3",
		false: "lost 2 processes, killed out of memory, first in step 3",
	} {
		info.LimitsEnforced = enforced
		c := KilledProcesses(2, 3, info)
		testenv.Check(t, c.Predicate() == want && c.String() == want && c.Kind == CauseKilled, "%+v, want %q", c, want)
		if c := CauseOf(Exit{OOMKilled: true}, info); strings.Contains(c.Text, "256 MiB") != enforced {
			t.Errorf("enforced %v: %q", enforced, c.Text)
		}
	}
	c := KilledProcesses(1, 3, info)
	testenv.Check(t, strings.HasPrefix(c.Text, "lost 1 process, "), "%q", c.Text)
	at := time.Unix(5, 0)
	testenv.Equal(t, CauseOf(Exit{Code: 1, At: at}, &InstanceInfo{StartedAt: at}).Text, "exit code 1", "at its start")
	if c := CauseOf(Exit{Code: 1, Said: "no database"}, nil); c.String() != "the contender died: exit code 1: no database" {
		t.Errorf("%q", c)
	}
	a, b := &Cause{Kind: CauseExited, Text: "a"}, &Cause{Kind: CauseExited, Text: "b"}
	testenv.Check(t, graver(a, b) == a, "of two alike the first is named")
}
