package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/locbench/locbench/internal/results"
)

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
		t.Errorf("%d succeeded, statuses %s, rejected %s, failed %v; the server got %d", l.Succeeded, l.Statuses, l.Rejected, l.Failed, served.Load())
	}
	has(t, "report", output(t, out, results.ReportFile), "Responses by status")
	has(t, "summary", output(t, out, results.SummaryFile), "rejected 80% of requests (429)")
	var rows []struct {
		Rejected int64
		Statuses string
	}
	_, text, _ := shell(nil).runs(t, "export", out, "--format", "json")
	if json.Unmarshal([]byte(text), &rows) != nil || len(rows) != 1 || rows[0].Rejected != 1600 || rows[0].Statuses != "200: 400, 429: 1,600" {
		t.Errorf("export: %+v\n%s", rows, text)
	}
}
