package cli

import (
	"bytes"
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
	var out, errs bytes.Buffer
	args = append(args, "-o", filepath.Join(dir, "results", "x"))
	if got := Main(t.Context(), Env{Args: args, Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if !strings.Contains(errs.String(), "nothing ran; no results saved") {
		t.Errorf("output:\n%s", errs.String())
	}
	return out.String(), errs.String()
}

func TestNothingRanWithoutItsStore(t *testing.T) {
	_, stderr := runsNothing(t, console.ExitFailure, "run", "--headless", "--runtime", "process", "--elastic", refusing)
	if n := strings.Count(stderr, "connection refused"); n != 1 {
		t.Errorf("the reason is there %d times:\n%s", n, stderr)
	}
}

// locbench gives up a target that never responds, and saves nothing of the run or the search. The
// target is a contender with a short timeout in its manifest.
func TestNothingRan_TargetGivenUp(t *testing.T) {
	services := t.TempDir()
	testenv.OK(t, os.Mkdir(filepath.Join(services, "mine"), 0o755))
	manifest := `{name: mine, title: Mine, language: Go, framework: none, version: "1", endpoints: all, port: 8080, ready: {timeout: 100ms}, process: {command: [mine]}}`
	testenv.OK(t, os.WriteFile(filepath.Join(services, "mine", "service.yaml"), []byte(manifest), 0o600))
	for name, c := range map[string]struct {
		args []string
		most int // how often the reason may be there
	}{
		"run":      {[]string{"run", "--headless"}, 1},
		"capacity": {[]string{"capacity", "--slo", "p99<1s"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			out, stderr := runsNothing(t, console.ExitContender, append(c.args, "mine", "--no-checks", "--services", services, "--target", refusing)...)
			if n := strings.Count(stderr, "not ready after 100ms"); out != "" || n < 1 || n > c.most {
				t.Errorf("standard output %q; the reason is there %d times:\n%s", out, n, stderr)
			}
		})
	}
}
