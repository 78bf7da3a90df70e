//go:build acceptance && engine && unix

package main

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/docker/dockertest"
	"github.com/locbench/locbench/internal/testenv"
)

// TestSecrets runs contenders that write their whole environment to their log, one of which dies,
// and searches all output: both streams, every file of the results, every report, export and
// comparison. The plain suite has the secrets of targets, stores and responses.
func TestSecrets(t *testing.T) {
	t.Parallel()
	secrets := []string{"correct-horse-battery", "bearer-of-good-news", "open-sesame-by-pwd", "swordfish-of-the-dsn"}
	dir, services := t.TempDir(), t.TempDir()
	for name, command := range map[string]string{"talks": `obey, "{{.Port}}"`, "dies": `exit, "3"`} {
		writeFile(t, filepath.Join(services, name, "service.yaml"), `name: `+name+`
language: Go
framework: none
version: "1"
endpoints: [get]
port: 8080
env: {DB_PASSWORD: `+secrets[0]+`, MYSQL_PWD: `+secrets[2]+`, DATABASE: "root:`+secrets[3]+`@tcp(10.0.0.5:3306)/x", GREETING: hello}
ready: {path: /spent, timeout: 10s}
process: {command: [`+dockertest.Helper(t)+`, env, `+command+`]}
`)
	}
	profile := profileFile(t, `contenders: [talks, dies]
runtime: process
requests: [{path: "/yield?n=1", header: {Authorization: Bearer `+secrets[1]+`}}]
checks: {lifecycle: none, suites: []}
steps: [{connections: 2}]
`)
	shown := map[string]string{}
	run := func(want int, args ...string) string {
		t.Helper()
		code, stdout, stderr := locbench(t, dir, args...)
		testenv.Need(t, code == want, "%q: exit code %d\n%s%s", args, code, stdout, stderr)
		shown[strings.Join(args, " ")] = stdout + stderr
		return stdout + stderr
	}
	run(3, "run", "--headless", "-v", "--services", services, "-p", profile, "--duration", "1s", "-o", "out")
	lines := run(3, "run", "--json", "--services", services, "-p", profile, "--duration", "300ms", "-o", "again")
	testenv.Check(t, strings.Contains(lines, "DB_PASSWORD=***") && strings.Contains(lines, "GREETING=hello"),
		"the log of the contender is not in the events, or lost more than its password")
	for _, format := range []string{"md", "csv", "json"} {
		run(0, "report", "out", "--format", format)
	}
	for _, format := range []string{"csv", "json"} {
		run(0, "export", "out", "--format", format, "-o", "export-"+format)
	}
	run(0, "compare", "out", "again")
	run(2, "run", "--resume", "out", "--services", services, "--headless") // its header was not saved
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			shown[path] = readFile(t, path)
		}
		return err
	})
	testenv.Need(t, err == nil && len(shown) >= 20, "%d outputs, %v", len(shown), err)
	for name, text := range shown {
		for _, s := range secrets {
			if i := strings.Index(text, s); i >= 0 {
				t.Errorf("%s shows %s: …%s", name, s, text[max(0, i-200):min(len(text), i+len(s)+100)])
			}
		}
	}
}
