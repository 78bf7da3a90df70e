package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

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
	for name, c := range map[string]struct {
		path string
		args []string
		want string
	}{
		"braces":        {"/v1/{id}?x={language}", nil, "GET|/v1/%7Bid%7D?x=%7Blanguage%7D|||"},
		"other letters": {"/größe?q=a b", nil, "GET|/gr%C3%B6%C3%9Fe?q=a%20b|||"},
		"method":        {"/v1/items/7", []string{"--method", "delete"}, "DELETE|/v1/items/7|||"},
		"cookies":       {"/o", []string{"--header", "X-Api-Key: k", "-H", "Cookie: a=1", "-H", "cookie: b=2"}, "GET|/o|ka=1; b=2||"},
		"any method":    {"/v1/items/7", []string{"--method", "M-Search"}, "M-Search|/v1/items/7|||"},
		"put": {"/o", []string{"--method", "PUT", "--body", `{"a": "{name}", "b": "{{name}}", "n": 10.00}`},
			`PUT|/o||application/json|{"a": "{name}", "b": "{{name}}", "n": 10.00}`},
		"form": {"/o", []string{"--body", "user=ada&team=a+b%3D"},
			"POST|/o||application/x-www-form-urlencoded|user=ada&team=a+b%3D"},
		"text": {"/o", []string{"--body", "hello, you: ${KEY} costs $5, {x}"},
			"POST|/o|||hello, you: k{e}y-of-env costs $5, {x}"},
		"content type": {"/o", []string{"--body", "[1]", "--header", "content-type: text/plain; x=y"},
			"POST|/o||text/plain; x=y|[1]"},
		"header": {"/o", []string{"--header", "X-Api-Key: a: {b} ${KEY}", "--header", "Accept:text/html"},
			"GET|/o|a: {b} k{e}y-of-env||"},
		"file": {"/o", []string{"--body", "@" + file},
			`POST|/o||application/json|{"item": "{item}", "price": 10.00}`},
		"short": {"/o", []string{"-m", "PATCH", "-H", "X-Api-Key: 1", "-d", "x=1"},
			"PATCH|/o|1|application/x-www-form-urlencoded|x=1"},
		"empty header":         {"/o", []string{"--header", "X-Api-Key:"}, "GET|/o|||"},
		"a name and an =":      {"/o?a=http://x", nil, "GET|/o?a=http://x|||"},
		"a slash in its place": {"/items/a%2Fb/", nil, "GET|/items/a%2Fb/|||"},
	} {
		t.Run(name, func(t *testing.T) {
			at, requests := refused(t)
			env.says(t, console.ExitContender, "", into(outOf(t), append(c.args, "--target", at+c.path)...)...)
			got := requests.lines()
			if len(got) == 0 || slices.ContainsFunc(got, func(line string) bool { return line != c.want }) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// What a request without a profile cannot be is refused with the way, before anything is sent.
func TestRequest_Refused(t *testing.T) {
	mine := fileOf(t, "mine.yaml", "requests: [{path: /x}]\n"+twenty)
	t.Chdir(filepath.Dir(mine))
	target := []string{"--target", "http://127.0.0.1:1/x"}
	of := []string{"--target", "http://127.0.0.1:1", "--profile", mine}
	for name, c := range map[string]struct {
		before, args []string
		want         string
	}{
		"a profile": {of, []string{"--method", "POST"},
			"--method: not with --profile, which has the requests: write it there, such as `- {post: /orders, json: {item: 7}}`"},
		"a profile and body": {of, []string{"--body", "x"}, "--body: not with --profile"},
		"a header":           {of, []string{"--header", "A: b"}, "--header: not with --profile"},
		"targets": {of[:2], []string{"--targets", "x.txt", "--method", "POST"},
			"--method: not with --targets"},
		"a contender": {of[:2], []string{"go-nethttp", "--method", "POST"}, "--method: not with a contender"},
		"no target": {nil, []string{"--method", "POST"},
			"--method: add --target URL, such as --target http://127.0.0.1:8080/orders"},
		"resume":       {nil, []string{"--resume", "x", "--method", "POST"}, "omit --method"},
		"not a method": {target, []string{"--method", "GET /"}, "--method 'GET /': write up to 40 letters, such as `GET` or `PURGE`"},
		"no colon": {target, []string{"--header", "A: b", "--header", "Cookie sid=1"},
			"--header, number 2: write 'NAME: VALUE', with a colon"},
		"a name with blanks": {target, []string{"--header", "My Header: x"}, "is not the name of a header"},
		"two lines":          {target, []string{"--header", "A: b\r\nC: d"}, "more than one line"},
		"a header twice": {target, []string{"--header", "Accept: a", "--header", "accept: b"},
			"--header accept: given twice"},
		"no file":  {target, []string{"--body", "@nosuch.json"}, "--body @nosuch.json: "},
		"a folder": {target, []string{"--body", "@."}, "--body @.: "},
		"standard input": {target, []string{"--body", "@-"},
			"--body @-: write the name of a file: the body is sent many times"},
		"a file without @": {target, []string{"--body", "mine.yaml"},
			"--body mine.yaml is the name of a file: write @mine.yaml to send that file"},
		"environment": {target, []string{"--header", "X-Key: ${NOPE_X}"},
			"environment variable unset or empty: NOPE_X"},
	} {
		t.Run(name, func(t *testing.T) {
			says(t, console.ExitUsage, c.want, into(outOf(t), slices.Concat(c.before, c.args)...)...)
		})
	}
	_, _, err := setupChoice([]string{"--target", "http://127.0.0.1:1/x", "--header", "A: b, c"})
	if err == nil || !strings.Contains(err.Error(), "--header: the setup screen has the requests of profiles; use 'locbench run'") {
		t.Errorf("in the setup screen: %v", err)
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
	if n := requests.of(path); before < 2 || n < before+2 {
		t.Errorf("%d requests, then %d", before, n)
	}
	for _, line := range requests.lines() {
		if !strings.HasPrefix(line, "GET / ") && line != "POST "+path+" Bearer "+secret+` {"{id}": 7}` {
			t.Fatalf("sent %q", line)
		}
	}
	files := outputs(t, out)
	files["text"] = text
	for name, text := range files {
		lacks(t, name, text, secret, other)
	}
	has(t, results.SummaryFile, files[results.SummaryFile], "# POST /orders?x=1")
}

// Two targets are compared: as many rounds as a verdict takes, interleaved.
func TestRequest_TwoTargets(t *testing.T) {
	p, err := planOf("--target", "old=http://127.0.0.1:1/x", "--target", "new=http://127.0.0.1:2/x", "--method", "PUT")
	if err != nil || len(p.Contenders) != 2 || p.Rounds != 0 || p.Requests[0].Method != "PUT" || p.Requests[0].Path != "/x" {
		t.Errorf("%+v, %v", p, err)
	}
}

// --targets replaces the requests of the default profile and of a named one, and needs something to
// send them to. The shell completes it by files.
func TestTargets(t *testing.T) {
	file := fileOf(t, "t.txt", "GET http://shop:8080/a\nGET http://shop:8080/a\nGET http://shop:8080/b\n")
	wrong := fileOf(t, "wrong.txt", "shop:8080/a\n")
	mine := fileOf(t, "mine.yaml", "requests: [{get: /x}]\nsteps: [3]\n")
	for args, want := range map[string]string{
		"--target http://127.0.0.1:1":                    "GET /a 2, GET /b 1, 5 steps",
		"orders":                                         "GET /a 2, GET /b 1, 5 steps",
		"--profile " + mine + " --target h:1":            "GET /a 2, GET /b 1, 1 steps",
		"--profile " + mine + " --target h:1 --targets=": "--targets '': write the path of a file",
		"": "--targets has requests for your own service: name the contender, or add --target URL",
		"--target http://127.0.0.1:1 --targets none.no":  "read target file: stat none.no: no such file or directory",
		"--target http://127.0.0.1:1 --targets " + wrong: wrong + ":1: vegeta: bad target; write `METHOD URL`",
	} {
		p, err := planOf(append([]string{"--targets", file}, strings.Fields(args)...)...)
		if err != nil {
			testenv.Fails(t, err, want)
			testenv.Equal(t, console.ExitCode(t.Context(), err), console.ExitUsage, args)
			continue
		}
		got := ""
		for _, r := range p.Requests {
			got += fmt.Sprintf("%s %d, ", r.Name, r.Weight)
		}
		testenv.Equal(t, got+fmt.Sprintf("%d steps", len(p.Steps)), want, args)
		if len(p.Needs) > 0 || len(p.Checks.Suites) > 0 || p.CompareBodies != 0 {
			t.Errorf("%s: needs %v, checks %v", args, p.Needs, p.Checks)
		}
	}
	says(t, 0, ":0\n", "__complete", "run", "--targets", "")
}

// With a target file, the path of --target comes before those of the file.
func TestTargets_PathOfTheTarget(t *testing.T) {
	var f runFlags
	cmd := &cobra.Command{}
	bindRun(cmd, &f)
	file := fileOf(t, "t.txt", "GET http://shop:8080/a\n")
	testenv.OK(t, cmd.ParseFlags([]string{"--targets", file, "--target", "http://127.0.0.1:1/api"}))
	plan, err := app.NewPlan(forContenders(f.RunOptions, cmd.Flags(), nil))
	testenv.OK(t, err)
	if requests := plan.Run.Profile.Requests; plan.Run.Targets[0].URL != "http://127.0.0.1:1/api" ||
		len(requests) != 1 || requests[0].Path != "/a" {
		t.Errorf("%+v, %+v", plan.Run.Targets, requests)
	}
}

// A run sends each target of a file as often as the results say, with its header and its body,
// below the path of the target URL; 201 and 204 are expected from what writes. The plan on record
// has the requests: 'run --resume' needs no target file.
func TestTargets_Sent(t *testing.T) {
	s, requests := recorder(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			w.WriteHeader(http.StatusCreated)
		case http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		}
	})
	dir := folderOf(t, map[string]string{
		"t.txt": strings.Repeat("GET http://shop:8080/items?q={a}\n", 7) +
			"\nPOST http://shop:8080/orders\nAuthorization: Bearer {b}${C}\n@order.json\n" +
			"DELETE http://shop:8080/orders/1\nDELETE http://shop:8080/orders/1\n",
		"order.json": `{"id": "{id}"}`,
		"p.yaml":     "requests: [{get: /x}]\nrounds: 1\ntimeout: 1m\nsteps: [{connections: 2, max_requests: 500}]\n",
	})
	out := filepath.Join(dir, "out")
	says(t, 0, "", into(out, "--profile", filepath.Join(dir, "p.yaml"), "--targets", filepath.Join(dir, "t.txt"),
		"--target", s.URL+"/api", "--seed", "1")...)
	run, trials := readResults(t, out)
	load := trials[0].Steps[0].Load
	if load.AllSucceeded() != 500 || load.FailedTotal() != 0 {
		t.Errorf("%d succeeded, %d failed", load.AllSucceeded(), load.FailedTotal())
	}
	received := map[string]int{}
	for _, line := range requests.lines() {
		received[line]++
	}
	total := 0
	want := []struct{ name, sent string }{
		{"GET /items", "GET /api/items?q=%7Ba%7D  "},
		{"POST /orders", `POST /api/orders Bearer {b}${C} {"id": "{id}"}`},
		{"DELETE /orders/1", "DELETE /api/orders/1  "},
	}
	for i, r := range run.Profile.Requests {
		n, about := received[want[i].sent], r.Weight*50
		if r.Name != want[i].name || n < about-40 || n > about+40 {
			t.Errorf("%s: %d received, of about %d; want %s", r.Name, n, about, want[i].name)
		}
		total += n
	}
	if all := len(requests.lines()); total < 503 || total > 509 || total+requests.of("/api/") < all { // some are sent before the load
		t.Errorf("%d of %d requests are of the file", total, all)
	}
	record, err := json.Marshal(run)
	if err != nil || strings.Contains(string(record), "Bearer {") || !strings.Contains(string(record), "order.json") {
		t.Errorf("%v\n%s", err, record)
	}
}
