package contenders

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

func TestBuildAllReportsFailuresAtTheEnd(t *testing.T) {
	list := []bench.Service{{Name: "a", Variant: "x"}, {Name: "b"}, {Name: "a", Variant: "y"}, {Name: "c"}}
	var out, stderr bytes.Buffer
	var mu sync.Mutex
	busy, most, byName := 0, 0, map[string]int{}
	err := buildAll(t.Context(), console.Env{Stdout: &out, Stderr: &stderr}, list, 2, bench.RuntimeDocker,
		func(_ context.Context, svc bench.Service, progress func(string)) (bench.Artifact, error) {
			mu.Lock()
			busy++
			byName[svc.Name]++
			if byName[svc.Name] > 1 {
				t.Errorf("two variants of %s at the same time", svc.Name)
			}
			most = max(most, busy)
			mu.Unlock()
			progress("compiling\x1b[2J")
			mu.Lock()
			busy--
			byName[svc.Name]--
			mu.Unlock()
			if svc.Name == "b" {
				return bench.Artifact{}, errors.New("build contender b: crate not found")
			}
			return bench.Artifact{Image: "locbench/" + svc.Name, ImageSize: 5 << 20}, nil
		})
	if console.ExitCode(t.Context(), err) != console.ExitContender || !strings.Contains(err.Error(), "crate not found") || !strings.Contains(err.Error(), "1 of 4 builds failed") {
		t.Errorf("error %v", err)
	}
	if most > 2 {
		t.Errorf("%d at the same time", most)
	}
	for _, want := range []string{"a:x: image locbench/a", "a:y: image", "c: image"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("standard output lacks %q:\n%s", want, &out)
		}
	}
	if !strings.Contains(stderr.String(), "b: failed after") || strings.Contains(stderr.String(), "\x1b") {
		t.Errorf("standard error:\n%s", &stderr)
	}
}

func TestBuildAllStopsGracefully(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	var mu sync.Mutex
	begun := 0
	err := buildAll(ctx, console.Env{Stdout: io.Discard, Stderr: io.Discard}, []bench.Service{{Name: "a"}, {Name: "b"}, {Name: "c"}}, 1, bench.RuntimeDocker,
		func(ctx context.Context, _ bench.Service, _ func(string)) (bench.Artifact, error) {
			mu.Lock()
			begun++
			mu.Unlock()
			cancel(why)
			<-ctx.Done()
			return bench.Artifact{}, context.Cause(ctx)
		})
	if !errors.Is(err, why) || begun != 1 {
		t.Errorf("%v after %d builds", err, begun)
	}
}

func TestBuildProgress(t *testing.T) {
	var out, stderr bytes.Buffer
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	a, b := bench.Service{Name: "a"}, bench.Service{Name: "b"}
	took := bench.Artifact{Image: "a", BuildTime: 40 * time.Second}
	testenv.OK(t, contender.RecordBuild(a, bench.RuntimeDocker, took, contender.BuildOptions{}))
	p := buildProgress{env: console.Env{Stdout: &out, Stderr: &stderr}, jobs: 2, total: 3, runtime: bench.RuntimeDocker}
	p.begin(a)
	p.begin(b)
	p.line(a, "com\x1bpiling")
	p.end(&out, a, "built\nwell")
	p.end(&stderr, b, "stopped")
	testenv.Equal(t, out.String(), "a: built well\n", &out)
	if want := "a (1 of 3), 40.0 s last time\nb (2 of 3)\na  com␛piling\nb: stopped\n"; stderr.String() != want {
		t.Errorf("standard error: %q, want %q", &stderr, want)
	}
}
