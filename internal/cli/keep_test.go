package cli

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/results"
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
	out := filepath.Join(dir, "out")
	before := time.Now()
	if code, text := locbench(t, nil, "run", "--headless", "--profile", mine, "--target", s.URL, "-o", out); code != console.ExitThreshold || requests.of("/x") < 45 {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	after := time.Now()
	_, first, err := results.Read(out)
	testenv.OK(t, err)
	l := first[0].Steps[1].Load
	if len(l.Kept) != 15 || l.KeptOf != 40 || l.Kept[3].Status != 200 || l.Kept[3].Bytes != 5 {
		t.Fatalf("%d kept of %d: %+v", len(l.Kept), l.KeptOf, l.Kept)
	}
	if code, text := locbench(t, nil, "run", "--headless", "--resume", out); code != console.ExitThreshold {
		t.Fatalf("resumed: exit code %d\n%s", code, text)
	}
	_, again, err := results.Read(out)
	if err != nil || !reflect.DeepEqual(again[0].Steps[1].Load.Kept, l.Kept) || !reflect.DeepEqual(again[0].FirstRequests, first[0].FirstRequests) {
		t.Errorf("the resumed run has others: %v", err)
	}

	to := filepath.Join(dir, "requests")
	code, text := locbench(t, nil, "export", out, "--format", "vegeta-json", "--trial", first[0].Trial.String(), "-o", to)
	if code != console.ExitOK || strings.Count(text, to) != 2 {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	for suffix, want := range map[string]int{".02-2-connections.vegeta.json": 15, ".00-first-requests.vegeta.json": 5} {
		data, err := os.ReadFile(filepath.Join(to, first[0].Trial.String()+suffix))
		testenv.OK(t, err)
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
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
		if len(lines) != want {
			t.Errorf("%s: %d results, want %d", suffix, len(lines), want)
		}
	}
	code, text = locbench(t, nil, "export", out, "--format", "vegeta", "--step", "1", "-o", filepath.Join(dir, "none"))
	if code != console.ExitFailure || !strings.Contains(text, "no single requests were kept: add `keep_requests: 1000`") {
		t.Errorf("nothing to export: exit code %d\n%s", code, text)
	}
}
