package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/results"
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
		l.Lock()
		l.all = append(l.all, strings.Join([]string{r.Method, r.RequestURI, r.Header.Get("X-Api-Key"), r.Header.Get("Content-Type"), string(body)}, "|"))
		l.Unlock()
		w.WriteHeader(http.StatusTeapot)
	})
	return s.URL, l
}

// One line is one request, sent as typed.
func TestOneRequestIsSentAsTyped(t *testing.T) {
	file := fileOf(t, "order.json", `{"item": "{item}", "price": 10.00}`)
	for name, c := range map[string]struct {
		path string
		args []string
		want string
	}{
		"get":                  {"/v1/items?x=1", nil, "GET|/v1/items?x=1|||"},
		"braces":               {"/v1/{id}?x={language}", nil, "GET|/v1/%7Bid%7D?x=%7Blanguage%7D|||"},
		"other letters":        {"/größe?q=a b", nil, "GET|/gr%C3%B6%C3%9Fe?q=a%20b|||"},
		"method":               {"/v1/items/7", []string{"--method", "delete"}, "DELETE|/v1/items/7|||"},
		"json":                 {"/o", []string{"--body", `{"a": "{name}", "n": 10.00}`}, `POST|/o||application/json|{"a": "{name}", "n": 10.00}`},
		"a place already":      {"/o", []string{"--body", `{"a": "{{name}}"}`}, `POST|/o||application/json|{"a": "{{name}}"}`},
		"form":                 {"/o", []string{"--body", "user=ada&team=a+b%3D"}, "POST|/o||application/x-www-form-urlencoded|user=ada&team=a+b%3D"},
		"text":                 {"/o", []string{"--body", "hello, you"}, "POST|/o|||hello, you"},
		"put":                  {"/o", []string{"--method", "PUT", "--body", "[1]"}, "PUT|/o||application/json|[1]"},
		"content type":         {"/o", []string{"--body", "[1]", "--header", "content-type: text/plain; x=y"}, "POST|/o||text/plain; x=y|[1]"},
		"header":               {"/o", []string{"--header", "X-Api-Key: a: {b} c", "--header", "Accept:text/html"}, "GET|/o|a: {b} c||"},
		"header from the env":  {"/o", []string{"--header", "X-Api-Key: ${KEY}"}, "GET|/o|k{e}y-of-env||"},
		"file":                 {"/o", []string{"--body", "@" + file}, `POST|/o||application/json|{"item": "{item}", "price": 10.00}`},
		"short":                {"/o", []string{"-m", "PATCH", "-H", "X-Api-Key: 1", "-d", "x=1"}, "PATCH|/o|1|application/x-www-form-urlencoded|x=1"},
		"empty header":         {"/o", []string{"--header", "X-Api-Key:"}, "GET|/o|||"},
		"body from the env":    {"/o", []string{"--body", "a ${KEY} b"}, "POST|/o|||a k{e}y-of-env b"},
		"dollar":               {"/o", []string{"--body", "costs $5, {x}"}, "POST|/o|||costs $5, {x}"},
		"a name and an =":      {"/o?a=http://x", nil, "GET|/o?a=http://x|||"},
		"a slash in its place": {"/items/a%2Fb/", nil, "GET|/items/a%2Fb/|||"},
	} {
		t.Run(name, func(t *testing.T) {
			at, requests := refused(t)
			args := append([]string{"run", "--headless", "--target", at + c.path, "-o", filepath.Join(t.TempDir(), "out")}, c.args...)
			code, text := locbench(t, map[string]string{"KEY": "k{e}y-of-env"}, args...)
			got := requests.lines()
			if code != console.ExitContender || len(got) == 0 || slices.ContainsFunc(got, func(line string) bool { return line != c.want }) {
				t.Errorf("exit code %d, %q, want %q\n%s", code, got, c.want, text)
			}
		})
	}
}

// What a request without a profile cannot be is refused with the way, before anything is sent.
func TestOneRequestRefused(t *testing.T) {
	mine := fileOf(t, "mine.yaml", "requests: [{path: /x}]\n"+twenty)
	t.Chdir(filepath.Dir(mine))
	at := "http://127.0.0.1:1/x"
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a profile":          {[]string{"--target", "http://127.0.0.1:1", "--profile", mine, "--method", "POST"}, "--method: not with --profile, which has the requests: write it there, such as `- {post: /orders, json: {item: 7}}`"},
		"a profile and body": {[]string{"--target", "http://127.0.0.1:1", "--profile", mine, "--body", "x"}, "--body: not with --profile"},
		"a header":           {[]string{"--target", "http://127.0.0.1:1", "--profile", mine, "--header", "A: b"}, "--header: not with --profile"},
		"targets":            {[]string{"--target", "http://127.0.0.1:1", "--targets", "x.txt", "--method", "POST"}, "--method: not with --targets"},
		"a contender":        {[]string{"--target", "http://127.0.0.1:1", "go-nethttp", "--method", "POST"}, "--method: not with a contender"},
		"no target":          {[]string{"--method", "POST"}, "--method: add --target URL, such as --target http://127.0.0.1:8080/orders"},
		"resume":             {[]string{"--resume", "x", "--method", "POST"}, "omit --method"},
		"unknown method":     {[]string{"--target", at, "--method", "POTS"}, "--method POTS: did you mean `POST`?"},
		"no colon":           {[]string{"--target", at, "--header", "A: b", "--header", "Cookie sid=1"}, "--header, number 2: write 'NAME: VALUE', with a colon"},
		"a name with blanks": {[]string{"--target", at, "--header", "My Header: x"}, "is not the name of a header"},
		"two lines":          {[]string{"--target", at, "--header", "A: b\r\nC: d"}, "more than one line"},
		"a header twice":     {[]string{"--target", at, "--header", "Accept: a", "--header", "accept: b"}, "--header accept: given twice"},
		"no file":            {[]string{"--target", at, "--body", "@nosuch.json"}, "--body @nosuch.json: "},
		"a folder":           {[]string{"--target", at, "--body", "@."}, "--body @.: "},
		"standard input":     {[]string{"--target", at, "--body", "@-"}, "--body @-: write the name of a file: the body is sent many times"},
		"a file without @":   {[]string{"--target", at, "--body", "mine.yaml"}, "--body mine.yaml is the name of a file: write @mine.yaml to send that file"},
		"environment":        {[]string{"--target", at, "--header", "X-Key: ${NOPE_X}"}, "environment variable unset or empty: NOPE_X"},
	} {
		t.Run(name, func(t *testing.T) {
			code, text := locbench(t, nil, append([]string{"run", "--headless", "-o", filepath.Join(t.TempDir(), "out")}, c.args...)...)
			if code != console.ExitUsage || !strings.Contains(strings.Join(strings.Fields(text), " "), c.want) {
				t.Errorf("exit code %d, want %q\n%s", code, c.want, text)
			}
		})
	}
}

