package runner

import (
	"strings"
	"testing"
	"time"

	"locbench/internal/bench"
)

func TestAMachineThatStoodStillIsToldOf(t *testing.T) {
	step := func(h *bench.Hiccups) bench.StepResult {
		return bench.StepResult{Load: bench.Load{Wall: 10 * time.Second}, Hiccups: h}
	}
	for _, c := range []struct {
		name string
		h    *bench.Hiccups
		want string // "": nothing
	}{
		{"not known", nil, ""},
		{"none", &bench.Hiccups{CPUs: 2, Preferred: true}, ""},
		{"a little", &bench.Hiccups{CPUs: 2, Count: 9, Sum: 30 * time.Millisecond, Max: 5 * time.Millisecond, Preferred: true}, ""},
		{"long", &bench.Hiccups{CPUs: 2, Count: 1, Sum: 25 * time.Millisecond, Max: 25 * time.Millisecond, Preferred: true}, "at the longest for 25"},
		{"often", &bench.Hiccups{CPUs: 2, Count: 60, Sum: 300 * time.Millisecond, Max: 7 * time.Millisecond, Preferred: true}, "1.5 % of the step"},
		{"by a user without rights", &bench.Hiccups{CPUs: 2, Count: 60, Sum: 300 * time.Millisecond, Max: 7 * time.Millisecond}, "all busy"},
	} {
		got := strings.Join(stoodStill(step(c.h)), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q in it", c.name, got, c.want)
		}
	}
}
