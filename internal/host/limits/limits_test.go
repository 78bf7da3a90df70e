package limits

import (
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestCheckLimits(t *testing.T) {
	testenv.OK(t, Check(1))
	err := &Error{Connections: 2048, What: "open files", Need: 2120, Have: 1024, Remedy: "ulimit -n 2120"}
	got, want := err.Error(), "2048 connections need 2120 open files, but only 1024 are allowed: ulimit -n 2120"
	testenv.Check(t, got == want, "%q, want %q", got, want)
	for text, want := range map[string]int64{"32768\t60999\n": 28232, "1 1": 1, "": 0, "9 8": 0, "a b": 0, "1 2 3": 0} {
		t.Run(text, func(t *testing.T) {
			got, ok := parsePorts(text)
			testenv.Check(t, got == want && ok == (want > 0), "%q: %d, %t", text, got, ok)
		})
	}
}
