package cli

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/text/console"
)

// oddService is a service of odd responses.
func oddService(t *testing.T) (url string, requests *requestLog) {
	s, l := recorder(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/signin":
			w.Header()["Set-Cookie"] = []string{"sid=abc123; Path=/; HttpOnly; SameSite=Lax", "lang=en; Max-Age=60; x=y", "gone=; Path=/"}
		case "/limited":
			w.WriteHeader(http.StatusTooManyRequests)
		case "/broken":
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	return s.URL, l
}

const oddProfile = `setup: [{name: sign in, post: /signin, save: {sid: {cookie: sid}}}]
header: {Cookie: "sid={sid}; theme=dark"}
requests:
  - {name: item, get: /items/7}
  - {name: limited, get: /limited, expect: {status: [200, 429]}}
  - {name: full, get: /limited, expect: {status: 429}}
sessions:
  - {name: cart, requests: [{name: make, post: /carts}, {name: fill, put: /carts/7}]}
` + twenty

// Each contender has a line at the end: how many requests were as expected, and the first that was
// not, with its reason. Names of cookies are shown, their values are not.
func TestTrySummary(t *testing.T) {
	at, _ := oddService(t)
	file := fileOf(t, "odd.yaml", oddProfile)
	code, text := locbench(t, nil, "try", file, "--target", "a="+at, "--target", "b="+at)
	end := "\nsummary\n  a: 6 requests as expected (1 rejected: 429)\n  b: 6 requests as expected (1 rejected: 429)\n"
	if code != console.ExitOK || !strings.HasSuffix(text, end) {
		t.Errorf("exit code %d\n%s", code, text)
	}
	for _, line := range []string{
		"    Set-Cookie: sid=***; Path=/; HttpOnly; SameSite=Lax\n", "    Set-Cookie: lang=***; Max-Age=60; x=***\n",
		"    Set-Cookie: gone=; Path=/\n", "    Cookie: sid=***; theme=***; lang=***; gone=\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no line %q\n%s", line, text)
		}
	}
	if strings.Contains(text, "abc123") || strings.Contains(text, "=dark") || strings.Contains(text, "=en") {
		t.Errorf("a value is shown:\n%s", text)
	}
}

// There is always a reason, also for what was not sent.
func TestTrySaysWhy(t *testing.T) {
	at, _ := oddService(t)
	codes := fileOf(t, "codes.csv", "code\nA1\n")
	for name, c := range map[string]struct{ profile, want string }{
		"no value left": {"variables: {code: {file: " + codes + ", column: code, draw: once}}\nrequests: [{name: first, get: '/items/{code}'}, {name: second, get: '/items/{code}'}]\n",
			`target: 1 request as expected, 1 not; the first: not sent: request "second": variable "code" has no value left: all 1 were taken`},
		"no value left in the setup": {"variables: {code: {file: " + codes + ", column: code, draw: once}}\nsetup: [{name: a, get: '/items/{code}'}]\nrequests: [{name: b, get: '/items/{code}'}]\n",
			`target: 1 request as expected, 1 not; the first: not sent: request "b": variable "code" has no value left: all 1 were taken`},
		"two statuses": {"requests: [{name: x, get: /broken}, {name: y, get: /items/1}, {name: z, get: /limited}]\n",
			`target: 1 request as expected, 2 not; the first: x: expected status 200, got 500 Internal Server Error`},
		"setup":   {"setup: [{name: x, get: /broken}]\nrequests: [{name: y, get: /items/1}]\n", `target: 0 requests as expected, 1 not; the first: setup: x: expected status 200, got 500`},
		"session": {"sessions: [{name: s, requests: [{name: x, get: /broken}]}]\n", `target: 0 requests as expected, 1 not; the first: session "s": x: expected status 200, got 500`},
	} {
		t.Run(name, func(t *testing.T) {
			code, text := locbench(t, nil, "try", fileOf(t, "odd.yaml", c.profile+twenty), "--target", at, "--allow-files", filepath.Dir(codes))
			_, summary, _ := strings.Cut(text, "\nsummary\n  ")
			if code != console.ExitContender || !strings.HasPrefix(summary, c.want) {
				t.Errorf("exit code %d, want %q\n%s", code, c.want, text)
			}
			if strings.Contains(c.want, "no value left") && !strings.Contains(text, "  FAILED: not sent: request ") {
				t.Errorf("no reason in its place\n%s", text)
			}
		})
	}
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	code, text := locbench(t, nil, "try", fileOf(t, "odd.yaml", oddProfile), "--target", "http://"+s.Listener.Addr().String())
	if _, summary, _ := strings.Cut(text, "\nsummary\n  "); code != console.ExitContender || !strings.HasPrefix(summary, "target: failed: ") || !strings.Contains(summary, "speaks https, not http") {
		t.Errorf("exit code %d\n%s", code, text)
	}
}

