//go:build acceptance && engine && unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// TestRun_Metrics reads the metrics of a run in the middle of a step, as Prometheus does.
func TestRun_Metrics(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }))
	defer service.Close()
	run := startLocbench(t, t.TempDir(), "run", "--headless", "--target", service.URL, "--no-checks", "--connections", "1,2",
		"--duration", "4s", "-o", "out", "--threshold", "throughput>900000000", "--metrics-listen", "127.0.0.1:0")
	var address string
	testenv.Until(t, time.Minute, "the address of the metrics", func() bool {
		_, rest, found := strings.Cut(run.stderr.String(), "metrics  ")
		line, _, whole := strings.Cut(rest, "\n")
		address = strings.TrimSpace(line)
		return found && whole
	})
	testenv.Until(t, time.Minute, "throughput of the first step and what it missed", func() bool {
		resp, err := http.Get(address)
		if err != nil {
			t.Fatalf("ask for metrics at %q: %v\n%s", address, err, run.stderr.String())
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return strings.Contains(string(body), `locbench_throughput{contender="target",round="1",step="1"`) &&
			strings.Contains(string(body), `locbench_thresholds_missed_total{contender="target"} 1`)
	})
	if code := run.wait(time.Minute); code != 4 {
		t.Errorf("exit code %d, want 4: %s", code, run.stderr.String())
	}
	if _, err := http.Get(address); err == nil {
		t.Error("the metrics are served after the run")
	}
}
