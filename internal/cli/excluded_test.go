package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/pages"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
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

// Contenders with unexpected responses are excluded in every output; the run ends with exit code 3,
// and the reasons come first.
func TestExcluded(t *testing.T) {
	suite := fileOf(t, "suite.yaml", `suite: mine
groups:
  items:
    - {name: an item, request: GET /items/8, expect: {json: {id: 7}}}
  health:
    - {name: healthy, request: GET /health, expect: {status: 200}}
`)
	profile := fileOf(t, "orders.yaml", `requests:
  - {name: item, path: /items/7}
  - {name: search, path: "/items?q=x"}
  - {name: order, method: POST, path: /orders, body: "{}"}
checks: {suites: [`+suite+`]}
rounds: 2
timeout: 1m
steps: [{connections: 2, max_requests: 60}]
`)
	status := func(code int, when func(n int64, path string) bool) func(int64, string, http.ResponseWriter) bool {
		return func(n int64, path string, w http.ResponseWriter) bool {
			if when(n, path) {
				w.WriteHeader(code)
				return true
			}
			return false
		}
	}
	reasons := map[string]string{
		"bodies":  "failed 2 of 4 checks",
		"check":   "status 200, got 404",
		"kind":    "of its requests in every step; first: 400 Bad Request",
		"percent": "of its requests in every step; first: 503 Service Unavailable",
		"death":   "fail",
	}
	liars := map[string]func(n int64, path string, w http.ResponseWriter) (answered bool){
		"bodies": func(int64, string, http.ResponseWriter) bool { return true },
		"check":  status(404, func(_ int64, path string) bool { return path == "/health" }),
		"kind":   status(400, func(n int64, path string) bool { return path == "/orders" && n >= 20 }),
		"percent": status(503, func(n int64, path string) bool { // the checks are answered
			return n%50 == 0 && path != "/health" && path != "/items/8"
		}),
		"death": func(n int64, _ string, _ http.ResponseWriter) bool {
			if n >= 20 {
				panic(http.ErrAbortHandler)
			}
			return false
		},
	}
	out := outOf(t)
	args := into(out, "--profile", profile, "--allow-files", filepath.Dir(suite), "--target", "good="+orders(t, nil))
	for _, name := range slices.Sorted(maps.Keys(liars)) {
		args = append(args, "--target", name+"="+orders(t, liars[name]))
	}
	code, table, stderr := shell(nil).runs(t, args...)
	testenv.Need(t, code == console.ExitContender, "exit code %d\n%s%s", code, table, stderr)
	summary := output(t, out, results.SummaryFile)
	texts := map[string]string{"text": table, "dashboard": shown(t, out), "report": output(t, out, results.ReportFile), "summary": summary,
		"history": saying(t, "history", filepath.Dir(out)), "compare": saying(t, "compare", out, "good", "bodies")}
	summarized, _, _ := strings.Cut(summary, "## All results")
	for name, why := range reasons {
		has(t, "the text", unwrapped(table), name+" is excluded: it …"+why)
		has(t, "the begin of the summary", summarized, name+" is excluded")
		has(t, "the report", texts["report"], "✗ "+name)
		has(t, "compare", saying(t, "compare", out, "good", name, "--format", "json"), `"not_comparable": "new failed `)
		verdict := regexp.MustCompile(name + "( has the | needs the| reached | +leads| +(leads|leader|behind))")
		for where, text := range texts {
			testenv.Equal(t, verdict.FindString(text), "", where)
		}
	}
	has(t, "dashboard", texts["dashboard"], "Run good: the only one of 6 without a failure…good")
	has(t, "history", texts["history"], "excluded: ")
	has(t, "compare", texts["compare"], "excluded: ")
	gated := says(t, console.ExitFailure, "--fail-on not checked: ", "compare", out, "good", "bodies", "--fail-on", "throughput<-5%")
	lacks(t, "compare", gated, "--force")
	analyzed := analysis.Of(readResults(t, out))
	testenv.Equal(t, analyzed.Ordered()[0].Label, "good")
	for _, m := range measure.View(measure.Ranked) {
		s := analyzed.Standing(m.ID, stats.Rule{})
		for _, p := range s.Places {
			testenv.Check(t, p.Contender == "good" || p.Tier == 0 && p.Out != "",
				"%s of %s: tier %d, %q", s.Measure, p.Contender, p.Tier, p.Out)
		}
	}
}

// With --accept-failed-checks failed checks exclude nothing, and every output with a verdict says
// so.
func TestExcluded_FailedChecksAccepted(t *testing.T) {
	suite := fileOf(t, "suite.yaml", "suite: mine\ngroups: {all: [{name: healthy, request: GET /health, expect: {status: 418}}]}\n")
	mine := fileOf(t, "mine.yaml", "requests: [{path: /items/7}]\nchecks: {suites: ["+suite+"]}\n"+twenty)
	const note = "Failed checks were accepted (--accept-failed-checks)"
	out := outOf(t)
	lacks(t, "run", says(t, 0, note, into(out, "--accept-failed-checks", "--allow-files", filepath.Dir(suite), "--profile", mine,
		"--target", "a="+orders(t, nil), "--target", "b="+orders(t, nil), "--rounds", "1")...), "is excluded")
	has(t, results.SummaryFile, output(t, out, results.SummaryFile), note)
	lacks(t, "compare", says(t, 0, "old: failed checks were accepted", "compare", out), "not comparable")
}

// shown returns the first screen of the dashboard at the end of the run, on a terminal of 80×24.
func shown(t *testing.T, dir string) (frame string) {
	t.Helper()
	var records []bench.Record
	for line := range strings.Lines(output(t, dir, results.EventsFile)) {
		var rec bench.Record
		testenv.OK(t, json.Unmarshal([]byte(line), &rec))
		records = append(records, rec)
	}
	page := tuitest.Page{New: func(*testing.T) ui.Page { return pages.Pages{}.Live(tuitest.Finished(dir, records), false) }}
	page.Play(t, tuitest.Size{Width: 80, Height: 24}, tuitest.Look{}, func(p *tuitest.Program) { frame = p.Frame() })
	return frame
}
