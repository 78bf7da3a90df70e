package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"

	vegeta "github.com/tsenart/vegeta/v12/lib"
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

// A service with a rate limit: its 429s are expected, so it is not excluded, and every output says
// which share it rejected. An expected 404 does not end the setup.
func TestRun_Rejected(t *testing.T) {
	var served, afterSetup atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/limited":
			if served.Add(1)%5 != 0 {
				w.WriteHeader(http.StatusTooManyRequests)
			}
		case "/old":
			w.WriteHeader(http.StatusNotFound)
		case "/new":
			afterSetup.Add(1)
		}
	}))
	t.Cleanup(s.Close)
	out, profile := outOf(t), fileOf(t, "limited.yaml", `setup: [{delete: /old, expect: {status: [200, 404]}}, {get: /new}]
requests: [{name: limited, get: /limited, expect: {status: [200, 429]}}]
rounds: 1
timeout: 1m
steps: [{connections: 2, max_requests: 2000}]
`)
	says(t, 0, "200: 400, 429: 1,600; rejected 80% of requests (429)…warning: rejected 80% of requests (429): they are expected",
		into(out, "--profile", profile, "--target", "limited="+s.URL)...)
	_, trials := readResults(t, out)
	l := trials[0].Steps[0].Load // without the requests sent before it
	if l.Succeeded != 400 || l.Statuses[200] != 400 || l.Rejected[429] != 1600 || l.FailedTotal() != 0 ||
		served.Load() < 2000 || afterSetup.Load() != 1 {
		t.Errorf("%d succeeded, statuses %s, rejected %s, failed %v; the server got %d", l.Succeeded, l.Statuses,
			l.Rejected, l.Failed, served.Load())
	}
	has(t, "report", output(t, out, results.ReportFile), "Responses by status")
	has(t, "summary", output(t, out, results.SummaryFile), "rejected 80% of requests (429)")
	var rows []struct {
		Rejected int64
		Statuses string
	}
	_, text, _ := shell(nil).runs(t, "export", out, "--format", "json")
	if json.Unmarshal([]byte(text), &rows) != nil || len(rows) != 1 || rows[0].Rejected != 1600 ||
		rows[0].Statuses != "200: 400, 429: 1600" {
		t.Errorf("export: %+v\n%s", rows, text)
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
			left, err := os.ReadDir(dir)
			testenv.OK(t, err)
			testenv.Equal(t, len(left), 0, left)
		})
	}
}

// A run keeps the requests of the steps that ask for it. They are in its results, also after it was
// resumed, and are exported for vegeta. A run without any says how to keep some.
func TestKeptRequestsAreExported(t *testing.T) {
	s, requests := recorder(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) })
	mine := fileOf(t, "mine.yaml", `requests: [{path: /x}]
timeout: 1m
rounds: 2
interleave: off
thresholds: ["throughput>900000000 stop=run"]
first_requests: {requests: 2}
steps: [{connections: 1, warm_up: true, max_requests: 5}, {connections: 2, max_requests: 40, keep_requests: 15}]
`)
	dir := t.TempDir()
	out, to, before := filepath.Join(dir, "out"), filepath.Join(dir, "requests"), time.Now()
	says(t, console.ExitThreshold, "", into(out, "--profile", mine, "--target", s.URL)...)
	after := time.Now()
	_, first := readResults(t, out)
	l := first[0].Steps[1].Load
	if len(l.Kept) != 15 || l.KeptOf != 40 || l.Kept[3].Status != 200 || l.Kept[3].Bytes != 5 || requests.of("/x") < 45 {
		t.Fatalf("%d kept of %d: %+v", len(l.Kept), l.KeptOf, l.Kept)
	}
	says(t, console.ExitThreshold, "", "run", "--headless", "--resume", out)
	_, again := readResults(t, out)
	testenv.Equal(t, again[0].Steps[1].Load.Kept, l.Kept)
	testenv.Equal(t, again[0].FirstRequests, first[0].FirstRequests)

	name := first[0].Trial.String()
	says(t, 0, to+"…"+to, "export", out, "--format", "vegeta", "-o", to)
	for suffix, want := range map[string]int{".02-2-connections.vegeta.bin": 15, ".00-first-requests.vegeta.bin": 5} {
		decode, n := vegeta.NewDecoder(strings.NewReader(output(t, to, name+suffix))), 0
		for r := (vegeta.Result{}); decode(&r) == nil; n++ {
			// Times in files advance as the monotonic clock.
			testenv.Check(t, r.Code == 200 && r.BytesIn == 5 && r.Latency > 0 && !r.Timestamp.Before(before) && !r.Timestamp.After(after), "%s: %+v", suffix, r)
		}
		testenv.Equal(t, n, want, suffix)
	}
}
