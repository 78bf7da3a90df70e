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
