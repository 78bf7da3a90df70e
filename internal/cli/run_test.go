package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

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

// The results have each response except the first, which comes before the load; the exit code
// follows the thresholds. The metrics have an address, and the history has the run.
func TestRun_Thresholds(t *testing.T) {
	for name, c := range map[string]struct {
		status    int // of all responses but the first
		threshold string
		code      int
		says      string
	}{
		"passed":             {200, "errors<100%,throughput>0.001", 0, "metrics  http://127.0.0.1:…thresholds: 0 of 4 missed"},
		"missed from a step": {200, "throughput>900000000 from_step=2", 4, "thresholds: 1 of 1 missed"},
		"stopped early":      {200, "throughput>900000000 stop=true", 4, "stopped the trial"},
		// Two steps without a success: the contender has failed, which is worse.
		"and failed": {500, "errors<1%", 3, "threshold missed: errors is 100%"},
	} {
		t.Run(name, func(t *testing.T) {
			var answered atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/thing" && answered.Add(1) > 1 {
					w.WriteHeader(c.status)
				}
			}))
			defer server.Close()
			dir := outOf(t)
			says(t, c.code, c.says, bounded(t, dir, server.URL, "--threshold", c.threshold, "--metrics-listen", "0")...)
			_, trials := readResults(t, dir)
			var recorded int64
			for _, s := range trials[0].Steps {
				recorded += s.Load.AllSucceeded() + s.Load.FailedTotal()
			}
			testenv.Equal(t, recorded, int64(40*len(trials[0].Steps)))
			testenv.Equal(t, recorded, answered.Load()-1)
			switch trial := trials[0]; {
			case name == "passed":
				inHistory(t, dir)
			case name == "stopped early" && (trial.State != bench.TrialAborted || len(trial.Steps) != 1 ||
				trial.Steps[0].Thresholds[0].Stopped != bench.ScopeTrial):
				t.Errorf("%s: %+v", trial.State, trial.Steps)
			}
		})
	}
}

// inHistory looks at the history of the only run in a folder.
func inHistory(t *testing.T, dir string) {
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

// --engine, or else the environment, selects the engine; the choice is on record, and the results
// say what ran.
func TestEngine(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	fast := bench.EngineFast
	if load.FastApplies(false, false) != nil {
		fast = bench.EngineVegeta
	}
	for name, c := range map[string]struct {
		flag, variable string
		chosen, ran    bench.Engine
	}{
		"vegeta":                   {"vegeta", "", "vegeta", "vegeta"},
		"epoll by the environment": {"", "epoll", "epoll", "fast"},
		"the flag comes first":     {"auto", "vegeta", "", fast},
	} {
		t.Run(name, func(t *testing.T) {
			if c.ran == "fast" && fast != "fast" {
				t.Skip("engine fast needs Linux")
			}
			dir, args := outOf(t), []string{"--engine", c.flag}
			if c.flag == "" {
				args = nil
			}
			text := shell{"LOCBENCH_ENGINE": c.variable}.says(t, 0, "", bounded(t, dir, server.URL, args...)...)
			run, trials := readResults(t, dir)
			testenv.Equal(t, run.Engine, c.chosen)
			testenv.Equal(t, bench.EnginesOf(trials...), []bench.Engine{c.ran})
			testenv.Equal(t, strings.Count(text, "\n  engine   "+string(c.ran)+"\n"), 1, text)
		})
	}
}

// locbench gives up a store or target that never responds, and saves nothing of the run or the
// search. The target is a contender with a short timeout in its manifest.
func TestNothingRan(t *testing.T) {
	const refusing = "http://127.0.0.1:1"
	services := testenv.Folder(t, map[string]string{"mine/service.yaml": `{name: mine, title: Mine, language: Go, framework: none, version: "1",
  endpoints: all, port: 8080, ready: {timeout: 100ms}, process: {command: [mine]}}`})
	target := []string{"mine", "--no-checks", "--services", services, "--target", refusing}
	for name, c := range map[string]struct {
		args   []string
		code   int
		reason string
		most   int // how often the reason may be there
	}{
		"store":    {[]string{"run", "--runtime", "process", "--elastic", refusing}, console.ExitFailure, "connection refused", 1},
		"run":      {append([]string{"run"}, target...), console.ExitContender, "not ready after 100ms", 1},
		"capacity": {append([]string{"capacity", "--slo", "p99<1s"}, target...), console.ExitContender, "not ready after 100ms", 3},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			code, out, stderr := shell(nil).runs(t, append(c.args, "-o", filepath.Join(dir, "results", "x"))...)
			testenv.Equal(t, code, c.code)
			if n := strings.Count(stderr, c.reason); out != "" || n < 1 || n > c.most {
				t.Errorf("standard output %q; the reason is there %d times:\n%s", out, n, stderr)
			}
			has(t, "standard error", stderr, "nothing ran; no results saved")
			left := testenv.Must(os.ReadDir(dir))(t)
			testenv.Equal(t, len(left), 0, left)
		})
	}
}

