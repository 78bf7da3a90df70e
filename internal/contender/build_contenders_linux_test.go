//go:build acceptance && contenders

package contender_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/testenv"
)

func TestDynamicBinary(t *testing.T) {
	builtin := bench.Service{Name: "go-nethttp", Variant: "builtin", Builtin: true}
	engine := fakeEngine{arch: runtime.GOARCH}
	dynamic := hello(t, true)
	for path, why := range map[string]string{dynamic: "linked to shared libraries (libc.so.6)", "build_test.go": "not a Linux binary"} {
		_, err := contender.BuildImage(t.Context(), engine, builtin, contender.BuildOptions{Self: path, Sources: t.TempDir()})
		var not *contender.NotStaticError
		if !errors.As(err, &not) || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "CGO_ENABLED=0 GOOS=linux GOARCH="+runtime.GOARCH+" go build ./cmd/locbench") {
			t.Errorf("%s: got %v, want %s", path, err, why)
		}
	}
	// With the sources available a static binary is built.
	sources := t.TempDir()
	write(t, filepath.Join(sources, "go.mod"), "module github.com/locbench/locbench\n\ngo 1.21\n")
	write(t, filepath.Join(sources, "cmd", "locbench", "main.go"), "package main\n\nfunc main() { println(\"static\") }\n")
	write(t, filepath.Join(sources, "deep", "er", "x"), "")
	var out bytes.Buffer
	opts := contender.BuildOptions{Self: dynamic, Sources: filepath.Join(sources, "deep", "er"), Cache: t.TempDir(), Out: &out}
	a, err := contender.BuildImage(t.Context(), engine, builtin, opts)
	if err != nil || !strings.HasPrefix(a.Image, "locbench/go-nethttp:builtin-") || !strings.Contains(out.String(), "building another from "+sources) {
		t.Errorf("%+v, %v, %s", a, err, &out)
	}
	engine.arch = "arm64"
	if runtime.GOARCH == "arm64" {
		engine.arch = "amd64"
	}
	_, err = contender.BuildImage(t.Context(), engine, builtin, contender.BuildOptions{Self: hello(t, false), Sources: os.TempDir()})
	testenv.Fails(t, err, "for another processor")
}

// TestDaemonThatHoldsTheOutput builds with a command that leaves a process which holds the output
// open.
func TestDaemonThatHoldsTheOutput(t *testing.T) {
	svc := shellService(script("sleep 600 & echo $! > pid; cp src/main.sh service"))
	a, err := contender.BuildProcess(t.Context(), svc, contender.BuildOptions{Cache: t.TempDir()})
	testenv.OK(t, err)
	testenv.Until(t, time.Minute, "the daemon has ended", func() bool { return !sleeps(t, filepath.Join(a.Dir, "pid")) })
}
