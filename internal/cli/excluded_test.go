package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/summary"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/board"
	"github.com/locbench/locbench/internal/show/tui/fold"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// orders returns the URL of a service. wrong may respond instead; it gets the number of the
// request, from 1 on, and its path.
func orders(t *testing.T, wrong func(n int64, path string, w http.ResponseWriter) (answered bool)) string {
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wrong != nil && r.URL.Path != "/" && wrong(n.Add(1), r.URL.Path, w) {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id": 7}`)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A contender with unexpected responses is excluded in every output; the run ends with exit code 3,
// and the reason comes first.
func TestUnexpectedResponsesExclude(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		testenv.OK(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	suite := write("suite.yaml", `suite: mine
groups:
  items:
    - {name: an item, request: GET /items/8, expect: {json: {id: 7}}}
  health:
    - {name: healthy, request: GET /health, expect: {status: 200}}
`)
	profile := write("orders.yaml", fmt.Sprintf(`requests: [{name: item, path: /items/7}, {name: search, path: "/items?q=x"}, {name: order, method: POST, path: /orders, body: "{}"}]
checks: {suites: [%s]}
rounds: 6
timeout: 1m
steps: [{connections: 1, max_requests: 60}, {connections: 2, max_requests: 60}]
`, suite))
	for _, c := range []struct {
		name  string
		wrong func(n int64, path string, w http.ResponseWriter) bool
		why   string // in the reason
	}{
		{"bodies", func(_ int64, _ string, w http.ResponseWriter) bool { return true }, "failed 6 of 12 checks"},
		{"statuses", func(_ int64, _ string, w http.ResponseWriter) bool { w.WriteHeader(500); return true }, "status 200, got 500"},
		{"one check", func(_ int64, path string, w http.ResponseWriter) bool {
			if path != "/health" {
				return false
			}
			w.WriteHeader(404)
			return true
		}, "status 200, got 404"},
		{"one kind of three", func(n int64, path string, w http.ResponseWriter) bool {
			if path != "/orders" || n < 20 {
				return false
			}
			w.WriteHeader(400)
			return true
		}, "of its requests in every step; first: 400 Bad Request"},
		{"two percent", func(n int64, path string, w http.ResponseWriter) bool {
			if n%50 != 0 || path == "/health" || path == "/items/8" { // the checks are answered
				return false
			}
			w.WriteHeader(503)
			return true
		}, "of its requests in every step; first: 503 Service Unavailable"},
		{"death", func(n int64, _ string, w http.ResponseWriter) bool {
			if n < 20 {
				return false
			}
			panic(http.ErrAbortHandler)
		}, "fail"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			var text, stderr bytes.Buffer
			run := func(args ...string) (int, string) {
				text.Reset()
				stderr.Reset()
				code := Main(t.Context(), Env{Args: args, Stdout: &text, Stderr: &stderr, Getenv: func(string) string { return "" }})
				return code, text.String() + stderr.String()
			}
			code, _ := run("run", "--headless", "--profile", profile, "--target", "good="+orders(t, nil), "--target", "liar="+orders(t, c.wrong), "-o", out)
			table := text.String()
			if code != console.ExitContender {
				t.Fatalf("exit code %d\n%s%s", code, table, stderr.String())
			}
			first := strings.Join(strings.SplitAfterN(table, "\n", 11)[:10], "")
			if !strings.Contains(unwrapped(first), "EXCLUDED: liar ") || !strings.Contains(unwrapped(first), c.why) {
				t.Errorf("the first ten lines:\n%s", first)
			}
			noVerdict(t, "text", table)
			record, trials, err := results.Read(out)
			testenv.OK(t, err)
			analyzed := analysis.Of(record, trials)
			if last := analyzed.Ordered()[1]; last.Label != "liar" {
				t.Errorf("%s is last", last.Label)
			}
			for _, s := range summary.New(analyzed, summary.Rules{}).Standings {
				for _, p := range s.Places {
					if p.Contender == "liar" && (p.Tier != 0 || p.Out == "") {
						t.Errorf("%s: tier %d, %q", s.Measure, p.Tier, p.Out)
					}
				}
			}
			for _, name := range []string{"report.html", "summary.md"} {
				data, err := os.ReadFile(filepath.Join(out, name))
				testenv.OK(t, err)
				page := string(data)
				noVerdict(t, name, page)
				if at := strings.Index(page, "liar is excluded"); at < 0 || at > strings.Index(page, "## Results") && name == "summary.md" {
					t.Errorf("%s: the reason is at %d", name, at)
				}
			}
			for _, at := range [][]string{{"compare", out}, {"history", filepath.Dir(out)}} {
				if _, listed := run(at...); !strings.Contains(unwrapped(listed), "excluded: ") && c.name != "death" && c.name != "statuses" {
					t.Errorf("%s does not say why:\n%s", at[0], listed)
				}
			}
			if code, gated := run("compare", out, "good", "liar", "--fail-on", "throughput<-5%"); c.name != "death" && c.name != "statuses" &&
				(code != console.ExitFailure || !strings.Contains(gated, "--fail-on not checked: ") || strings.Contains(gated, "--force")) {
				t.Errorf("compare --fail-on: exit code %d\n%s", code, gated)
			}
			_, compared := run("compare", out+":good", out+":liar", "--format", "json")
			if regexp.MustCompile(`"verdict": "(better|worse|same)"`).MatchString(compared) {
				t.Errorf("compare has a verdict: %s", compared)
			}
			if _, listed := run("history", filepath.Dir(out)); strings.Contains(listed, "liar is") {
				t.Errorf("history has a verdict: %s", listed)
			}
			screen := shown(t, out)
			noVerdict(t, "dashboard", screen)
			if !strings.Contains(screen, "liar excluded: ") {
				t.Errorf("the dashboard:\n%s", screen)
			}
		})
	}
}

// With --accept-failed-checks failed checks exclude nothing, and every output with a verdict says
// so.
func TestAcceptedFailedChecks(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	suite := fileOf(t, "suite.yaml", "suite: mine\ngroups: {all: [{name: healthy, request: GET /health, expect: {status: 418}}]}\n")
	mine := fileOf(t, "mine.yaml", "requests: [{path: /items/7}]\nchecks: {suites: ["+suite+"]}\n"+twenty)
	code, text := locbench(t, nil, "run", "--headless", "--accept-failed-checks", "--allow-files", filepath.Dir(suite), "--profile", mine, "--target", "a="+orders(t, nil), "--target", "b="+orders(t, nil), "-o", out)
	const note = "Failed checks were accepted (--accept-failed-checks)"
	if code != console.ExitOK || !strings.Contains(text, note) || strings.Contains(text, "EXCLUDED") {
		t.Errorf("exit code %d\n%s", code, text)
	}
	if page, err := os.ReadFile(filepath.Join(out, "summary.md")); err != nil || !strings.Contains(string(page), note) {
		t.Errorf("summary.md does not say so: %v", err)
	}
	if code, text := locbench(t, nil, "compare", out); code != console.ExitOK || !strings.Contains(text, "old: failed checks were accepted") || strings.Contains(text, "not comparable") {
		t.Errorf("compare: exit code %d\n%s", code, text)
	}
}

// unwrapped joins the lines of a wrapped text.
func unwrapped(s string) string { return strings.Join(strings.Fields(s), " ") }

// noVerdict fails if a text ranks the liar.
func noVerdict(t *testing.T, where, text string) {
	t.Helper()
	for _, verdict := range []string{`liar has the `, `liar needs the`, `liar reached `, `\d +liar +leads`, `liar +(leads|leader|behind)`, `peaks: .*liar`} {
		if m := regexp.MustCompile(verdict).FindString(text); m != "" {
			t.Errorf("%s has a verdict: %q", where, m)
		}
	}
}

// shown returns the first screen of the dashboard at the end of the run, on a terminal of 80×24.
func shown(t *testing.T, dir string) string {
	t.Helper()
	var s fold.State
	log, err := os.ReadFile(filepath.Join(dir, results.EventsFile))
	testenv.OK(t, err)
	for line := range bytes.Lines(log) {
		var rec bench.Record
		testenv.OK(t, json.Unmarshal(line, &rec))
		s.Apply(rec)
	}
	lines := board.New().View(ui.Frame{Width: 80, Height: 24, Look: ui.NewLook(ui.LookOptions{NoColor: true}), Now: time.Now()}, &s, "")
	return strings.Join(lines, "\n")
}
