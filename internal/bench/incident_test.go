package bench

import (
	"testing"
	"time"
)

func TestTextsOfFailures(t *testing.T) {
	one, after := 1, 600*time.Millisecond
	for want, got := range map[string]string{
		"step 2: paused from outside": Incident{Text: "paused from outside", Step: &one}.String(),
		"paused from outside":         Incident{Text: "paused from outside"}.String(),
		"stopped in step 2 after 600ms, 1234 responses; not measured: 16 connections, 64 connections": Lost{
			Phase: PhaseLoad, Step: &one, After: &after, Responses: 1234, Steps: []string{"16 connections", "64 connections"}}.String(),
		"stopped in phase ready; not measured: 1 connection": Lost{Phase: PhaseReady, Steps: []string{"1 connection"}}.String(),
		"not measured: a, a, a, a, a, a, a, a and 2 more":    Lost{Steps: []string{"a", "a", "a", "a", "a", "a", "a", "a", "a", "a"}}.String(),
		"killed by SIGKILL":                 Exit{Code: 137, Signal: "SIGKILL"}.String(),
		"killed by SIGKILL (out of memory)": Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}.String(),
		"exit code unknown; the container engine was stopped or restarted": Exit{Code: -1, EngineLost: true}.String(),
		"gone, exit code unknown":                   Exit{Code: -1}.String(),
		"exit code 127 (the command was not found)": Exit{Code: 127}.String(),
		"killed by SIGSEGV (segmentation fault)":    Exit{Code: 139, Signal: "SIGSEGV"}.String(),
	} {
		t.Run(want, func(t *testing.T) {
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
