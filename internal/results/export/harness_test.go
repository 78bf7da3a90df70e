package export

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// published is a file of the harness: its numbers come from Docker and wrk, with the noise of
// Python's floats.
const published = `{
    "checks": {
        "Does not start without env variables": "Good, exited in 0.2s",
        "Startup time (to start responding) secs": 0.0023146629333496094,
        "Docker image size (MB)": 93.19871520996094,
        "HTTP GET / returns 200 or 404": "Good",
        "HTTP GET /city/v1/get?id=1 \u017e": "Bad: assert res.status_code == 404: 500",
        "Threads with 1 online vCPU": "3",
        "Nothing": null, "Empty": "", "Yes": true, "Quoted": "\"x\"",
        "Stops gracefully": "Good, exited in 0.3s"
    },
    "stats": [
        {"message": "After startup", "cpu_total_s": 0.031234567, "cpu_new_s": null, "mem_usage_mb": 2.1796875, "mem_max_mb": 2.4140625, "requests_total": 0, "requests_new": null, "request_errors_total": 0, "request_errors_new": null, "connections": null, "latency_50p_ms": null, "latency_90p_ms": null, "latency_99p_ms": null, "requests_per_s": null},
        {"message": "After HTTP checks", "cpu_total_s": 0.087654321, "cpu_new_s": 0.05641975399999999, "mem_usage_mb": 3.30078125, "mem_max_mb": 3.3984375, "requests_total": 0, "requests_new": 0, "request_errors_total": 0, "request_errors_new": 0, "connections": null, "latency_50p_ms": null, "latency_90p_ms": null, "latency_99p_ms": null, "requests_per_s": null},
        {"message": "Bench", "cpu_total_s": 3.187654321, "cpu_new_s": 3.1, "mem_usage_mb": 3.5, "mem_max_mb": 3.6015625, "requests_total": 13874, "requests_new": 13874, "request_errors_total": 0, "request_errors_new": 0, "connections": 1, "latency_50p_ms": 0.7012, "latency_90p_ms": 0.95, "latency_99p_ms": 3.41, "requests_per_s": 1387.21},
        {"message": "Bench", "cpu_total_s": 18.187654321, "cpu_new_s": 15.0, "mem_usage_mb": 9.5, "mem_max_mb": 11.25, "requests_total": 123877, "requests_new": 110003, "request_errors_total": 5, "request_errors_new": 5, "connections": 128, "latency_50p_ms": 11.1, "latency_90p_ms": 20.5, "latency_99p_ms": 61.02, "requests_per_s": 10999.87}
    ]
}`

// TestHarnessRoundTrip checks that an imported file is exported with the same checks and numbers.
func TestHarnessRoundTrip(t *testing.T) {
	run, trials, err := importing("", source{"x/rs-actix-2.checks.bench.json", []byte(published)})
	testenv.OK(t, err)
	if trials[0].Trial.String() != "rs-actix-2" || len(trials[0].Steps) != 2 || len(trials[0].Marks) != 2 {
		t.Fatalf("trial %s, %d steps, %d marks", trials[0].Trial, len(trials[0].Steps), len(trials[0].Marks))
	}
	out := written(t, "harness", run, trials, Options{})["rs-actix-2.checks.bench.json"]
	if got, want := generic(t, out), generic(t, []byte(published)); !reflect.DeepEqual(got, want) {
		t.Errorf("read and written again:\n%s\nwant:\n%s", out, published)
	}
	_, again, err := importing("", source{"by another name-2.json", out})
	testenv.OK(t, err)
	if !reflect.DeepEqual(again[0].Steps, trials[0].Steps) || !reflect.DeepEqual(again[0].Checks, trials[0].Checks) {
		t.Errorf("read again:\n%+v\nwant:\n%+v", again, trials)
	}
}

// generic returns a JSON value whose numbers are compared exactly as floats.
func generic(t *testing.T, data []byte) (v any) {
	t.Helper()
	testenv.OK(t, json.Unmarshal(data, &v))
	return v
}

