package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.AloneOnMachine(m, machine.RunsVariable)) }

// shell has the environment variables of the commands that a test runs.
type shell map[string]string

// runs runs a command and returns its exit code and both of its outputs.
func (env shell) runs(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(name string) string { return env[name] }})
	return code, out.String(), errs.String()
}

// says runs a command, and fails unless it ends with code and prints the parts of want.
func (env shell) says(t testing.TB, code int, want string, args ...string) (text string) {
	t.Helper()
	got, out, errs := env.runs(t, args...)
	testenv.Equal(t, got, code, args, out, errs)
	has(t, strings.Join(args, " "), out+errs, want)
	return out + errs
}

// says is for commands with an empty environment.
func says(t testing.TB, code int, want string, args ...string) (text string) {
	t.Helper()
	return shell(nil).says(t, code, want, args...)
}

// saying runs a command that may fail and returns what it prints.
func saying(t testing.TB, args ...string) string {
	t.Helper()
	_, out, errs := shell(nil).runs(t, args...)
	return out + errs
}

// has fails unless a text has each part of want, which "…" separates, wherever its lines are broken.
func has(t testing.TB, where, text, want string) {
	t.Helper()
	for part := range strings.SplitSeq(want, "…") {
		testenv.Check(t, strings.Contains(text, part) || strings.Contains(unwrapped(text), part),
			"%s: no %q in\n%.4000s", where, part, text)
	}
}

// lacks fails if a text has one of the parts.
func lacks(t testing.TB, where, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if at := strings.Index(text, part); at >= 0 {
			t.Errorf("%s has %q: %.200s", where, part, text[max(0, at-80):])
		}
	}
}

// unwrapped joins the lines of a wrapped text.
func unwrapped(s string) string { return strings.Join(strings.Fields(s), " ") }

// into are the arguments of a run without a screen into a folder.
func into(dir string, args ...string) []string {
	return append([]string{"run", "--headless", "-o", dir}, args...)
}

// outOf returns a folder for results, which does not exist yet.
func outOf(t testing.TB) string { return filepath.Join(t.TempDir(), "out") }

func readResults(t testing.TB, dir string) (bench.Run, []bench.TrialResult) {
	t.Helper()
	run, trials, err := results.Read(dir)
	testenv.OK(t, err)
	return run, trials
}

// without fails if a file of a results folder, or the text of its run, has a secret.
func without(t testing.TB, dir, text string, secrets ...string) {
	t.Helper()
	files := outputs(t, dir)
	files["text"] = text
	for name, text := range files {
		lacks(t, name, text, secrets...)
	}
}

// output returns a file of a results folder.
func output(t testing.TB, dir, name string) string {
	t.Helper()
	data := testenv.Must(os.ReadFile(filepath.Join(dir, name)))(t)
	return string(data)
}

// outputs returns the files of a results folder by their names.
func outputs(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	testenv.Need(t, err == nil && len(entries) >= 5, "%v, %v", entries, err)
	all := map[string]string{}
	for _, e := range entries {
		if e.Type().IsRegular() {
			all[e.Name()] = output(t, dir, e.Name())
		}
	}
	return all
}

func fileOf(t testing.TB, name, text string) string {
	t.Helper()
	return testenv.Write(t, text, t.TempDir(), name)
}

// twenty is the end of a profile whose load is twenty requests.
const twenty = "timeout: 1m\nsteps: [{connections: 1, max_requests: 20}]\n"

// requestLog records the requests to a server.
type requestLog struct {
	sync.Mutex
	all []string // "GET /x?y=1 header body"
}

// of returns the number of requests with that path and query.
func (l *requestLog) of(path string) (n int) {
	for _, line := range l.lines() {
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
func recorder(t testing.TB, respond http.HandlerFunc) (*httptest.Server, *requestLog) {
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
