//go:build unix

package contenders

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// TestBuildShowsNoSecrets: the commands of a build, their output and the error of a failed one
// contain no secrets.
func TestBuildShowsNoSecrets(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	dir := filepath.Join(t.TempDir(), "mine")
	testenv.OK(t, os.Mkdir(dir, 0o755))
	manifest := `language: Sh
framework: sh
version: "1"
env: {DB_PASSWORD: env-secret-value}
process:
  build:
    - [sh, -c, "echo said env-secret-value and command-secret-value"]
    - [sh, -c, "echo --db-password build-secret-value '{\"pin\":\"0000\"}'; exit 3", --token, next-secret-value]
  command: [sh, --db-password, command-secret-value]
`
	testenv.OK(t, os.WriteFile(filepath.Join(dir, "service.yaml"), []byte(manifest), 0o600))
	var out, stderr bytes.Buffer
	err := Build(t.Context(), console.Env{Stdout: &out, Stderr: &stderr, Getenv: func(string) string { return "" }}, BuildOptions{
		Names: []string{"mine"}, Dirs: []string{dir}, Runtime: bench.RuntimeProcess,
	})
	if err == nil {
		t.Fatal("the build did not fail")
	}
	text := out.String() + stderr.String() + err.Error()
	if !strings.Contains(text, "said *** and ***") || !strings.Contains(text, "failed after") {
		t.Errorf("output and error:\n%s", text)
	}
	for _, secret := range []string{"-secret-value", "0000"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is not masked:\n%s", secret, text)
		}
	}
}
