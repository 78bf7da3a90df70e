package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/results"
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

// shopRun runs locbench with a profile of the shop; the environment has the password.
func shopRun(t *testing.T, profile, password string, args ...string) (code int, text, stderr string, file string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "shop.yaml")
	for name, data := range map[string]string{"shop.yaml": profile, "users.csv": "name\nada\nbob\n"} {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
	}
	var out, err bytes.Buffer
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "PROFILE", file)
	}
	getenv := func(name string) string { return map[string]string{"PASSWORD": password}[name] }
	code = Main(t.Context(), Env{Args: args, Stdout: &out, Stderr: &err, Getenv: getenv})
	return code, out.String(), err.String(), file
}

// A run with a setup, sessions and a teardown: the service's journal has the numbers of the
// results, and no output has password or token.
func TestRunOfUsers(t *testing.T) {
	s, out := newShop(t), filepath.Join(t.TempDir(), "out")
	code, text, stderr, file := shopRun(t, shopProfile, shopPassword, "run", "--headless", "--profile", "PROFILE", "--target", s.URL, "-o", out)
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, text, stderr)
	}
	run, trials, err := results.Read(out)
	testenv.OK(t, err)
	// Each request and session was sent once before the load.
	items, orders, carts, fills := s.count("GET /items/N 200")-1, s.count("POST /orders 201")-1, s.count("POST /carts 200")-1, s.count("PUT /carts/N/items 200")-1
	sessions := analysis.Of(run, trials).Ordered()[0].Sessions()
	var succeeded int64
	for _, step := range trials[0].Steps {
		succeeded += step.Load.AllSucceeded()
	}
	if items+orders+carts != 500 || carts != fills || succeeded != int64(500+fills) || s.count("POST /login 200") != 1 || s.count("DELETE /orders 200") != 1 {
		t.Errorf("%d succeeded; the journal: %v", succeeded, s.journal)
	}
	if len(sessions) != 1 || sessions[0].Begun != int64(carts) || sessions[0].Completed != int64(carts) {
		t.Errorf("sessions %+v, %d carts", sessions, carts)
	}
	if want := fmt.Sprintf("session %q: %d started, %d completed", "cart", carts, carts); !strings.Contains(text, want) {
		t.Errorf("the text lacks %q", want)
	}
	all := text + stderr
	entries, err := os.ReadDir(out)
	testenv.OK(t, err)
	for _, e := range entries {
		data, _ := os.ReadFile(filepath.Join(out, e.Name()))
		all += string(data)
	}
	for _, hidden := range []string{shopPassword, shopToken} {
		if strings.Contains(all, hidden) {
			t.Errorf("%s is in an output", hidden)
		}
	}
	// A resumed run sends the same.
	if auth, login := run.Profile.Requests[0].Header["Authorization"], run.Profile.Setup[0].Body; auth != "Bearer {token}" || login != `{"password":"${PASSWORD}"}` {
		t.Errorf("recorded %q and %q", auth, login)
	}
	// A run cannot be resumed with other values.
	if len(run.Files) != 1 || filepath.Base(run.Files[0].File) != "users.csv" {
		t.Errorf("files %+v", run.Files)
	}
	testenv.OK(t, os.WriteFile(filepath.Join(filepath.Dir(file), "users.csv"), []byte("name\neve\n"), 0o600))
	var errs bytes.Buffer
	env := Env{Args: []string{"run", "--headless", "--resume", out}, Stdout: &errs, Stderr: &errs, Getenv: func(string) string { return shopPassword }}
	if code := Main(t.Context(), env); code == 0 || !strings.Contains(errs.String(), "users.csv has changed since ") && !strings.Contains(errs.String(), "complete") {
		t.Errorf("exit code %d: %s", code, &errs)
	}
}

