package cli

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
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
