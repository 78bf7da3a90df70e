package cli

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

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
	says(t, 0, to+"…"+to, "export", out, "--format", "vegeta-json", "--trial", name, "-o", to)
	for suffix, want := range map[string]int{".02-2-connections.vegeta.json": 15, ".00-first-requests.vegeta.json": 5} {
		lines := strings.Split(strings.TrimSpace(output(t, to, name+suffix)), "\n")
		testenv.Equal(t, len(lines), want, suffix)
		for _, line := range lines {
			var r struct {
				Code      int
				Timestamp time.Time
				Latency   time.Duration
				BytesIn   int `json:"bytes_in"`
			}
			testenv.OK(t, json.Unmarshal([]byte(line), &r))
			// Times in files advance as the monotonic clock.
			if r.Code != 200 || r.BytesIn != 5 || r.Latency <= 0 || r.Timestamp.Before(before) || r.Timestamp.After(after) {
				t.Errorf("%s: %s", suffix, line)
			}
		}
	}
	says(t, console.ExitFailure, "no single requests were kept: add `keep_requests: 1000`",
		"export", out, "--format", "vegeta", "--step", "1", "-o", filepath.Join(dir, "none"))
}
