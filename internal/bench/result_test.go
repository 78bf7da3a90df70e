package bench

import (
	"encoding/json"
	"testing"
	"time"
)

// TestCPUs: a reading that comes late has counted longer, and no more than that.
func TestCPUs(t *testing.T) {
	at := time.Unix(1, 0)
	step := func(between, wall, elapsed time.Duration) StepResult {
		return StepResult{
			Before: &Usage{At: at, CPU: 2 * time.Second}, After: &Usage{At: at.Add(between), CPU: 3 * time.Second},
			Load: Load{Wall: wall, Elapsed: elapsed},
		}
	}
	for name, s := range map[string]StepResult{
		"late reading":     step(4*time.Second, 2*time.Second, 2*time.Second),
		"no times of them": step(0, 4*time.Second, time.Second),
		"nor the client's": step(0, 0, 4*time.Second),
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

func TestEndingsOfEarlierVersions(t *testing.T) {
	for text, want := range map[string]Ending{
		`{"aborted":"the contender died: exit code 7"}`:          EndedByDeath,
		`{"aborted":"skipped by the user"}`:                      EndedBySkip,
		`{"aborted":"interrupted"}`:                              EndedEarly,
		`{"aborted":"the contender died","ending":"aborted"}`:    EndedEarly,
		`{"step":{"name":"the contender died","duration_ns":1}}`: "",
	} {
		t.Run(text, func(t *testing.T) {
			var s StepResult
			if err := json.Unmarshal([]byte(text), &s); err != nil || s.Ending != want {
				t.Errorf("%s: %q, %v; want %q", text, s.Ending, err, want)
			}
		})
	}
}
