package cli

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
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
		case "/old":
			http.Redirect(w, r, "/items/8", http.StatusMovedPermanently)
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
func TestTry_Summary(t *testing.T) {
	at, _ := oddService(t)
	text := says(t, 0, "    Set-Cookie: sid=***; Path=/; HttpOnly; SameSite=Lax\n…    Set-Cookie: lang=***; Max-Age=60; x=***\n"+
		"…    Set-Cookie: gone=; Path=/\n…    Cookie: sid=***; theme=***; lang=***; gone=\n",
		"try", fileOf(t, "odd.yaml", oddProfile), "--target", "a="+at, "--target", "b="+at)
	end := "\nsummary\n  a: 6 requests as expected (1 rejected: 429)\n  b: 6 requests as expected (1 rejected: 429)\n"
	if !strings.HasSuffix(text, end) {
		t.Error(text)
	}
	lacks(t, "try", text, "abc123", "=dark", "=en")
}

// There is always a reason, also for what was not sent.
func TestTry_Reason(t *testing.T) {
	at, _ := oddService(t)
	codes := fileOf(t, "codes.csv", "code\nA1\n")
	once := "variables: {code: {file: " + codes + ", column: code, draw: once}}\n"
	for name, c := range map[string]struct{ profile, want string }{
		"no value left": {once +
			"requests: [{name: first, get: '/items/{code}'}, {name: second, get: '/items/{code}'}]\n",
			`1 request as expected, 1 not; the first: not sent: request "second": variable "code" has no value left: all 1 were taken` +
				"…  FAILED: not sent: request "},
		"no value left in the setup": {once +
			"setup: [{name: a, get: '/items/{code}'}]\nrequests: [{name: b, get: '/items/{code}'}]\n",
			`1 request as expected, 1 not; the first: not sent: request "b": variable "code" has no value left: all 1 were taken`},
		"two statuses": {"requests: [{name: x, get: /broken}, {name: y, get: /items/1}, {name: z, get: /limited}]\n",
			`1 request as expected, 2 not; the first: x: expected status 200, got 500 Internal Server Error`},
		"setup": {"setup: [{name: x, get: /broken}]\nrequests: [{name: y, get: /items/1}]\n",
			`0 requests as expected, 1 not; the first: setup: x: expected status 200, got 500`},
		"session": {"sessions: [{name: s, requests: [{name: x, get: /broken}]}]\n",
			`0 requests as expected, 1 not; the first: session "s": x: expected status 200, got 500`},
		"a redirect": {"requests: [{name: r, get: /old}]\n",
			"0 requests as expected, 1 not; …FAILED: expected status 200, " +
				"got 301 Moved Permanently (Location: /items/8; `follow: true` follows it)"},
	} {
		t.Run(name, func(t *testing.T) {
			says(t, console.ExitContender, "\nsummary\n  target: "+c.want,
				"try", fileOf(t, "odd.yaml", c.profile+twenty), "--target", at, "--allow-files", filepath.Dir(codes))
		})
	}
	says(t, console.ExitContender, "\nsummary\n  target: failed: …speaks https, not http", "try", fileOf(t,
		"odd.yaml", oddProfile),
		"--target", "http://"+tlsServer(t).Listener.Addr().String())
}

// --only sends the setup and what it names; --quiet prints what is unexpected. Each redirect that is
// followed is shown.
func TestTry_OnlyAndQuiet(t *testing.T) {
	const signIn = "POST /signin, "
	file := fileOf(t, "odd.yaml", oddProfile)
	for name, c := range map[string]struct {
		args        []string
		sent, shown string
		not         []string
	}{
		"a request": {[]string{"--only", "item"}, signIn + "GET /items/7", "target: item\n…2 requests as expected\n",
			[]string{"sign in", "limited"}},
		"a session": {[]string{"--only", "cart"}, signIn + "POST /carts, PUT /carts/7",
			`session "cart": make…session "cart": fill`,
			[]string{"sign in"}},
		"a request in a session": {[]string{"--only", "fill"}, signIn + "POST /carts, PUT /carts/7",
			`session "cart": fill`, []string{"make\n"}},
		"two": {[]string{"--only", "item", "--only", "limited"}, signIn + "GET /items/7, GET /limited",
			"target: item\n…target: limited\n", nil},
		"of the setup": {[]string{"--only", "sign in"}, "POST /signin", "target: setup: sign in\n", nil},
		"quiet": {[]string{"--quiet"}, signIn + "GET /items/7, GET /limited, GET /limited, POST /carts, PUT /carts/7",
			"",
			[]string{"HTTP/1.1", "as expected\n\n", "running"}},
	} {
		t.Run(name, func(t *testing.T) {
			at, requests := oddService(t)
			text := says(t, 0, c.shown, append([]string{"try", file, "--target", at}, c.args...)...)
			var sent []string
			for _, line := range requests.lines() {
				if words := strings.Fields(line); words[1] != "/" {
					sent = append(sent, words[0]+" "+words[1])
				}
			}
			testenv.Equal(t, strings.Join(sent, ", "), c.sent)
			lacks(t, "try", text, c.not...)
		})
	}
	at, _ := oddService(t)
	broken := fileOf(t, "odd.yaml", "requests: [{name: x, get: /broken}, {name: y, get: /items/1}]\n"+twenty)
	lacks(t, "try", says(t, console.ExitContender, "  ← HTTP 500\n", "try", broken, "--target", at, "-q"), "/items/1")
	followed := fileOf(t, "odd.yaml", "requests: [{name: r, get: /old, follow: true}]\n"+twenty)
	text := says(t, 0, "GET /items/8", "try", followed, "--target", at)
	if _, after, found := strings.Cut(text, "a redirect, followed"); !found || !strings.Contains(after,
		"GET /items/8") {
		t.Error(text)
	}
	for given, want := range map[string]string{
		"itm":         "did you mean `item`?",
		"nosuchthing": "the names of its requests and sessions: cart, fill, full, item, limited, make, sign in",
	} {
		says(t, console.ExitUsage, "--only "+given+": "+want, "try", file, "--target", at, "--only", given)
	}
}
