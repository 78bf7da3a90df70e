package bench

import (
	"testing"
	"time"
)

// A late reading covers a longer time; the number of CPUs does not change.
func TestCPUs(t *testing.T) {
	at := time.Unix(1, 0)
	step := func(between, wall, elapsed time.Duration) StepResult {
		return StepResult{
			Before: &Usage{At: at, CPU: 2 * time.Second}, After: &Usage{At: at.Add(between), CPU: 3 * time.Second},
			Load: Load{Wall: wall, Elapsed: elapsed},
		}
	}
	for name, s := range map[string]StepResult{
		"late reading":         step(4*time.Second, 2*time.Second, 2*time.Second),
		"no times of readings": step(0, 4*time.Second, time.Second),
		"no times at all":      step(0, 0, 4*time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := s.CPUs(); !ok || got != .25 {
				t.Errorf("%s: %v, %v", name, got, ok)
			}
		})
	}
	for name, s := range map[string]StepResult{"no readings": {}, "no time at all": step(0, 0, 0)} {
		t.Run(name, func(t *testing.T) {
			if got, ok := s.CPUs(); ok {
				t.Errorf("%s: %v", name, got)
			}
		})
	}
}
