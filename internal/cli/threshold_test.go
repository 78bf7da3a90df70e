package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
)

// runAgainst runs 'locbench run' against a server that responds with status from its second request
// on, in two steps of 40 requests each. It fails unless the results have each response except the
// first, which is sent before the load.
func runAgainst(t *testing.T, status int, args ...string) (code int, stderr, dir string) {
	t.Helper()
	var answered atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/thing" && answered.Add(1) > 1 {
			w.WriteHeader(status)
		}
	}))
	defer server.Close()
	dir = filepath.Join(t.TempDir(), "out")
	code, stderr = runBounded(t, server.URL, func(string) string { return "" }, append(args, "-o", dir)...)
	if !results.Has(dir, results.RunFile) {
		return code, stderr, dir
	}
	_, trials, err := results.Read(dir)
	testenv.OK(t, err)
	var recorded int64
	for _, s := range trials[0].Steps {
		recorded += s.Load.AllSucceeded() + s.Load.FailedTotal()
	}
	if recorded != answered.Load()-1 || recorded != int64(40*len(trials[0].Steps)) {
		t.Errorf("%d requests recorded in %d steps, %d responses", recorded, len(trials[0].Steps), answered.Load())
	}
	return code, stderr, dir
}

// runBounded runs 'locbench run' against the service at url, in two steps of 40 requests each, and
// returns the exit code and the output.
func runBounded(t *testing.T, url string, getenv func(string) string, args ...string) (code int, stderr string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bounded.yaml")
	if err := os.WriteFile(file, []byte(`contenders: [go-nethttp]
requests: [{path: /thing}]
step_duration: 5m
timeout: 1m
steps: [{connections: 1, max_requests: 40}, {connections: 2, max_requests: 40}]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	all := append([]string{"run", "--headless", "--target", url, "--profile", file, "--no-checks"}, args...)
	code = Main(t.Context(), Env{Args: all, Stdout: &out, Stderr: &errs, Getenv: getenv})
	return code, out.String() + errs.String()
}

func TestThresholdsDecideTheExitCode(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		args   []string
		code   int
		says   string
	}{
		{"passed", 200, []string{"--threshold", "errors<100%,throughput>0.001"}, 0, "thresholds: 0 of 4 missed"},
		{"missed", 200, []string{"--threshold", "throughput>900000000"}, 4, "thresholds: 2 of 2 missed"},
		{"missed from a step on", 200, []string{"--threshold", "throughput>900000000 from_step=2"}, 4, "thresholds: 1 of 1 missed"},
		{"stopped early", 200, []string{"--threshold", "throughput>900000000 stop=true"}, 4, "stopped the trial"},
		{"a slip", 200, []string{"--threshold", "p98<1ms"}, 2, `no measure "p98"`},
		{"an option that is unknown", 200, []string{"--threshold", "p99<1ms window=5s"}, 2, "window=5s"},
		// Two steps without a success: the contender has failed, which is worse.
		{"and failed", 500, []string{"--threshold", "errors<1%"}, 3, "threshold missed: errors is 100%"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stderr, dir := runAgainst(t, c.status, c.args...)
			if code != c.code || !strings.Contains(stderr, c.says) {
				t.Fatalf("exit code %d, want %d and %q:\n%s", code, c.code, c.says, stderr)
			}
			if c.name != "stopped early" {
				return
			}
			_, trials, err := results.Read(dir)
			testenv.OK(t, err)
			if trial := trials[0]; trial.State != bench.TrialAborted || len(trial.Steps) != 1 || trial.Steps[0].Thresholds[0].Stopped != bench.ScopeTrial {
				t.Errorf("%s: %+v", trial.State, trial.Steps)
			}
		})
	}
}

func TestHistoryOfRuns(t *testing.T) {
	_, _, dir := runAgainst(t, 200)
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
		var out, errs bytes.Buffer
		code := Main(t.Context(), Env{Args: append([]string{"history"}, c.args...), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }})
		if code != c.code || !strings.Contains(out.String()+errs.String(), c.says) {
			t.Errorf("history %v: exit code %d, want %d and %q:\n%s%s", c.args[1:], code, c.code, c.says, out.String(), errs.String())
		}
	}
}

func TestRunPrintsTheAddressOfItsMetrics(t *testing.T) {
	code, stderr, _ := runAgainst(t, http.StatusOK, "--metrics-listen", "0")
	if code != 0 || !strings.Contains(stderr, "metrics  http://127.0.0.1:") {
		t.Errorf("exit code %d:\n%s", code, stderr)
	}
	code, stderr, _ = runAgainst(t, http.StatusOK, "--metrics-listen", "1:2:3")
	if code != 2 || !strings.Contains(stderr, "use HOST:PORT") {
		t.Errorf("exit code %d:\n%s", code, stderr)
	}
}
