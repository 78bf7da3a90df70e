//go:build acceptance

// Package dockertest gives tests a program that misbehaves on request (see helper), as a file and
// as an image FROM scratch, which needs no pull.
package dockertest

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/testenv"
)

// Helper returns the path of the program, statically linked. It compiles it once per test binary.
func Helper(t testing.TB) string {
	t.Helper()
	return compile(t, runtime.GOOS)
}

var compiled struct {
	sync.Mutex
	paths map[string]string // by operating system
}

func compile(t testing.TB, system string) string {
	t.Helper()
	compiled.Lock()
	defer compiled.Unlock()
	if path := compiled.paths[system]; path != "" {
		return path
	}
	dir, err := os.MkdirTemp("", "locbench-session-")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "helper")
	cmd := exec.Command("go", "build", "-tags", "acceptance", "-race=false", "-o", path,
		"github.com/locbench/locbench/internal/docker/dockertest/helper")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("compile the helper: %v\n%s", err, out)
	}
	if compiled.paths == nil {
		compiled.paths = map[string]string{}
	}
	compiled.paths[system] = path
	return path
}

// Engine connects to the engine, or skips the test.
func Engine(t testing.TB) *docker.Engine {
	t.Helper()
	testenv.Docker(t)
	e, err := docker.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// Image builds an image with the program as its entry point until the end of the test.
func Image(t testing.TB, e *docker.Engine) string {
	t.Helper()
	data, err := os.ReadFile(compile(t, "linux"))
	if err != nil {
		t.Fatal(err)
	}
	dockerfile := "FROM scratch\nCOPY helper /helper\nENTRYPOINT [\"/helper\"]\n"
	files := Tar(t, map[string]string{"helper": string(data), "Dockerfile": dockerfile})
	tag := fmt.Sprintf("locbench-test-helper:%d-%d", os.Getpid(), time.Now().UnixNano())
	if _, err := e.BuildImage(t.Context(), files, docker.BuildOptions{Tag: tag}, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.RemoveImage(background(), tag); err != nil {
			t.Error(err)
		}
	})
	return tag
}

// background returns a context for what outlives the context of the test.
func background() context.Context { return context.Background() }

// Tar returns a build context of executable files.
func Tar(t testing.TB, files map[string]string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, content := range files {
		err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

// Left lists what is left of a run; a test expects nothing.
func Left(t testing.TB, e *docker.Engine, run string) []docker.Left {
	t.Helper()
	left, err := e.List(background(), run)
	if err != nil {
		t.Fatal(err)
	}
	return left
}