// The secrets of one line are in no file, also where the run was interrupted; it is resumed, and
// the profile in its summary sends the same.
func TestOneRequestIsOnRecord(t *testing.T) {
	const secret, other = "hunter2-of-the-command-line", "cookie-of-the-command-line"
	s, requests := recorder(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/orders" && (r.Header.Get("Authorization") != "Bearer "+secret || r.Header.Get("Cookie") != "sid="+other) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusCreated)
	})
	out := filepath.Join(t.TempDir(), "out")
	headers := []string{"--header", "Authorization: Bearer " + secret, "--header", "Cookie: sid=" + other}
	args := append([]string{"run", "--headless", "--target", s.URL + "/orders?x=1", "--body", `{"{id}": 7}`, "-o", out, "--rounds", "2",
		"--connections", "1", "--duration", "100ms", "--threshold", "throughput>900000000 stop=run"}, headers...)
	code, text := locbench(t, nil, args...)
	run, _, err := results.Read(out)
	if code != console.ExitThreshold || err != nil || strings.Contains(text, secret) || requests.of("/orders?x=1") < 2 {
		t.Fatalf("exit code %d, %v\n%s", code, err, text)
	}
	if !strings.Contains(text, "\n  request  POST /orders?x=1\n") {
		t.Errorf("the text does not name the request\n%s", text)
	}
	if p := run.Profile; p.Name != "request" || p.Title != "POST /orders?x=1" || p.Description != "" || len(p.Requests) != 1 || p.Requests[0].Name != "POST /orders?x=1" {
		t.Errorf("%+v", p)
	}
	if code, text := locbench(t, nil, "run", "--headless", "--resume", out); code != console.ExitUsage || !strings.Contains(text, "give them again with --header 'NAME: VALUE': Authorization, Cookie") {
		t.Errorf("resumed without them: exit code %d\n%s", code, text)
	}
	if code, text := locbench(t, nil, "run", "--headless", "--resume", out, "--header", "X-Other: 1"); code != console.ExitUsage || !strings.Contains(text, "--header X-Other: is on record") {
		t.Errorf("another header: exit code %d\n%s", code, text)
	}
	before := requests.of("/orders?x=1")
	if code, text := locbench(t, nil, append([]string{"run", "--headless", "--resume", out}, headers...)...); code != console.ExitThreshold || requests.of("/orders?x=1") < before+2 {
		t.Errorf("resumed: exit code %d\n%s", code, text)
	}
	for _, line := range requests.lines() {
		if !strings.HasPrefix(line, "GET / ") && line != `POST /orders?x=1 Bearer `+secret+` {"{id}": 7}` {
			t.Fatalf("sent %q", line)
		}
	}
	files, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		if data, err := os.ReadFile(f); err != nil || strings.Contains(string(data), secret) || strings.Contains(string(data), other) {
			t.Errorf("a secret is in %s (%v)", f, err)
		}
	}
	page, err := os.ReadFile(filepath.Join(out, "summary.md"))
	if err != nil || !strings.Contains(string(page), "# POST /orders?x=1") {
		t.Errorf("%v\n%.200s", err, page)
	}
}

// Two targets are compared: as many rounds as a verdict takes, interleaved.
func TestOneRequestOfTwoTargets(t *testing.T) {
	p, err := planOf("--target", "old=http://127.0.0.1:1/x", "--target", "new=http://127.0.0.1:2/x", "--method", "PUT")
	if err != nil || len(p.Contenders) != 2 || p.Rounds != 0 || p.Requests[0].Method != "PUT" || p.Requests[0].Path != "/x" {
		t.Errorf("%+v, %v", p, err)
	}
}

// The setup screen has no place for a single request.
func TestOneRequestIsNotSetUp(t *testing.T) {
	_, _, err := setupChoice([]string{"--target", "http://127.0.0.1:1/x", "--header", "A: b, c"})
	if err == nil || !strings.Contains(err.Error(), "--header: the setup screen has the requests of profiles; use 'locbench run'") {
		t.Errorf("%v", err)
	}
}
