package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// runAgainst runs 'locbench run' against a server that responds with status from its second request
// on, in two steps of 40 requests each. It fails unless the results have each response except the
// first, which is sent before the load.
func runAgainst(t *testing.T, status, code int, says string, args ...string) (dir string) {
	t.Helper()
	var answered atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/thing" && answered.Add(1) > 1 {
			w.WriteHeader(status)
		}
	}))
	defer server.Close()
	dir = outOf(t)
	shell(nil).says(t, code, says, bounded(t, dir, server.URL, args...)...)
	if !results.Has(dir, results.RunFile) {
		return dir
	}
	_, trials := readResults(t, dir)
	var recorded int64
	for _, s := range trials[0].Steps {
		recorded += s.Load.AllSucceeded() + s.Load.FailedTotal()
	}
	if recorded != answered.Load()-1 || recorded != int64(40*len(trials[0].Steps)) {
		t.Errorf("%d requests recorded in %d steps, %d responses", recorded, len(trials[0].Steps), answered.Load())
	}
	return dir
}

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

func TestRun_Thresholds(t *testing.T) {
	for _, c := range []struct {
		name      string
		status    int
		threshold string
		code      int
		says      string
	}{
		{"passed", 200, "errors<100%,throughput>0.001", 0, "thresholds: 0 of 4 missed"},
		{"missed from a step on", 200, "throughput>900000000 from_step=2", 4, "thresholds: 1 of 1 missed"},
		{"stopped early", 200, "throughput>900000000 stop=true", 4, "stopped the trial"},
		{"a slip", 200, "p98<1ms", 2, `no measure "p98"`},
		{"an option that is unknown", 200, "p99<1ms window=5s", 2, "window=5s"},
		// Two steps without a success: the contender has failed, which is worse.
		{"and failed", 500, "errors<1%", 3, "threshold missed: errors is 100%"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := runAgainst(t, c.status, c.code, c.says, "--threshold", c.threshold)
			if c.name != "stopped early" {
				return
			}
			_, trials := readResults(t, dir)
			if trial := trials[0]; trial.State != bench.TrialAborted || len(trial.Steps) != 1 ||
				trial.Steps[0].Thresholds[0].Stopped != bench.ScopeTrial {
				t.Errorf("%s: %+v", trial.State, trial.Steps)
			}
		})
	}
}

// TestHistory also looks at the address of metrics, of the same run.
func TestHistory(t *testing.T) {
	dir := runAgainst(t, 200, 0, "metrics  http://127.0.0.1:", "--metrics-listen", "0")
	says(t, 2, "use HOST:PORT", bounded(t, outOf(t), "http://127.0.0.1:1", "--metrics-listen", "1:2:3")...)
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
	for _, c := range []struct {
		name, flag, variable string
		chosen, ran          bench.Engine
		wrong                string
	}{
		{name: "neither", ran: fast},
		{name: "fast", flag: "fast", chosen: "fast", ran: "fast"},
		{name: "vegeta", flag: "vegeta", chosen: "vegeta", ran: "vegeta"},
		{name: "epoll by the environment", variable: "epoll", chosen: "epoll", ran: "fast"},
		{name: "the flag comes first", flag: "auto", variable: "vegeta", ran: fast},
		{name: "a wrong flag", flag: "vegetta", wrong: "--engine vegetta: did you mean `vegeta`?"},
		{name: "epoll by the flag", flag: "epoll", wrong: "--engine epoll: one of: auto, fast, vegeta"},
		{name: "both", flag: "both", wrong: "--engine both: one of: auto, fast, vegeta"},
		{name: "a wrong variable", variable: "portable", wrong: "LOCBENCH_ENGINE=portable: one of: auto, fast, vegeta, epoll"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && (c.chosen == "fast" || c.chosen == "epoll") {
				t.Skip("engine fast needs Linux")
			}
			env, dir := shell{"LOCBENCH_ENGINE": c.variable}, outOf(t)
			args := bounded(t, dir, server.URL)
			if c.flag != "" {
				args = append(args, "--engine", c.flag)
			}
			if c.wrong != "" {
				env.says(t, console.ExitUsage, c.wrong, args...)
				return
			}
			text := env.says(t, 0, "  engine   "+string(c.ran)+"\n", args...)
			run, trials := readResults(t, dir)
			if ran := bench.EnginesOf(trials...); run.Engine != c.chosen || len(ran) != 1 || ran[0] != c.ran {
				t.Errorf("%q on record, %q ran", run.Engine, ran)
			}
			if said := strings.Count(text, "\n  engine   "+string(c.ran)+"\n"); said != 1 {
				t.Errorf("the engine is named %d times:\n%s", said, text)
			}
		})
	}
}

// Engine fast is refused before anything starts where it does not apply, with the reason.
func TestEngine_FastRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	for args, want := range map[string]string{
		"run --target https://127.0.0.1:1 --engine fast": "load engine fast does not apply to this run: it has no TLS; " +
			"use vegeta, or auto",
		"run --target http://127.0.0.1:1 --http2 --engine fast":            "it has no HTTP/2",
		"capacity --target https://127.0.0.1:1 --slo p99<1s --engine fast": "it has no TLS",
		"calibrate --target https://127.0.0.1:1 --engine fast --no-checks": "it has no TLS",
		"calibrate --target http://127.0.0.1:1 --engine both":              "--engine both: one of: auto, fast, vegeta",
	} {
		says(t, console.ExitUsage, want, strings.Fields(args)...)
	}
	if left, _ := filepath.Glob("results/*"); len(left) > 0 {
		t.Errorf("left %q", left)
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
	l := trials[0].Steps[0].Load
	// The load itself: the requests sent before it are not in its results.
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

// refusing is an address of this machine that refuses connections.
const refusing = "http://127.0.0.1:1"

// runsNothing runs locbench in its own folder and fails unless it ends with code and leaves no
// files.
func runsNothing(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	got, stdout, stderr := shell(nil).runs(t, append(args, "-o", filepath.Join(dir, "results", "x"))...)
	testenv.Equal(t, got, code, args)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	has(t, "standard error", stderr, "nothing ran; no results saved")
	return stdout, stderr
}

// locbench gives up a store or target that never responds, and saves nothing of the run or the
// search. The target is a contender with a short timeout in its manifest.
func TestNothingRan(t *testing.T) {
	services := folderOf(t, map[string]string{"mine/service.yaml": `{name: mine, title: Mine, language: Go, framework: none, version: "1",
  endpoints: all, port: 8080, ready: {timeout: 100ms}, process: {command: [mine]}}`})
	target := []string{"mine", "--no-checks", "--services", services, "--target", refusing}
	for name, c := range map[string]struct {
		args   []string
		code   int
		reason string
		most   int // how often the reason may be there
	}{
		"store": {[]string{"run", "--headless", "--runtime", "process", "--elastic", refusing}, console.ExitFailure,
			"connection refused", 1},
		"run": {append([]string{"run", "--headless"}, target...), console.ExitContender, "not ready after 100ms", 1},
		"capacity": {append([]string{"capacity", "--slo", "p99<1s"}, target...), console.ExitContender,
			"not ready after 100ms", 3},
	} {
		t.Run(name, func(t *testing.T) {
			out, stderr := runsNothing(t, c.code, c.args...)
			if n := strings.Count(stderr, c.reason); out != "" || n < 1 || n > c.most {
				t.Errorf("standard output %q; the reason is there %d times:\n%s", out, n, stderr)
			}
		})
	}
}
