package cli

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// requestLog records the requests to a server.
type requestLog struct {
	sync.Mutex
	all []string // "GET /x?y=1 header body"
}

// of returns the number of requests with that path and query.
func (l *requestLog) of(path string) (n int) {
	l.Lock()
	defer l.Unlock()
	for _, line := range l.all {
		if strings.Contains(line, " "+path+" ") {
			n++
		}
	}
	return n
}

// lines returns all requests.
func (l *requestLog) lines() []string {
	l.Lock()
	defer l.Unlock()
	return slices.Clone(l.all)
}

// recorder returns a server that records its requests and responds with respond.
func recorder(t *testing.T, respond http.HandlerFunc) (*httptest.Server, *requestLog) {
	l := &requestLog{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.Lock()
		l.all = append(l.all, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"), body))
		l.Unlock()
		respond(w, r)
	}))
	t.Cleanup(s.Close)
	return s, l
}

// locbench runs locbench and returns its exit code and its output.
func locbench(t *testing.T, env map[string]string, args ...string) (code int, text string) {
	t.Helper()
	var out bytes.Buffer
	code = Main(t.Context(), Env{Args: args, Stdout: &out, Stderr: &out, Getenv: func(name string) string { return env[name] }})
	return code, out.String()
}

func fileOf(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	testenv.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const twenty = "timeout: 1m\nsteps: [{connections: 1, max_requests: 20}]\n"

// A wrong path costs a few requests instead of the load, and the run fails.
func TestWrongPathIsNotLoaded(t *testing.T) {
	mine := fileOf(t, "mine.yaml", "requests: [{path: /items/7}]\n"+twenty)
	for name, c := range map[string]struct {
		at   string
		args []string
	}{
		"an API without /":  {at: "/"},
		"another base path": {at: "/api", args: []string{"--profile", mine}},
	} {
		t.Run(name, func(t *testing.T) {
			s, requests := recorder(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/items/7" {
					http.NotFound(w, r)
				}
			})
			code, text := locbench(t, nil, append([]string{"run", "--headless", "--target", s.URL + c.at, "-o", filepath.Join(t.TempDir(), "out")}, c.args...)...)
			if code != console.ExitContender || !strings.Contains(text, "not loaded: unexpected response to ") || !strings.Contains(text, " status 200, got 404 Not Found") || !strings.Contains(text, "404 page not found") {
				t.Errorf("exit code %d\n%s", code, text)
			}
			if n := len(requests.lines()); n > 8 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// locbench waits for a target that responds with 503 while it boots: no request of the load fails.
func TestTargetThatBoots(t *testing.T) {
	var n atomic.Int64
	s, requests := recorder(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) <= 12 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	out := filepath.Join(t.TempDir(), "out")
	code, text := locbench(t, nil, "run", "--headless", "--target", s.URL, "--profile", fileOf(t, "mine.yaml", "requests: [{path: /x}]\n"+twenty), "-o", out)
	_, trials, err := results.Read(out)
	if code != console.ExitOK || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, text)
	}
	if l := trials[0].Steps[0].Load; l.FailedTotal() != 0 || l.AllSucceeded() != 20 || requests.of("/x") != 21 {
		t.Errorf("%d failed, %d succeeded, %d received", l.FailedTotal(), l.AllSucceeded(), requests.of("/x"))
	}
}

// An untrusted certificate is an error with its remedies, each of which works and is recorded.
func TestTargetWithItsOwnCertificate(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // discards the expected failures of handshakes
	s.StartTLS()
	defer s.Close()
	mine := fileOf(t, "mine.yaml", "requests: [{path: /x}]\n"+twenty)
	own := fileOf(t, "own.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	for name, c := range map[string]struct {
		args []string
		code int
		says string
		tls  *bench.TLS
	}{
		"no option":        {nil, console.ExitContender, "add its CA with --cacert FILE, or use --insecure", nil},
		"--insecure":       {[]string{"--insecure"}, console.ExitOK, "", &bench.TLS{Insecure: true}},
		"--cacert":         {[]string{"--cacert", own}, console.ExitOK, "", &bench.TLS{CACert: own}},
		"no certificate":   {[]string{"--cacert", mine}, console.ExitUsage, "no PEM certificate found", nil},
		"missing file":     {[]string{"--cacert", own + "x"}, console.ExitUsage, "no such file", nil},
		"both":             {[]string{"--cacert", own, "--insecure"}, console.ExitUsage, "use either --cacert or --insecure", nil},
		"not of a target":  {[]string{"--insecure", "--target", "http://127.0.0.1:1"}, console.ExitUsage, "--insecure needs --target https://", nil},
		"http to its port": {[]string{"--target", strings.Replace(s.URL, "https", "http", 1)}, console.ExitContender, "speaks https, not http: use https://", nil},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			args := []string{"run", "--headless", "--profile", mine, "-o", out}
			if !strings.Contains(strings.Join(c.args, " "), "--target") {
				args = append(args, "--target", s.URL)
			}
			code, text := locbench(t, nil, append(args, c.args...)...)
			if code != c.code || !strings.Contains(strings.Join(strings.Fields(text), " "), c.says) {
				t.Fatalf("exit code %d, want %d and %q\n%s", code, c.code, c.says, text)
			}
			if code != console.ExitOK {
				return
			}
			run, trials, err := results.Read(out)
			if err != nil || trials[0].Steps[0].Load.AllSucceeded() != 20 || run.TLS == nil || *run.TLS != *c.tls {
				t.Errorf("%+v, %v", run.TLS, err)
			}
			page, err := os.ReadFile(filepath.Join(out, "summary.md"))
			if want := strings.Join(c.args, " "); err != nil || strings.Count(string(page), c.args[0]) < 2 {
				t.Errorf("summary.md does not say %s: %v", want, err)
			}
		})
	}
}

