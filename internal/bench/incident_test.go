package bench

import (
	"slices"
	"testing"
	"time"
)

func TestTextsOfFailures(t *testing.T) {
	one, after := 1, 600_400*time.Microsecond
	steps := func(n int) string { return Lost{Steps: slices.Repeat([]string{"a"}, n)}.String() }
	texts(t, map[string]string{
		"go-nethttp-1":                Trial{"go-nethttp", "", 1}.String(),
		"rs-actix.lto-12":             Trial{"rs-actix", "lto", 12}.String(),
		"rs-actix:lto":                Trial{"rs-actix", "lto", 12}.Label(),
		"connection refused":          ErrRefused.Words(),
		"step 2: paused from outside": Incident{Text: "paused from outside", Step: &one}.String(),
		"paused from outside":         Incident{Text: "paused from outside"}.String(),
		"stopped in step 2 after 600ms, 1234 responses; not measured: 16c, 64c": Lost{
			Phase: PhaseLoad, Step: &one, After: &after, Responses: 1234, Steps: []string{"16c", "64c"}}.String(),
		"stopped in step 2, 0 responses":                     Lost{Step: &one}.String(),
		"stopped in phase ready; not measured: 1 connection": Lost{Phase: PhaseReady, Steps: []string{"1 connection"}}.String(),
		"not measured: a, a, a, a, a, a, a, a":               steps(8),
		"not measured: a, a, a, a, a, a, a, a and 1 more":    steps(9),
		"":                                  steps(0),
		"exit code 3":                       Exit{Code: 3}.String(),
		"exit code 0":                       Exit{}.String(),
		"killed by SIGKILL":                 Exit{Code: 137, Signal: "SIGKILL"}.String(),
		"killed by SIGKILL (out of memory)": Exit{Code: 137, Signal: "SIGKILL", OOMKilled: true}.String(),
		"exit code unknown; the container engine was stopped or restarted": Exit{Code: -1, EngineLost: true}.String(),
		"exit code 0; the container engine was stopped or restarted":       Exit{EngineLost: true}.String(),
		"gone, exit code unknown":                   Exit{Code: -1}.String(),
		"exit code 127 (the command was not found)": Exit{Code: 127}.String(),
		"killed by SIGSEGV (segmentation fault)":    Exit{Code: 139, Signal: "SIGSEGV"}.String(),
	})
}