// --only sends the setup and what it names; --quiet prints what is unexpected.
func TestTryOnlyAndQuiet(t *testing.T) {
	file := fileOf(t, "odd.yaml", oddProfile)
	for name, c := range map[string]struct {
		args        []string
		sent, shown []string
		not         []string
	}{
		"a request":              {[]string{"--only", "item"}, []string{"POST /signin", "GET /items/7"}, []string{"target: item\n", "2 requests as expected\n"}, []string{"sign in", "limited"}},
		"a session":              {[]string{"--only", "cart"}, []string{"POST /signin", "POST /carts", "PUT /carts/7"}, []string{`session "cart": make`, `session "cart": fill`}, []string{"sign in"}},
		"a request in a session": {[]string{"--only", "fill"}, []string{"POST /signin", "POST /carts", "PUT /carts/7"}, []string{`session "cart": fill`}, []string{"make\n"}},
		"two":                    {[]string{"--only", "item", "--only", "limited"}, []string{"POST /signin", "GET /items/7", "GET /limited"}, []string{"target: item\n", "target: limited\n"}, nil},
		"of the setup":           {[]string{"--only", "sign in"}, []string{"POST /signin"}, []string{"target: setup: sign in\n"}, nil},
		"quiet":                  {[]string{"--quiet"}, []string{"POST /signin", "GET /items/7", "GET /limited", "GET /limited", "POST /carts", "PUT /carts/7"}, nil, []string{"HTTP/1.1", "as expected\n\n", "running"}},
	} {
		t.Run(name, func(t *testing.T) {
			at, requests := oddService(t)
			code, text := locbench(t, nil, append([]string{"try", file, "--target", at}, c.args...)...)
			var sent []string
			for _, line := range requests.lines() {
				if words := strings.Fields(line); words[1] != "/" {
					sent = append(sent, words[0]+" "+words[1])
				}
			}
			if code != console.ExitOK || strings.Join(sent, ", ") != strings.Join(c.sent, ", ") {
				t.Errorf("exit code %d, sent %q\n%s", code, sent, text)
			}
			for _, part := range c.shown {
				if !strings.Contains(text, part) {
					t.Errorf("no %q in\n%s", part, text)
				}
			}
			for _, part := range c.not {
				if strings.Contains(text, part) {
					t.Errorf("%q in\n%s", part, text)
				}
			}
		})
	}
	at, _ := oddService(t)
	broken := fileOf(t, "odd.yaml", "requests: [{name: x, get: /broken}, {name: y, get: /items/1}]\n"+twenty)
	if code, text := locbench(t, nil, "try", broken, "--target", at, "-q"); code != console.ExitContender || !strings.Contains(text, "  ← HTTP 500\n") || strings.Contains(text, "/items/1") {
		t.Errorf("exit code %d\n%s", code, text)
	}
	for given, want := range map[string]string{"itm": "did you mean `item`?", "nosuchthing": "the names of its requests and sessions: cart, fill, full, item, limited, make, sign in"} {
		if code, text := locbench(t, nil, "try", file, "--target", at, "--only", given); code != console.ExitUsage || !strings.Contains(text, "--only "+given+": "+want) {
			t.Errorf("exit code %d\n%s", code, text)
		}
	}
}