// A secret from the environment is in no file; a resumed run reads it again, and the command under
// "Reproduce" runs.
func TestSecretsOfTheEnvironment(t *testing.T) {
	const secret = "hunter2-of-the-environment"
	s, requests := recorder(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/orders" && r.Header.Get("Authorization") != "Bearer "+secret {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	dir := t.TempDir()
	mine := fileOf(t, "mine.yaml", `requests: [{name: order, method: POST, path: /orders, header: {Authorization: "Bearer ${TOKEN}"}, body: '{"{{id}}": 7}'}]
rounds: 2
thresholds: ["throughput>900000000 stop=run"]
`+twenty)
	out := filepath.Join(dir, "out")
	env := map[string]string{"TOKEN": secret}
	args := []string{"run", "--headless", "--profile", mine, "--target", "old=" + s.URL, "-o", out}
	if code, text := locbench(t, nil, args...); code != console.ExitUsage || !strings.Contains(text, `environment variable unset or empty: TOKEN (request "order")`) {
		t.Fatalf("without it: exit code %d\n%s", code, text)
	}
	code, text := locbench(t, env, args...)
	if code != console.ExitThreshold || requests.of("/orders") < 20 {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	// The last request shows whether the target still responds.
	if all := requests.lines(); !strings.HasSuffix(all[len(all)-2], secret+` {"{id}": 7}`) || !strings.HasPrefix(all[len(all)-1], "GET / ") {
		t.Errorf("last requests %q", all[len(all)-2:])
	}
	if code, text := locbench(t, nil, "run", "--headless", "--resume", out); code != console.ExitUsage || !strings.Contains(text, "TOKEN") {
		t.Errorf("resumed without it: exit code %d\n%s", code, text)
	}
	if code, text := locbench(t, env, "run", "--headless", "--resume", out); code != console.ExitThreshold || strings.Contains(text, secret) {
		t.Errorf("resumed: exit code %d\n%s", code, text)
	}
	files, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		if data, err := os.ReadFile(f); err != nil || bytes.Contains(data, []byte(secret)) {
			t.Errorf("the secret is in %s (%v)", f, err)
		}
	}

	page, err := os.ReadFile(filepath.Join(out, "summary.md"))
	testenv.OK(t, err)
	_, repeat, _ := strings.Cut(string(page), "Reproduce")
	command := regexp.MustCompile("(?s)```sh\n(locbench run --profile [^\n]*)\n```").FindStringSubmatch(repeat)
	profile := regexp.MustCompile("(?s)```yaml\n(.*?)\n```").FindStringSubmatch(repeat)
	if command == nil || profile == nil || !strings.Contains(repeat, "Set TOKEN in the environment") {
		t.Fatalf("no command to repeat the run:\n%s", repeat)
	}
	t.Chdir(dir)
	name := regexp.MustCompile(`--profile (\S+)`).FindStringSubmatch(command[1])[1]
	testenv.OK(t, os.WriteFile(name, []byte(profile[1]+"\n"), 0o600))
	before := requests.of("/orders")
	again := append(words(strings.TrimPrefix(command[1], "locbench ")), "-o", "again")
	if code, text := locbench(t, env, again...); code != console.ExitThreshold || requests.of("/orders") < before+20 {
		t.Errorf("%s: exit code %d, %d requests\n%s", command[1], code, requests.of("/orders")-before, text)
	}
}
