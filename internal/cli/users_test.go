package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// shop is a service with a login, whose journal counts its requests.
type shop struct {
	*httptest.Server
	mu      sync.Mutex
	journal map[string]int
}

const (
	shopPassword = "correct-horse-battery"
	shopToken    = "tok-93f1c0a77e"
)

func newShop(t *testing.T) *shop {
	s := &shop{journal: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Password string
			Item     int
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		what := r.Method + " " + regexp.MustCompile(`\d+`).ReplaceAllString(r.URL.Path, "N")
		w.Header().Set("Content-Type", "application/json")
		authorized := r.Header.Get("Authorization") == "Bearer "+shopToken
		status, body := 200, `{"id":7}`
		switch {
		case what == "POST /login" && in.Password == shopPassword:
			body = `{"access":{"token":"` + shopToken + `"}}`
		case what == "POST /login":
			status, body = 403, `{"message":"`+in.Password+` is not the password"}`
		case what == "POST /orders" && !authorized:
			status, body = 401, `{"message":"`+r.Header.Get("Authorization")+` is unknown"}`
		case what == "POST /orders":
			status, body = 201, fmt.Sprintf(`{"id":%d}`, in.Item)
		}
		s.mu.Lock()
		s.journal[fmt.Sprint(what, " ", status)]++
		s.mu.Unlock()
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *shop) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal[what]
}

const shopProfile = `header: {Authorization: "Bearer {token}"}
variables:
  item: {from: 1, to: 10000}
  user: {file: users.csv, draw: in_turn}
setup:
  - {name: log in, post: /login, json: {password: "${PASSWORD}"}, save: {token: access.token}}
requests:
  - {name: item, get: "/items/{item}", share: 70%, expect: {present: [id]}}
  - {name: order, post: /orders, share: 20%, json: {item: "{item:number}"}, expect: {status: 201, schema: {required: [id]}}}
sessions:
  - name: cart
    share: 10%
    requests:
      - {name: make, post: /carts, save: {cart: id}}
      - {name: fill, put: "/carts/{cart}/items?user={user.name}"}
teardown:
  - {delete: /orders}
timeout: 1m
steps: [{connections: 1, max_requests: 200}, {connections: 3, max_requests: 300}]
`

// shopFile returns a profile of the shop, next to its file of users.
func shopFile(t *testing.T, profile string) string {
	t.Helper()
	return filepath.Join(testenv.Folder(t, map[string]string{"shop.yaml": profile, "users.csv": "name\nada\nbob\n"}),
		"shop.yaml")
}

// An unexpected response before the load ends the trial, with the request and without secrets.
func TestRun_UnexpectedBeforeTheLoad(t *testing.T) {
	const sentLogin = `setup: unexpected response to "log in": sent POST /login {"password":"${PASSWORD}"}; `
	for name, test := range map[string]struct {
		old, new, password string
		code               int
		want               string
	}{
		"password": {"x", "x", "wrong-password", 3, sentLogin + `… status 200, got 403 Forbidden`},
		"missing value": {"access.token", "token", shopPassword, 3,
			sentLogin + `session "setup", step "log in": nothing to save as "token"… token is not in`},
		"token": {"Bearer {token}", "Bearer x{token}", shopPassword, 3,
			`not loaded: unexpected response to "order": sent POST /orders ` +
				`{"item":"{item:number}"}; … status 201, got 401 Unauthorized {"message":"Bearer x*** is unknown"}`},
		"schema": {"required: [id]", "required: [number]", shopPassword, 3,
			`does not match its schema: at '': missing property 'number'`},
		"feeder": {"draw: in_turn", "draw: once", shopPassword, 3,
			`session "cart", step "fill": variable "user" has no value left: all 2 were taken`},
		"column": {"{user.name}", "{user.nme}", shopPassword, 2, "shop.yaml:4: "},
		"same name": {"{name: order, post", "{name: log in, post", shopPassword, 2,
			`duplicate request "log in"; give each its own name`},
		"environment": {"x", "x", "", 2, "PASSWORD"},
	} {
		t.Run(name, func(t *testing.T) {
			file := shopFile(t, strings.ReplaceAll(shopProfile, test.old, test.new))
			text := shell{"PASSWORD": test.password}.says(t, test.code, test.want,
				into(outOf(t), "--profile", file, "--target", newShop(t).URL)...)
			lacks(t, "the text", text, shopPassword, shopToken)
		})
	}
}

// `try` shows each request and response once, without secrets, and leaves nothing behind.
func TestTry(t *testing.T) {
	golden, err := filepath.Abs("testdata/try.txt")
	testenv.OK(t, err)
	s, env := newShop(t), shell{"PASSWORD": shopPassword}
	t.Chdir(t.TempDir())
	code, text, stderr := env.runs(t, "try", shopFile(t, shopProfile), "--target", "a="+s.URL, "--target", "b="+s.URL)
	testenv.Check(t, code == 0 && stderr == "", "exit code %d, %s", code, stderr)
	testenv.Equal(t, s.journal, map[string]int{"GET / 200": s.count("GET / 200"), "POST /login 200": 2,
		"GET /items/N 200": 2,
		"POST /orders 201": 2, "POST /carts 200": 2, "PUT /carts/N/items 200": 2, "DELETE /orders 200": 2})
	left, err := os.ReadDir(".")
	testenv.Check(t, err == nil && len(left) <= 0, "left behind: %v, %v", left, err)
	text = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(text, "HOST")
	text = regexp.MustCompile(`Date: .*`).ReplaceAllString(text, "Date: …")
	text = regexp.MustCompile(`/items/\d+|"item":\d+|"id":\d+|Content-Length: \d+`).ReplaceAllStringFunc(text, func(m string) string {
		return regexp.MustCompile(`\d+`).ReplaceAllString(m, "N")
	})
	lacks(t, "try", text, shopPassword, shopToken)
	testenv.Golden(t, golden, text)

	env.says(t, console.ExitContender, `status 201, got 401 Unauthorized…unexpected response: "order"`,
		"try", shopFile(t, strings.ReplaceAll(shopProfile, "Bearer {token}", "Bearer x{token}")), "--target", s.URL)
}
