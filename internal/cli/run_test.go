package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// bounded are the arguments of a run of the service at url, in two steps of 40 requests each.
func bounded(t *testing.T, dir, url string, args ...string) []string {
	t.Helper()
	file := fileOf(t, "bounded.yaml", `contenders: [go-nethttp]
requests: [{path: /thing}]
step_duration: 5m
timeout: 1m
steps: [{connections: 1, max_requests: 40}, {connections: 2, max_requests: 40}]
`)
	return into(dir, append([]string{"--target", url, "--profile", file, "--no-checks"}, args...)...)
}

// The results have each response except the first, which comes before the load; the exit code
// follows the thresholds. The metrics have an address, and the history has the run.
func TestRun_Thresholds(t *testing.T) {
	for name, c := range map[string]struct {
		status    int // of all responses but the first
		threshold string
		code      int
		says      string
	}{
		"passed":             {200, "errors<100%,throughput>0.001", 0, "metrics  http://127.0.0.1:…thresholds: 0 of 4 missed"},
		"missed from a step": {200, "throughput>900000000 from_step=2", 4, "thresholds: 1 of 1 missed"},
		"stopped early":      {200, "throughput>900000000 stop=true", 4, "stopped the trial"},
		// Two steps without a success: the contender has failed, which is worse.
		"and failed": {500, "errors<1%", 3, "threshold missed: errors is 100%"},
	} {
		t.Run(name, func(t *testing.T) {
			var answered atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/thing" && answered.Add(1) > 1 {
					w.WriteHeader(c.status)
				}
			}))
			defer server.Close()
			dir := outOf(t)
			says(t, c.code, c.says, bounded(t, dir, server.URL, "--threshold", c.threshold, "--metrics-listen", "0")...)
			_, trials := readResults(t, dir)
			var recorded int64
			for _, s := range trials[0].Steps {
				recorded += s.Load.AllSucceeded() + s.Load.FailedTotal()
			}
			testenv.Equal(t, recorded, int64(40*len(trials[0].Steps)))
			testenv.Equal(t, recorded, answered.Load()-1)
			switch trial := trials[0]; {
			case name == "passed":
				inHistory(t, dir)
			case name == "stopped early" && (trial.State != bench.TrialAborted || len(trial.Steps) != 1 ||
				trial.Steps[0].Thresholds[0].Stopped != bench.ScopeTrial):
				t.Errorf("%s: %+v", trial.State, trial.Steps)
			}
		})
	}
}

// inHistory looks at the history of the only run in a folder.
func inHistory(t *testing.T, dir string) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{filepath.Dir(dir)}, 0, "Only one result"},
		{[]string{dir, "--format", "json", "--measure", "throughput"}, 0, `"unit": "1/s"`},
		{[]string{dir, "--format", "csv"}, 0, "contender,started,folder"},
		{[]string{dir, "--format", "pdf"}, 2, "text, md, csv or json"},
		{[]string{dir, "--measure", "speed"}, 2, `no measure "speed"`},
		{[]string{dir, "--contender", "x"}, 2, `no contender "x"`},
		{[]string{t.TempDir()}, 1, "no results folder in"},
	} {
		says(t, c.code, c.says, append([]string{"history"}, c.args...)...)
	}
}

// --engine, or else the environment, selects the engine; the choice is on record, and the results
// say what ran.
func TestEngine(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	fast := bench.EngineFast
	if load.FastApplies(false, false) != nil {
		fast = bench.EngineVegeta
	}
	for name, c := range map[string]struct {
		flag, variable string
		chosen, ran    bench.Engine
	}{
		"vegeta":                   {"vegeta", "", "vegeta", "vegeta"},
		"epoll by the environment": {"", "epoll", "epoll", "fast"},
		"the flag comes first":     {"auto", "vegeta", "", fast},
	} {
		t.Run(name, func(t *testing.T) {
			if c.ran == "fast" && fast != "fast" {
				t.Skip("engine fast needs Linux")
			}
			dir, args := outOf(t), []string{"--engine", c.flag}
			if c.flag == "" {
				args = nil
			}
			text := shell{"LOCBENCH_ENGINE": c.variable}.says(t, 0, "", bounded(t, dir, server.URL, args...)...)
			run, trials := readResults(t, dir)
			testenv.Equal(t, run.Engine, c.chosen)
			testenv.Equal(t, bench.EnginesOf(trials...), []bench.Engine{c.ran})
			testenv.Equal(t, strings.Count(text, "\n  engine   "+string(c.ran)+"\n"), 1, text)
		})
	}
}

// locbench gives up a store or target that never responds, and saves nothing of the run or the
// search. The target is a contender with a short timeout in its manifest.
func TestNothingRan(t *testing.T) {
	const refusing = "http://127.0.0.1:1"
	services := testenv.Folder(t, map[string]string{"mine/service.yaml": `{name: mine, title: Mine, language: Go, framework: none, version: "1",
  endpoints: all, port: 8080, ready: {timeout: 100ms}, process: {command: [mine]}}`})
	target := []string{"mine", "--no-checks", "--services", services, "--target", refusing}
	for name, c := range map[string]struct {
		args   []string
		code   int
		reason string
		most   int // how often the reason may be there
	}{
		"store":    {[]string{"run", "--runtime", "process", "--elastic", refusing}, console.ExitFailure, "connection refused", 1},
		"run":      {append([]string{"run"}, target...), console.ExitContender, "not ready after 100ms", 1},
		"capacity": {append([]string{"capacity", "--slo", "p99<1s"}, target...), console.ExitContender, "not ready after 100ms", 3},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			code, out, stderr := shell(nil).runs(t, append(c.args, "-o", filepath.Join(dir, "results", "x"))...)
			testenv.Equal(t, code, c.code)
			if n := strings.Count(stderr, c.reason); out != "" || n < 1 || n > c.most {
				t.Errorf("standard output %q; the reason is there %d times:\n%s", out, n, stderr)
			}
			has(t, "standard error", stderr, "nothing ran; no results saved")
			left := testenv.Must(os.ReadDir(dir))(t)
			testenv.Equal(t, len(left), 0, left)
		})
	}
}