func TestHarnessNumbersAreRead(t *testing.T) {
	_, trials, err := importing("", source{"rs-actix-1.checks.bench.json", []byte(published)})
	testenv.OK(t, err)
	trial := trials[0]
	s := trial.Steps[1]
	if s.Load.Succeeded != 110003 || s.Load.FailedTotal() != 5 || s.Load.Latency.P99 != 61_020*time.Microsecond || s.Step.Connections != 128 {
		t.Errorf("load %+v", s.Load)
	}
	if got := s.Load.Throughput(); got < 10999.8699 || got > 10999.8701 {
		t.Errorf("throughput %v, want 10999.87", got)
	}
	if cpu, ok := s.CPU(); !ok || cpu != 15*time.Second {
		t.Errorf("CPU %v %v, want 15s", cpu, ok)
	}
	if *trial.StartUp != 2314663 || trial.Artifact.ImageSize != 97725936 || !trial.Stop.Graceful || trial.Stop.Took != 300*time.Millisecond {
		t.Errorf("start-up %v, image %d, stop %+v", trial.StartUp, trial.Artifact.ImageSize, trial.Stop)
	}
}

func TestExportedHarnessFilesAreRead(t *testing.T) {
	run, trials := fixture()
	for name, data := range written(t, "harness", run, trials, Options{}) {
		for _, label := range []string{labelStartUp, labelImage, labelStops} {
			if !strings.Contains(string(data), label) {
				t.Errorf("%s has no %q", name, label)
			}
		}
		_, back, err := importing("", source{name, data})
		testenv.OK(t, err)
		out := harnessFile{harnessChecks(back[0]), harnessStats(back[0])}.encode()
		if string(out) != string(data) {
			t.Errorf("%s read and written again:\n%s\nwant:\n%s", name, out, data)
		}
		for i, trial := range trials {
			if name != trial.Trial.String()+harnessSuffix {
				continue
			}
			for k, s := range trials[i].Steps {
				got := back[0].Steps[k]
				cpu, _ := s.CPU()
				gotCPU, _ := got.CPU()
				if got.Load.Elapsed != s.Load.Elapsed || got.Load.Succeeded != s.Load.Succeeded || gotCPU != cpu || got.After.Memory.Peak != s.After.Memory.Peak || got.Load.Latency.P90 != s.Load.Latency.P90 {
					t.Errorf("%s, step %d: %+v, want %+v", name, k, got.Load, s.Load)
				}
			}
			if *back[0].StartUp != *trial.StartUp || back[0].Artifact.ImageSize != trial.Artifact.ImageSize || back[0].Stop.Took != trial.Stop.Took {
				t.Errorf("%s: start-up %v, image %d, stop %v", name, *back[0].StartUp, back[0].Artifact.ImageSize, back[0].Stop)
			}
		}
	}
}

// The published renderer needs every check in every file, and divides by numbers of every step.
func TestHarnessFilesCanBeRendered(t *testing.T) {
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

func TestHarnessErrorsNameThePlace(t *testing.T) {
	for _, c := range []struct{ replace, by, want string }{
		{`"connections": 128`, `"conections": 128`, `stats[3]: unknown key "conections"`},
		{`"mem_usage_mb": 9.5`, `"mem_usage_mb": "9.5"`, "stats[3].mem_usage_mb"},
		{`"Yes": true`, `"Yes": {}`, `check "Yes": expected a string`},
		{`"requests_new": 110003`, `"requests_new": -1`, "stats[3].requests_new: -1 is not a whole number between 0 and 1e+15"},
		{`"requests_new": 110003`, `"requests_new": 1.5`, "stats[3].requests_new: 1.5 is not a whole number"},
		{`"cpu_total_s": 18.187654321`, `"cpu_total_s": 3.1`, "stats[3].cpu_total_s: less than in the previous entry"},
		{`"connections": null`, `"connections": 1`, "stats[0].connections: not allowed in the first two entries"},
		{`"Nothing": null`, `"Yes": null`, `check "Yes" appears twice`},
		{`"stats"`, `"status"`, `unknown field "status"`},
		{`{
    "checks"`, `{"stats": 1, "checks"`, "line 1: "},
		{`10999.87}`, `10999.87`, "line 17: "},
		{`"mem_usage_mb": 9.5`, `"mem_usage_mb" 9.5`, "line 16: "},
	} {
		t.Run(c.replace, func(t *testing.T) {
			text := strings.Replace(published, c.replace, c.by, 1)
			_, _, err := importing("", source{"a-1.checks.bench.json", []byte(text)})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "a-1.checks.bench.json: ") {
				t.Errorf("%s: %v, want %q", c.by, err, c.want)
			}
		})
	}
}
