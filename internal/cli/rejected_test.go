package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// A service with a rate limit: its 429s are expected, so it is not excluded, and every output says
// which share it rejected. An expected 404 does not end the setup.
func TestRejectedRequestsAreReported(t *testing.T) {
	var served, ok, rejected, afterSetup atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/limited":
			if served.Add(1)%5 == 0 {
				ok.Add(1)
				return
			}
			rejected.Add(1)
			w.WriteHeader(http.StatusTooManyRequests)
		case "/old":
			w.WriteHeader(http.StatusNotFound)
		case "/new":
			afterSetup.Add(1)
		}
	}))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	profile, out := filepath.Join(dir, "limited.yaml"), filepath.Join(dir, "out")
	text := `setup: [{delete: /old, expect: {status: [200, 404]}}, {get: /new}]
requests: [{name: limited, get: /limited, expect: {status: [200, 429]}}]
rounds: 1
timeout: 1m
steps: [{connections: 2, max_requests: 2000}]
`
	testenv.OK(t, os.WriteFile(profile, []byte(text), 0o600))
	var stdout, stderr bytes.Buffer
	run := func(args ...string) (int, string) {
		stdout.Reset()
		stderr.Reset()
		code := Main(t.Context(), Env{Args: args, Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }})
		return code, unwrapped(stdout.String() + stderr.String())
	}
	code, said := run("run", "--headless", "--profile", profile, "--target", "limited="+s.URL, "-o", out)
	if code != console.ExitOK || afterSetup.Load() != 1 {
		t.Fatalf("exit code %d, %d requests after the setup's 404\n%s", code, afterSetup.Load(), said)
	}
	for _, want := range []string{"200: 400, 429: 1,600; rejected 80% of requests (429)", "warning: rejected 80% of requests (429): they are expected"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	_, trials, err := results.Read(out)
	testenv.OK(t, err)
	l := trials[0].Steps[0].Load
	// The load itself: the requests sent before it are not in its results.
	if l.Succeeded != 400 || l.Statuses[200] != 400 || l.Rejected[429] != 1600 || l.FailedTotal() != 0 || ok.Load()+rejected.Load() < 2000 {
		t.Errorf("%d succeeded, statuses %s, rejected %s, failed %v; the server sent %d and %d", l.Succeeded, l.Statuses, l.Rejected, l.Failed, ok.Load(), rejected.Load())
	}
	for name, want := range map[string]string{"report.html": "Responses by status", "summary.md": "rejected 80% of requests (429)"} {
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || !bytes.Contains(data, []byte(want)) {
			t.Errorf("%s: no %q, %v", name, want, err)
		}
	}
	var rows []struct {
		Rejected int64  `json:"rejected"`
		Statuses string `json:"statuses"`
	}
	if _, said = run("export", out, "--format", "json"); json.Unmarshal(stdout.Bytes(), &rows) != nil || len(rows) != 1 || rows[0].Rejected != 1600 || rows[0].Statuses != "200: 400, 429: 1,600" {
		t.Errorf("export: %+v\n%s", rows, said)
	}
}
