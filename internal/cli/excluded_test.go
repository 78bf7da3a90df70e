package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
rounds: 6
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
		"bodies":  "failed 6 of 12 checks",
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

// mixer responds with the id of the request. If it mixes up, one of 50 bodies is that of another
// request while three or more are in flight. It counts these bodies.
type mixer struct {
	mixesUp              bool
	crowd                *testenv.Crowd
	crowded, sent, mixed atomic.Int64
}

func (m *mixer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := path.Base(r.URL.Path)
	m.sent.Add(1)
	if m.crowd.Enter() && m.mixesUp && m.crowded.Add(1)%50 == 0 {
		m.mixed.Add(1)
		id = "100000"
	}
	fmt.Fprintf(w, `{"id": %s, "name": "guest"}`, id)
}

// A service that is wrong under concurrency only is excluded, in a run that compares what profiles
// compare by default. All 300 responses of the second step are compared, so the numbers are those
// of the server; of the third step it is a sample, whose share is within four standard errors.
func TestExcluded_WrongUnderConcurrencyOnly(t *testing.T) {
	profile := fileOf(t, "bookings.yaml", `variables: {id: {from: 1, to: 9000}}
requests: [{name: booking, get: "/bookings/{id}", expect: {present: [name], json_includes: {id: "{id:number}"}}}]
rounds: 1
timeout: 1m
steps: [{connections: 1, max_requests: 60}, {connections: 16, max_requests: 300}, {connections: 16, max_requests: 3000}]
`)
	run := func(code int, mixesUp bool) (*mixer, string, string) {
		service := &mixer{mixesUp: mixesUp, crowd: testenv.NewCrowd(2 * time.Millisecond)}
		s := httptest.NewServer(service)
		defer s.Close()
		out := outOf(t)
		return service, says(t, code, "", into(out, "--profile", profile, "--target", "bookings="+s.URL)...), out
	}
	_, text, out := run(0, false)
	right, trials := readResults(t, out)
	if all := trials[0].Steps; len(right.Excluded()) > 0 || all[1].Load.Checked != 300 || all[2].Load.Checked < 300 {
		t.Errorf("excluded %v, %d and %d bodies compared", right.Excluded(), all[1].Load.Checked, all[2].Load.Checked)
	}
	lacks(t, "the text", unwrapped(text), "unexpected")

	service, text, out := run(console.ExitContender, true)
	wrong, trials := readResults(t, out)
	testenv.Need(t, len(wrong.Excluded()) == 1, "excluded %v\n%s", wrong.Excluded(), text)
	all, u := trials[0].Steps, wrong.Excluded()[0].Unexpected
	first, sample := all[1].Load, all[2].Load
	if n := first.Failed[bench.ErrWrong]; n < 3 || n > 6 || first.Checked != 300 || u.Connections != 16 ||
		u.Round != 1 ||
		u.Step != all[1].Step.Name || u.Count != n+sample.Failed[bench.ErrWrong] ||
		u.Compared != all[0].Load.Checked+300+sample.Checked {
		t.Errorf("%+v; second step: %d of %d", u, n, first.Checked)
	}
	truth := float64(service.mixed.Load()-first.Failed[bench.ErrWrong]) / 3000
	found := float64(sample.Failed[bench.ErrWrong]) / float64(sample.Checked)
	error := math.Sqrt(truth * (1 - truth) / float64(sample.Checked))
	testenv.Check(t, sample.Checked >= 295 && truth >= .01 && math.Abs(found-truth) <= 4*error,
		"%.2f%% of %d, the server's share is %.2f%%", 100*found, sample.Checked, 100*truth)
	share := fmt.Sprintf("%d of %d compared bodies were unexpected (…16 connections…100000", u.Count, u.Compared)
	for name, c := range map[string]struct{ text, want string }{
		"text":      {text, share},
		"report":    {output(t, out, results.ReportFile), share},
		"summary":   {output(t, out, results.SummaryFile), share},
		"dashboard": {unwrapped(shown(t, out)), "bookings gave unexpected responses: "},
	} {
		has(t, name, c.text, c.want)
		lacks(t, name, unwrapped(c.text), "bound by the", "at peak: ", "peaked at", "&lt;0.1%", "< 0.1%")
	}
}
