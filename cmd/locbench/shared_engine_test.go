//go:build acceptance && engine

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// A binary of plain 'go build' where a C compiler is needs shared libraries. It runs in its own
// container, also far from Go and the sources; its image is not built again.
func TestRun_SharedLibraries(t *testing.T) {
	testenv.Docker(t)
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no C compiler here")
	}
	binary := filepath.Join(t.TempDir(), "locbench")
	build := exec.Command("go", "build", "-race=false", "-o", binary, ".")
	build.Env = append(build.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command("ldd", binary).CombinedOutput(); err != nil || !strings.Contains(string(out), "libc.so") {
		t.Skipf("it is static: %v %s", err, out)
	}
	dir, ids := t.TempDir(), map[string]string{}
	for _, out := range []string{"first", "second"} {
		run := exec.Command(binary, "run", "--headless", "--profile", "quick", "--runtime", "docker",
			"--connections", "1", "--duration", "500ms", "--out", out)
		run.Dir, run.Env = dir, append(run.Environ(), "PATH=/nowhere")
		if text, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		_, trials := read(t, filepath.Join(dir, out))
		if r := trials[0]; r.State != bench.TrialComplete || r.Steps[0].Load.AllSucceeded() == 0 {
			t.Errorf("%s: %s, %+v", out, r.State, r.Instance)
		}
		if ids[out] = trials[0].Instance.ImageID; out == "second" && ids[out] != ids["first"] {
			t.Errorf("images %q", ids)
		}
	}
	dockerDo(t, "image", "rm", "-f", ids["first"])
}
