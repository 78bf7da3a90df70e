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

// Everything that is sent is shown, with the responses, each redirect that is followed, and the
// reason of what is unexpected or was not sent. Values of cookies are secret.
func TestTry_Exchanges(t *testing.T) {
	at, requests := oddService(t)
	text := says(t, 0, "a: setup: sign in\n…→ POST /signin…← HTTP 200\n…as expected\n…a: full\n…← HTTP 429…session \"cart\": fill\n…a: all as expected\n…"+
		"b: all as expected\n", "try", fileOf(t, "odd.yaml", oddProfile), "--target", "a="+at, "--target", "b="+at)
	lacks(t, "try", text, "abc123", "=dark", "=en")
	var sent []string
	for _, line := range requests.lines() {
		if words := strings.Fields(line); words[1] != "/" {
			sent = append(sent, words[0]+" "+words[1])
		}
	}
	const one = "POST /signin, GET /items/7, GET /limited, GET /limited, POST /carts, PUT /carts/7"
	testenv.Equal(t, strings.Join(sent, ", "), one+", "+one)

	codes := fileOf(t, "codes.csv", "code\nA1\n")
	once := "variables: {code: {file: " + codes + ", column: code, draw: once}}\n"
	for name, c := range map[string]struct{ profile, want string }{
		"no value left": {once + "requests: [{name: first, get: '/items/{code}'}, {name: second, get: '/items/{code}'}]\n",
			"target: second\n  FAILED: not sent: request \"second\": variable \"code\" has no value left: all 1 were taken…" +
				"target: failed: unexpected response: \"second\""},
		"two statuses": {"requests: [{name: x, get: /broken}, {name: y, get: /items/1}, {name: z, get: /limited}]\n",
			"target: x\n…FAILED: expected status 200, got 500 Internal Server Error\n…as expected\n…FAILED: expected status 200, got 429"},
		"setup":   {"setup: [{name: x, get: /broken}]\nrequests: [{name: y, get: /items/1}]\n", "setup: x\n…FAILED: expected status 200, got 500"},
		"session": {"sessions: [{name: s, requests: [{name: x, get: /broken}]}]\n", "session \"s\": x\n…FAILED: expected status 200, got 500"},
		"a redirect": {"requests: [{name: r, get: /old}]\n",
			"FAILED: expected status 200, got 301 Moved Permanently (Location: /items/8; `follow: true` follows it)"},
	} {
		t.Run(name, func(t *testing.T) {
			says(t, console.ExitContender, c.want, "try", fileOf(t, "odd.yaml", c.profile+twenty), "--target", at, "--allow-files", filepath.Dir(codes))
		})
	}
	says(t, console.ExitContender, "target: failed: …speaks https, not http", "try", fileOf(t, "odd.yaml", oddProfile),
		"--target", "http://"+tlsServer(t).Listener.Addr().String())
	followed := fileOf(t, "odd.yaml", "requests: [{name: r, get: /old, follow: true}]\n"+twenty)
	says(t, 0, "a redirect, followed\n…GET /items/8", "try", followed, "--target", at)
}
