package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// refusing is an address of this machine that refuses connections.
const refusing = "http://127.0.0.1:1"

// runsNothing runs locbench in its own folder and fails unless it ends with code and leaves no
// files.
func runsNothing(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	got, stdout, stderr := shell(nil).runs(t, append(args, "-o", filepath.Join(dir, "results", "x"))...)
	testenv.Equal(t, got, code, args)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	has(t, "standard error", stderr, "nothing ran; no results saved")
	return stdout, stderr
}

// locbench gives up a store or target that never responds, and saves nothing of the run or the
// search. The target is a contender with a short timeout in its manifest.
func TestNothingRan(t *testing.T) {
	services := folderOf(t, map[string]string{"mine/service.yaml": `{name: mine, title: Mine, language: Go, framework: none, version: "1",
  endpoints: all, port: 8080, ready: {timeout: 100ms}, process: {command: [mine]}}`})
	target := []string{"mine", "--no-checks", "--services", services, "--target", refusing}
	for name, c := range map[string]struct {
		args   []string
		code   int
		reason string
		most   int // how often the reason may be there
	}{
		"store": {[]string{"run", "--headless", "--runtime", "process", "--elastic", refusing}, console.ExitFailure, "connection refused", 1},
		"run":   {append([]string{"run", "--headless"}, target...), console.ExitContender, "not ready after 100ms", 1},
		"capacity": {append([]string{"capacity", "--slo", "p99<1s"}, target...), console.ExitContender,
			"not ready after 100ms", 3},
	} {
		t.Run(name, func(t *testing.T) {
			out, stderr := runsNothing(t, c.code, c.args...)
			if n := strings.Count(stderr, c.reason); out != "" || n < 1 || n > c.most {
				t.Errorf("standard output %q; the reason is there %d times:\n%s", out, n, stderr)
			}
		})
	}
}
