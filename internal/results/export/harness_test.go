package export

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// The published renderer needs every check in every file, and divides by numbers of every step.
func TestHarnessFile_Rendered(t *testing.T) {
	run, trials := fixture()
	trials = slices.Clone(trials[:2])
	trials[1].Checks = []bench.CheckResult{{Group: "get", Name: "served by this one only", Status: bench.CheckPassed, Value: "200"}}
	died := trials[1].Steps[len(trials[1].Steps)-1]
	died.Index, died.Aborted, died.After = died.Index+1, "the contender died", nil
	trials[1].Steps = append(slices.Clone(trials[1].Steps), died)
	sets := map[string]bool{}
	for name, data := range written(t, "harness", run, trials, Options{}) {
		var f struct {
			Checks map[string]any   `json:"checks"`
			Stats  []map[string]any `json:"stats"`
		}
		testenv.OK(t, json.Unmarshal(data, &f))
		sets[fmt.Sprint(slices.Sorted(maps.Keys(f.Checks)))] = true
		for i, s := range f.Stats {
			for _, key := range []string{"cpu_new_s", "mem_max_mb", "requests_per_s", "latency_90p_ms"} {
				if s[key] == nil && i >= 2 {
					t.Errorf("%s: stats[%d].%s is null", name, i, key)
				}
			}
		}
		if strings.HasPrefix(name, "rs-actix-1") && f.Checks["get: served by this one only"] != "not run" {
			t.Errorf("%s: %v", name, f.Checks["get: served by this one only"])
		}
	}
	if len(sets) != 1 {
		t.Errorf("%d different sets of checks", len(sets))
	}
}

// Checks, start-up, image size, counters and results of each step are in the keys and units of the
// harness.
func TestHarnessFile(t *testing.T) {
	run, trials := fixture()
	trials = trials[:1]
	trials[0].Checks = append(trials[0].Checks,
		bench.CheckResult{Group: "get", Name: "without a value", Status: bench.CheckPassed},
		bench.CheckResult{Group: "get", Name: "skipped", Status: bench.CheckSkipped, Detail: "no index"},
		bench.CheckResult{Group: "lifecycle", Name: "threads", Status: bench.CheckInfo, Value: "3"},
		bench.CheckResult{Group: "lifecycle", Name: bench.CheckStops, Status: bench.CheckPassed},
		bench.CheckResult{Group: "get", Name: "known city", Status: bench.CheckFailed, Detail: "the same name again"},
	)
	out := written(t, "harness", run, trials, Options{})["rs-actix-1.checks.bench.json"]
	if !json.Valid(out) {
		t.Error("it is not JSON")
	}
	testenv.Golden(t, "testdata/rs-actix-1.checks.bench.json", string(out))
}

// What is not known is null, not 0.
func TestHarnessFile_Unknown(t *testing.T) {
	for label, value := range harnessChecks(bench.TrialResult{}) {
		testenv.Check(t, value == nil || label == "Stops gracefully", "%s: %v", label, value)
	}
}

func TestHarnessFile_Stop(t *testing.T) {
	for _, c := range []struct {
		name string
		stop *bench.StopResult
		want string
	}{
		{"unknown", nil, "Bad, not known"},
		{"graceful", &bench.StopResult{Graceful: true, Took: 1500 * time.Millisecond}, "Good, exited in 1.5s"},
		{"exited before", &bench.StopResult{ExitedBeforeStop: true}, "Bad, exited before stop"},
		{"killed", &bench.StopResult{Killed: true, Took: 10 * time.Second}, "Bad, did not stop in 10s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			testenv.Equal(t, stopsOf(bench.TrialResult{Stop: c.stop}), c.want)
		})
	}
}
