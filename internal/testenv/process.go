//go:build acceptance

package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// BinaryVariable names the locbench that acceptance tests start: .ci/acceptance builds it once for
// all of them.
const BinaryVariable = "LOCBENCH_TEST_BINARY"

// Locbench returns the path of locbench, for tests that need it in its own process: the binary that
// BinaryVariable names, or one that is built once, as the README says. Only a static binary can be
// its own image.
func Locbench(t testing.TB) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(BinaryVariable); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "locbench-session-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "locbench")
	cmd := exec.Command("go", "build", "-race=false", "-trimpath", "-o", path, "github.com/locbench/locbench/cmd/locbench")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// SmallRun returns the arguments of a short run of two rounds of the given steps, and its results
// folder.
func SmallRun(t testing.TB, steps string) (args []string, out string) {
	t.Helper()
	dir := t.TempDir()
	profile := filepath.Join(dir, "small.yaml")
	text := `contenders: [go-nethttp]
rounds: 2
runtime: process
limits: {cpus: 1, memory: 64MiB}
needs: {elasticsearch: {from: embedded, cities: {count: 200, vertices: 12, seed: 1}}}
requests:
  - path: /city/v1/get?id={id}&language={language}
    ids: uniform
    languages: [cs]
timeout: 500ms
checks: {lifecycle: none, suites: []}
step_duration: 1s
steps: ` + steps + "\n"
	if err := os.WriteFile(profile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out = filepath.Join(dir, "out")
	return []string{"-p", profile, "-o", out}, out
}
