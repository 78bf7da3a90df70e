package bench

import (
	"testing"
	"time"
)

// TestCause: killed out of memory comes before an exit, and an exit before silence.
func TestCause(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	info := &InstanceInfo{StartedAt: start, Limits: Limits{Memory: 256 << 20}, LimitsEnforced: true}
	at := start.Add(41 * time.Second)
	silent := []Incident{{Kind: IncidentSilent, Text: "no response after the load"}}
	for name, test := range map[string]struct {
		trial TrialResult
		kind  CauseKind
		text  string
	}{
		"killed": {
			TrialResult{State: TrialFailed, Instance: info, Exit: &Exit{At: at, Code: 137, Signal: "SIGKILL", OOMKilled: true}, Incidents: silent},
			CauseKilled, "killed out of memory at 256 MiB (limits.memory), 41.0 s after its start, peak 256 MiB",
		},
		"killed without a limit": {TrialResult{Exit: &Exit{OOMKilled: true}}, CauseKilled, "killed out of memory"},
		"exited": {
			TrialResult{State: TrialFailed, Instance: info, Exit: &Exit{At: at, Code: 7}, Incidents: silent},
			CauseExited, "the contender died: exit code 7, 41.0 s after its start",
		},
		"silent":                {TrialResult{State: TrialFailed, Incidents: silent}, CauseSilent, "no response after the load"},
		"silent, but completed": {TrialResult{State: TrialComplete, Incidents: silent}, "", ""},
		"another failure":       {TrialResult{State: TrialFailed, Failure: "build"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got Cause
			if c := test.trial.Cause(); c != nil {
				got = *c
			}
			if got.Kind != test.kind || got.Text != test.text {
				t.Errorf("%+v", got)
			}
		})
	}
}
