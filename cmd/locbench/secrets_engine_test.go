//go:build acceptance && engine && unix

package main

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/contender/docker/dockertest"
	"github.com/locbench/locbench/internal/testenv"
)

const (
	ofTheDB     = "correct-horse-battery"
	ofTheHeader = "bearer-of-good-news"
	ofTheURL    = "tr0ub4dor-and-3"
	ofMySQL     = "open-sesame-by-pwd"
	ofTheDSN    = "swordfish-of-the-dsn"
)

// TestSecrets runs contenders that write their whole environment to their log, one of
// which dies, and searches all output: both streams, every file of the results, every report,
// export and comparison.
func TestSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	helper := dockertest.Helper(t)
	manifest := func(name, command string) {
		t.Helper()
		folder := filepath.Join(dir, "services", name)
		testenv.OK(t, os.MkdirAll(folder, 0o755))
		text := `name: ` + name + `
language: Go
framework: none
version: "1"
endpoints: [get]
port: 8080
env: {DB_PASSWORD: ` + ofTheDB + `, MYSQL_PWD: ` + ofMySQL + `, DATABASE: "root:` + ofTheDSN + `@tcp(10.0.0.5:3306)/x", GREETING: hello}
ready: {path: /spent, timeout: 10s}
process: {command: [` + helper + `, env, ` + command + `]}
`
		writeFile(t, filepath.Join(folder, "service.yaml"), text)
	}
	manifest("talks", `obey, "{{.Port}}"`)
	manifest("dies", `exit, "3"`)
	profile := filepath.Join(dir, "leaky.yaml")
	text := `contenders: [talks, dies]
runtime: process
store: none
requests: [{path: "/yield?n=1", header: {Authorization: Bearer ` + ofTheHeader + `}}]
checks: {lifecycle: none, suites: []}
steps: [{connections: 2}]
`
	writeFile(t, profile, text)
	var shown []string
	run := func(want int, args ...string) string {
		t.Helper()
		code, stdout, stderr := locbench(t, dir, args...)
		if code != want {
			t.Fatalf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
		}
		shown = append(shown, "locbench "+args[0]+"\n"+stdout+stderr)
		return stdout + stderr
	}
	run(3, "run", "--headless", "-v", "--services", "services", "-p", profile, "--duration", "1s", "-o", "out")
	lines := run(3, "run", "--json", "--services", "services", "-p", profile, "--duration", "300ms", "-o", "again")
	if !strings.Contains(lines, "DB_PASSWORD=***") || !strings.Contains(lines, "GREETING=hello") {
		t.Error("the log of the contender is not in the events, or lost more than its password")
	}
	for _, format := range []string{"md", "csv", "json"} {
		run(0, "report", "out", "--format", format)
	}
	for _, format := range []string{"csv", "json", "gobench", "prometheus", "harness"} {
		run(0, "export", "out", "--format", format, "-o", "export-"+format)
	}
	run(0, "compare", "out", "again")
	run(2, "run", "--resume", "out", "--services", "services", "--headless") // its header was not saved

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != ofTheURL {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	address := "http://me:" + ofTheURL + "@" + server.Listener.Addr().String()
	run(0, "run", "--headless", "--target", address, "--no-checks", "--store", "none", "--duration", "300ms", "--connections", "1", "-o", "target")
	closed := "http://me:" + ofTheURL + "@127.0.0.1:9"
	code, stdout, stderr := locbench(t, dir, "run", "--headless", "--elastic", closed, "--runtime", "process", "-o", "unreachable")
	if shown = append(shown, stdout+stderr); code == 0 {
		t.Error("no error about an unreachable store")
	}

	_ = os.RemoveAll(filepath.Join(dir, "services"))
	_ = os.Remove(profile)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		shown = append(shown, path+"\n"+string(data))
		return err
	})
	if err != nil || len(shown) < 20 {
		t.Fatalf("%d outputs, %v", len(shown), err)
	}
	for _, text := range shown {
		for _, s := range []string{ofTheDB, ofTheHeader, ofTheURL, ofMySQL, ofTheDSN} {
			if i := strings.Index(text, s); i >= 0 {
				name, _, _ := strings.Cut(text, "\n")
				t.Errorf("%s shows %s: …%s", name, s, text[max(0, i-200):min(len(text), i+len(s)+100)])
			}
		}
	}
}
