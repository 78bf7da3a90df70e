package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/measure"
	"github.com/locbench/locbench/internal/figures/stats"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/show/tui/pages"
	"github.com/locbench/locbench/internal/show/tui/tuitest"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/profiles"
)

// read returns what given returns of the arguments of 'locbench run', and its flags.
func read(t *testing.T, args ...string) ([]string, *pflag.FlagSet) {
	t.Helper()
	var f runFlags
	cmd := &cobra.Command{Use: "run"}
	bindRun(cmd, &f)
	testenv.OK(t, cmd.ParseFlags(args))
	return given(cmd.Flags(), cmd.Flags().Args()), cmd.Flags()
}

// Each option of a run is in its record in a form that sets the same value, but those of the output.
func TestGiven_Options(t *testing.T) {
	texts := map[string][]string{
		"int": {"7"}, "uint64": {"7"}, "float64": {"1.5"}, "duration": {"7s"}, "bool": {"true"}, "string": {"a b"},
		"stringSlice": {"1,8", `"a,b"`}, "stringArray": {"a: b,c", "d=e"},
	}
	_, all := read(t)
	all.VisitAll(func(f *pflag.Flag) {
		t.Run(f.Name, func(t *testing.T) {
			var args []string
			for _, text := range texts[f.Value.Type()] {
				args = append(args, "--"+f.Name+"="+text)
			}
			testenv.Need(t, len(args) > 0, "a flag of type %s", f.Value.Type())
			record, flags := read(t, append(args, "a", "b:lto")...)
			if slices.Contains(ofOutput, f.Name) {
				testenv.Equal(t, strings.Join(record, " "), "locbench run a b:lto")
				return
			}
			again, back := read(t, record[2:]...)
			testenv.Equal(t, strings.Join(again, "|"), strings.Join(record, "|"))
			testenv.Equal(t, back.Lookup(f.Name).Value.String(), flags.Lookup(f.Name).Value.String())
			testenv.Check(t, back.Changed(f.Name), "%q lost it", record)
		})
	})
}

// The record repeats the run, and so does what is suggested next. No output that is passed on has
// the folders of the machine, or a password.
func TestGiven_Run(t *testing.T) {
	s, _ := recorder(t, func(http.ResponseWriter, *http.Request) {})
	here := t.TempDir()
	t.Chdir(here)
	dir := t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(here, "near.yaml"):  "requests: [{post: /x, file: a.json}]\nservices: svc\n" + twenty,
		filepath.Join(here, "a.json"):     "{}",
		filepath.Join(dir, "mine.yaml"):   "requests: [{path: /x}]\nservices: svc\n" + twenty,
		filepath.Join(dir, "targets.txt"): "GET http://h/x\n",
	} {
		testenv.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	for _, parent := range []string{here, dir} {
		folder := filepath.Join(parent, "svc", "mine")
		testenv.OK(t, os.MkdirAll(folder, 0o700))
		testenv.OK(t, os.WriteFile(filepath.Join(folder, "service.yaml"), []byte("language: Go\nframework: x\nversion: \"1\"\nprocess: {command: [x]}\n"), 0o600))
	}
	address := strings.Replace(s.URL, "://", "://me:hunter2hunter2@", 1)
	for name, c := range map[string]struct {
		args []string
		want string // ADDRESS is that of the service
	}{
		"in the working directory": {[]string{"-p", filepath.Join(here, "near.yaml"), "--target", address, "--rounds=1"},
			"locbench run --profile near.yaml --rounds 1 --target ADDRESS"},
		"outside": {[]string{"--profile", filepath.Join(dir, "mine.yaml"), "--services", filepath.Join(dir, "svc"), "--allow-files", dir, "--target", address, "-v", "--threshold=errors<1%"},
			"locbench run --allow-files " + filepath.Base(dir) + " --profile mine.yaml --services svc --target ADDRESS --threshold 'errors<1%'"},
		"a request": {[]string{"--target", address + "/x?a=b", "-m", "PUT", "-d", "@" + filepath.Join(here, "a.json"), "-H", "Authorization: Bearer hunter2hunter2", "--connections=1", "--duration=1s"},
			"locbench run --body @a.json --connections 1 --duration 1s --header 'Authorization: Bearer ***' --method PUT --target 'ADDRESS/x?a=b'"},
		"vegeta's targets": {[]string{"--targets", filepath.Join(dir, "targets.txt"), "--target", address, "--connections=1", "--duration=1s", "-q"},
			"locbench run --connections 1 --duration 1s --target ADDRESS --targets targets.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			out := outOf(t)
			text := says(t, 0, "", into(out, c.args...)...)
			run, trials := readResults(t, out)
			testenv.Equal(t, conclusion.Command(run.Given), strings.ReplaceAll(c.want, "ADDRESS", s.URL))
			next := conclusion.Of(analysis.Of(run, trials), nil).Command
			testenv.Check(t, strings.HasPrefix(next, "locbench run "), "next: %q", next)
			has(t, "next", next, "--target")
			for _, file := range []string{"summary.md", "report.html", results.RunFile, "events.jsonl"} {
				data := testenv.Must(os.ReadFile(filepath.Join(out, file)))(t)
				lacks(t, file, string(data), "hunter2")
				if strings.HasPrefix(file, "summary") || strings.HasPrefix(file, "report") {
					lacks(t, file, string(data), here, dir)
				}
			}
			lacks(t, "text", text, "hunter2")
		})
	}
}

// The options of suggestions (conclusion, failures.go and facts.go) can be given with each bundled
// profile.
func TestSuggestions(t *testing.T) {
	names := testenv.Must(profiles.FS.ReadDir("."))(t)
	for _, entry := range names {
		name, ok := strings.CutSuffix(entry.Name(), ".yaml")
		if !ok {
			continue
		}
		for _, options := range []string{"--rounds=1 --connections=1 --duration=1s", "--duration=30m", "--memory=768MiB", "--cpus=0.75", "--connections=64,256", "--rounds=6"} {
			_, err := planOf(t, append(strings.Fields(options), "--profile", name, "--store", "embedded")...)
			testenv.Check(t, err == nil, "%s %s: %v", name, options, err)
		}
	}
}

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
