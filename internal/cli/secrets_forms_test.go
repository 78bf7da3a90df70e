package cli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// The secrets of a service that repeats what it gets, in the ways of several languages.
const (
	envSecret   = `S3cr3t-Pässword"x/7<&tail`
	cookieValue = "c00kie/value+of=ada-0123456789"
	otherCookie = "n0t-saved-cookie-zyxwvu"
	loginID     = "1d-of-the-login-abcdefghij"
)

// newParrot responds to each request with its body, its Authorization and its cookie, written in
// one way after another. It says what it got.
func newParrot(t *testing.T) (s *httptest.Server, got func() string) {
	var mu sync.Mutex
	var journal strings.Builder
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		fmt.Fprintf(&journal, "%s %s %s %s %s\n", r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("X-Sid"), body)
		mu.Unlock()
		var in struct{ P string }
		_ = json.Unmarshal(body, &in)
		said := otherCookie + in.P + r.Header.Get("Authorization") + r.Header.Get("X-Sid") + r.URL.Query().Get("c")
		quoted, _ := json.Marshal(said)
		twice, _ := json.Marshal(string(quoted))
		switch r.URL.Path {
		case "/login":
			w.Header().Set("Set-Cookie", "sid="+cookieValue+"; Path=/")
			w.Header().Add("Set-Cookie", "other="+otherCookie)
			fmt.Fprintf(w, `{"id":%q}`, loginID)
		case "/go":
			w.Write(quoted)
		case "/python":
			fmt.Fprintf(w, `{"m": "%s"}`, strings.NewReplacer(`\u003c`, "<", `\u0026`, "&", "ä", `\u00e4`).Replace(string(quoted[1:len(quoted)-1])))
		case "/php":
			fmt.Fprintf(w, `{"m": "%s"}`, strings.NewReplacer("/", `\/`, "ä", `\u00e4`).Replace(string(quoted[1:len(quoted)-1])))
		case "/twice":
			w.Write(twice)
		case "/html":
			io.WriteString(w, html.EscapeString(said))
		case "/url":
			io.WriteString(w, regexp.MustCompile("%..").ReplaceAllStringFunc(url.QueryEscape(said), strings.ToLower)+" "+url.QueryEscape(url.QueryEscape(said)))
		case "/base64":
			io.WriteString(w, base64.StdEncoding.EncodeToString([]byte("user:"+said)))
		default: // across the place where it is cut
			io.WriteString(w, strings.Repeat("x", 90)+said)
		}
	}))
	t.Cleanup(s.Close)
	return s, func() string { mu.Lock(); defer mu.Unlock(); return journal.String() }
}

// Neither try nor a run shows or keeps a secret, in whichever way it is sent and comes back.
func TestSecretsInNoForm(t *testing.T) {
	s, journal := newParrot(t)
	env := map[string]string{"MYSECRET": envSecret}
	shown := []string{"S3cr", "ssword", "c00k", "value+of", "ada-0", "n0t-", "zyxwvu", "1d-of", "login-abc", "abcdefghij", "UzNjcjN0", "c3N3b3Jk"}
	for _, way := range []string{"go", "python", "php", "twice", "html", "url", "base64", "cut"} {
		profile := fileOf(t, "p.yaml", `header: {Authorization: "Bearer {uid}", X-Sid: "{sid}"}
setup: [{post: /login, save: {uid: id, sid: {cookie: sid}}, header: {Authorization: none, X-Sid: none}}]
requests: [{post: "/`+way+`?c={sid}", json: {p: "${MYSECRET}"}}]
teardown: [{name: end, post: "/`+way+`", json: {p: "${MYSECRET}"}, expect: {status: 201}}]
rounds: 1
`+twenty)
		_, text := locbench(t, env, "try", profile, "--target", "a="+s.URL)
		if !strings.Contains(text, "FAILED: expected status 201, got 200 OK") {
			t.Errorf("%s: %s", way, text)
		}
		out := filepath.Join(t.TempDir(), "out")
		_, ran := locbench(t, env, "run", "--headless", "--profile", profile, "--target", "a="+s.URL, "-o", out)
		texts := map[string]string{"try": text, "run": ran}
		if err := filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				data, _ := os.ReadFile(path)
				texts[e.Name()] = string(data)
			}
			return err
		}); err != nil || !strings.Contains(texts["summary.md"], "teardown") {
			t.Errorf("%s: %v\n%s", way, err, ran)
		}
		for name, text := range texts {
			for _, piece := range shown {
				if at := strings.Index(text, piece); at >= 0 {
					t.Errorf("%s: %s shows %s: %.200s", way, name, piece, text[max(0, at-80):])
				}
			}
		}
		if sent := journal(); !strings.Contains(sent, `ssword\"x/7<&tail"}`) || !strings.Contains(sent, "Bearer "+loginID) || !strings.Contains(sent, cookieValue) {
			t.Errorf("%s: the service got %.500s", way, sent)
		}
	}
}

// A profile in bench/ with a file elsewhere runs with the option that its mistake names, in each
// command, and is not asked for it when the run is resumed.
func TestAllowFiles(t *testing.T) {
	s, journal := newParrot(t)
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"bench/p.yaml": "requests: [{post: /go, file: ../data/body.json, expect: {schema: ../data/s.json}}]\n" + twenty +
			"checks: {suites: [" + filepath.Join(dir, "bench/suite.yaml") + "]}\n", "data/body.json": `{"p":"the body"}`, "data/s.json": `{"type":"string"}`,
		"bench/suite.yaml": "suite: s\ngroups: {g: [{name: c, request: POST /go, expect: {status: 200, schema: ../data/s.json}}]}\n",
	} {
		testenv.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
		testenv.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	for name, args := range map[string][]string{
		"validate": {"profiles", "validate", "bench/p.yaml"}, "show": {"profiles", "show", "bench/p.yaml"},
		"try": {"try", "bench/p.yaml", "--target", "a=" + s.URL}, "run": {"run", "--headless", "--profile", "bench/p.yaml", "--target", "a=" + s.URL, "-o", "out"},
		"check": {"check", s.URL, "--suite", "bench/suite.yaml"},
	} {
		code, text := locbench(t, nil, args...)
		if code != 2 || !strings.Contains(text, "yaml:") || !strings.Contains(text, "--allow-files data") {
			t.Errorf("%s: %d %s", name, code, text)
		}
		if sent := journal(); sent != "" {
			t.Fatalf("%s sent %s", name, sent)
		}
	}
	for name, args := range map[string][]string{
		"validate": {"profiles", "validate", "bench/p.yaml"}, "show": {"profiles", "show", "bench/p.yaml"},
		"try": {"try", "bench/p.yaml", "--target", "a=" + s.URL}, "run": {"run", "--headless", "--profile", "bench/p.yaml", "--target", "a=" + s.URL, "-o", "out"},
		"check": {"check", s.URL, "--suite", "bench/suite.yaml"},
	} {
		if code, text := locbench(t, nil, append(args, "--allow-files", "data")...); code != 0 {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	if sent := journal(); !strings.Contains(sent, `{"p":"the body"}`) {
		t.Error(sent)
	}
	run, err := os.ReadFile("out/run.json")
	if err != nil || !strings.Contains(string(run), `"allow_files"`) {
		t.Errorf("%v %s", err, run)
	}
	if code, text := locbench(t, nil, "run", "--resume", "out", "--allow-files", "data"); code != 2 || !strings.Contains(text, "omit --allow-files") {
		t.Errorf("%d %s", code, text)
	}
}