// refused refuses every request, so a run ends after the few that come before its load. It records
// method, path, one header, the content type and the body.
func refused(t *testing.T) (url string, requests *requestLog) {
	l := &requestLog{}
	s, _ := recorder(t, func(http.ResponseWriter, *http.Request) {})
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" { // the readiness check
			return
		}
		body := make([]byte, max(r.ContentLength, 0))
		_, _ = r.Body.Read(body)
		line := []string{r.Method, r.RequestURI, r.Header.Get("X-Api-Key") + strings.Join(r.Header["Cookie"], "&"), r.Header.Get("Content-Type"), string(body)}
		l.Lock()
		l.all = append(l.all, strings.Join(line, "|"))
		l.Unlock()
		w.WriteHeader(http.StatusTeapot)
	})
	return s.URL, l
}

// One line is one request, sent as typed.
func TestRequest_SentAsTyped(t *testing.T) {
	file := fileOf(t, "order.json", `{"item": "{item}", "price": 10.00}`)
	env := shell{"KEY": "k{e}y-of-env"}
	for name, c := range map[string]struct{ args, want string }{
		"path": {"/v1/{id}/größe/a%2Fb/?x={language}&q=a b&u=http://x' --method delete --header X-Api-Key:",
			"DELETE|/v1/%7Bid%7D/gr%C3%B6%C3%9Fe/a%2Fb/?x=%7Blanguage%7D&q=a%20b&u=http://x|||"},
		"any method":   {"/o' --method M-Search --header 'X-Api-Key: k' -H 'Cookie: a=1' -H 'cookie: b=2'", "M-Search|/o|ka=1; b=2||"},
		"GET":          {"/o' --header 'X-Api-Key: a: {b} ${KEY}' --header Accept:text/html", "GET|/o|a: {b} k{e}y-of-env||"},
		"form":         {"/o' --body user=ada&team=a+b%3D", "POST|/o||application/x-www-form-urlencoded|user=ada&team=a+b%3D"},
		"text":         {"/o' --body 'hello, you: ${KEY} costs $5, {x}'", "POST|/o|||hello, you: k{e}y-of-env costs $5, {x}"},
		"content type": {"/o' -d [1] -H 'content-type: text/plain; x=y'", "POST|/o||text/plain; x=y|[1]"},
		"file":         {"/o' -m PATCH -d @" + file, `PATCH|/o||application/json|{"item": "{item}", "price": 10.00}`},
		"JSON": {`/o' --method PUT --body '{"a": "{name}", "b": "{{name}}", "n": 10.00}'`,
			`PUT|/o||application/json|{"a": "{name}", "b": "{{name}}", "n": 10.00}`},
	} {
		t.Run(name, func(t *testing.T) {
			at, requests := refused(t)
			env.says(t, console.ExitContender, "", into(outOf(t), words("--target '"+at+c.args)...)...)
			got := requests.lines()
			if len(got) == 0 || slices.ContainsFunc(got, func(line string) bool { return line != c.want }) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// The secrets of one line are in no file, also where the run was interrupted; it is resumed, and
// the profile in its summary sends the same.
func TestRequest_OnRecord(t *testing.T) {
	const secret, other, path = "hunter2-of-the-command-line", "cookie-of-the-command-line", "/orders?x=1"
	s, requests := recorder(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/orders" || r.Header.Get("Authorization") == "Bearer "+secret &&
			r.Header.Get("Cookie") == "sid="+other {
			w.WriteHeader(http.StatusCreated)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	})
	out := outOf(t)
	headers := []string{"--header", "Authorization: Bearer " + secret, "--header", "Cookie: sid=" + other}
	args := into(out, "--target", s.URL+path, "--body", `{"{id}": 7}`, "--rounds", "2", "--connections", "1",
		"--duration", "100ms", "--threshold", "throughput>900000000 stop=run")
	text := says(t, console.ExitThreshold, "\n  request  POST /orders?x=1\n", append(args, headers...)...)
	run, _ := readResults(t, out)
	if p := run.Profile; p.Name != "request" || p.Title != "POST "+path || p.Description != "" ||
		len(p.Requests) != 1 ||
		p.Requests[0].Name != "POST "+path {
		t.Errorf("%+v", p)
	}
	resume := []string{"run", "--headless", "--resume", out}
	says(t, console.ExitUsage, "give them again with --header 'NAME: VALUE': Authorization, Cookie", resume...)
	says(t, console.ExitUsage, "--header X-Other: is on record", append(resume, "--header", "X-Other: 1")...)
	before := requests.of(path)
	text += says(t, console.ExitThreshold, "", append(resume, headers...)...)
	n := requests.of(path)
	testenv.Check(t, before >= 2 && n >= before+2, "%d requests, then %d", before, n)
	for _, line := range requests.lines() {
		testenv.Need(t, strings.HasPrefix(line, "GET / ") || line == "POST "+path+" Bearer "+secret+` {"{id}": 7}`,
			"sent %q", line)
	}
	without(t, out, text, secret, other)
	has(t, results.SummaryFile, output(t, out, results.SummaryFile), "# POST /orders?x=1")
}

// Two targets are compared: as many rounds as a verdict takes, interleaved.
func TestRequest_TwoTargets(t *testing.T) {
	p, err := planOf(t, "--target", "old=http://127.0.0.1:1/x", "--target", "new=http://127.0.0.1:2/x", "--method", "PUT")
	if err != nil || len(p.Contenders) != 2 || p.Rounds != 0 || p.Requests[0].Method != "PUT" || p.Requests[0].Path != "/x" {
		t.Errorf("%+v, %v", p, err)
	}
}

// --targets replaces the requests of the default profile and of a named one. The path of --target
// comes before those of the file. The shell completes it by files.
func TestTargets(t *testing.T) {
	t.Chdir(testenv.Folder(t, map[string]string{"mine.yaml": "requests: [{get: /x}]\nsteps: [3]\n",
		"t.txt": "GET http://shop:8080/a\nGET http://shop:8080/a\nGET http://shop:8080/b\n"}))
	for args, want := range map[string]string{
		"--target http://127.0.0.1:1/api": " of http://127.0.0.1:1/api, 5 steps",
		"go-nethttp":                      ", 5 steps",
		"mine.yaml --target h:1":          " of http://h:1, 1 steps",
	} {
		plan, err := app.NewPlan(parsed(t, append([]string{"run", "--targets", "t.txt"}, words(args)...)...).(runFlags).RunOptions)
		testenv.OK(t, err)
		p, got := plan.Run.Profile, ""
		for _, target := range plan.Run.Targets {
			got += " of " + target.URL
		}
		if len(p.Requests) != 2 || p.Requests[0].Name != "GET /a" || p.Requests[0].Path != "/a" || p.Requests[0].Weight != 2 ||
			p.Requests[1].Name != "GET /b" || p.Requests[1].Weight != 1 || len(p.Needs) > 0 || len(p.Checks.Suites) > 0 || p.CompareBodies != 0 {
			t.Errorf("%s: %+v", args, p)
		}
		testenv.Equal(t, fmt.Sprintf("%s, %d steps", got, len(p.Steps)), want, args)
	}
	says(t, 0, ":0\n", "__complete", "run", "--targets", "")
}
