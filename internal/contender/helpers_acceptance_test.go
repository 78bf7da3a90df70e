//go:build acceptance

package contender_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// hello returns a static program that prints its arguments and environment.
func hello(t *testing.T, cgo bool) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no Go toolchain here")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module hello\n\ngo 1.21\n")
	text := "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"time\"\n)\n\nfunc main() {\n\tfmt.Println(\"hello\", os.Args[1:])\n\tif len(os.Args) == 2 && os.Args[1] == \"wait\" {\n\t\ttime.Sleep(time.Minute)\n\t}\n}\n"
	enabled := "CGO_ENABLED=0"
	if cgo {
		if _, err := exec.LookPath("gcc"); err != nil {
			t.Skip("no C compiler here")
		}
		enabled = "CGO_ENABLED=1"
		text = strings.Replace(text, "import (", "import \"C\"\n\nimport (", 1)
	}
	write(t, filepath.Join(dir, "main.go"), text)
	cmd := exec.Command("go", "build", "-race=false", "-ldflags=-s -w", "-o", "hello", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), enabled, "GOOS=linux", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	testenv.Need(t, err == nil, "%v: %s", err, out)
	return filepath.Join(dir, "hello")
}