// An unexpected response before the load ends the trial, with the request and without secrets.
func TestUnexpectedResponsesBeforeTheLoad(t *testing.T) {
	for name, test := range map[string]struct {
		change   [2]string
		password string
		code     int
		want     string // parts, with … between them
	}{
		"password":      {[2]string{}, "wrong-password", 3, `setup: unexpected response to "log in": sent POST /login {"password":"${PASSWORD}"}; … status 200, got 403 Forbidden`},
		"missing value": {[2]string{"access.token", "token"}, shopPassword, 3, `setup: unexpected response to "log in": sent POST /login {"password":"${PASSWORD}"}; session "setup", step "log in": nothing to save as "token"… token is not in`},
		"token":         {[2]string{"Bearer {token}", "Bearer x{token}"}, shopPassword, 3, `not loaded: unexpected response to "order": sent POST /orders {"item":"{item:number}"}; … status 201, got 401 Unauthorized {"message":"Bearer *** is unknown"}`},
		"schema":        {[2]string{"required: [id]", "required: [number]"}, shopPassword, 3, `does not match its schema: at '': missing property 'number'`},
		"feeder":        {[2]string{"draw: in_turn", "draw: once"}, shopPassword, 3, `session "cart", step "fill": variable "user" has no value left: all 2 were taken`},
		"column":        {[2]string{"{user.name}", "{user.nme}"}, shopPassword, 2, "shop.yaml:4: "},
		"same name":     {[2]string{"{name: order, post", "{name: log in, post"}, shopPassword, 2, `duplicate request "log in"; give each its own name`},
		"environment":   {[2]string{}, "", 2, "PASSWORD"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			profile := shopProfile
			if test.change[0] != "" {
				profile = strings.ReplaceAll(profile, test.change[0], test.change[1])
			}
			code, text, stderr, _ := shopRun(t, profile, test.password, "run", "--headless", "--profile", "PROFILE", "--target", s.URL, "-o", filepath.Join(t.TempDir(), "out"))
			lacks := func(part string) bool { return !strings.Contains(text+stderr, part) }
			if code != test.code || slices.ContainsFunc(strings.Split(test.want, "…"), lacks) {
				t.Errorf("exit code %d, want %d and %q:\n%s%s", code, test.code, test.want, text, stderr)
			}
			if strings.Contains(text+stderr, shopPassword) || strings.Contains(text+stderr, shopToken) {
				t.Errorf("a secret is shown:\n%s%s", text, stderr)
			}
		})
	}
}

// `try` shows each request and response once, without secrets, and leaves nothing behind.
func TestTry(t *testing.T) {
	golden, err := filepath.Abs("testdata/try.txt")
	testenv.OK(t, err)
	s := newShop(t)
	t.Chdir(t.TempDir())
	code, text, stderr, _ := shopRun(t, shopProfile, shopPassword, "try", "PROFILE", "--target", "a="+s.URL, "--target", "b="+s.URL)
	if code != 0 || stderr != "" {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	for what, want := range map[string]int{"POST /login 200": 2, "GET /items/N 200": 2, "POST /orders 201": 2, "POST /carts 200": 2, "PUT /carts/N/items 200": 2, "DELETE /orders 200": 2} {
		if got := s.count(what); got != want {
			t.Errorf("%s: %d times, want %d", what, got, want)
		}
	}
	left, err := os.ReadDir(".")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	text = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(text, "HOST")
	text = regexp.MustCompile(`Date: .*`).ReplaceAllString(text, "Date: …")
	text = regexp.MustCompile(`/items/\d+|"item":\d+|"id":\d+|Content-Length: \d+`).ReplaceAllStringFunc(text, func(m string) string {
		return regexp.MustCompile(`\d+`).ReplaceAllString(m, "N")
	})
	if strings.Contains(text, shopPassword) || strings.Contains(text, shopToken) {
		t.Error("a secret is shown")
	}
	testenv.Golden(t, golden, text)

	code, text, _, _ = shopRun(t, strings.ReplaceAll(shopProfile, "Bearer {token}", "Bearer x{token}"), shopPassword, "try", "PROFILE", "--target", s.URL)
	if want := `status 201, got 401 Unauthorized`; code != console.ExitContender || !strings.Contains(text, want) || !strings.Contains(text, `unexpected response: "order"`) {
		t.Errorf("exit code %d, want %d and %q:\n%s", code, console.ExitContender, want, text)
	}
}
