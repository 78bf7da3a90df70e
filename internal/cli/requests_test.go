package cli

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

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
