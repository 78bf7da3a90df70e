package contender_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/testenv"
)

func TestLastBuild(t *testing.T) {
	opts := contender.BuildOptions{Cache: t.TempDir()}
	svc := bench.Service{Name: "web", Variant: "lto"}
	last := func(want time.Duration, of bench.Service, rt bench.Runtime, what string) {
		t.Helper()
		testenv.Equal(t, contender.LastBuild(of, rt, opts), want, what)
	}
	last(0, svc, bench.RuntimeDocker, "before any build")
	for _, build := range []struct {
		artifact bench.Artifact
		want     time.Duration
	}{
		{bench.Artifact{BuildTime: time.Minute}, time.Minute},
		{bench.Artifact{BuildTime: time.Second, BuildCached: true}, time.Minute},
		{bench.Artifact{BuildTime: time.Hour}, time.Hour},
	} {
		testenv.OK(t, contender.RecordBuild(svc, bench.RuntimeDocker, build.artifact, opts))
		last(build.want, svc, bench.RuntimeDocker, "after a build")
	}
	last(0, bench.Service{Name: "web"}, bench.RuntimeDocker, "another variant")
	last(0, bench.Service{Name: "web-lto"}, bench.RuntimeDocker, "another contender")
	last(0, svc, bench.RuntimeProcess, "the other runtime")
	files, err := filepath.Glob(filepath.Join(opts.Cache, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	testenv.OK(t, os.WriteFile(files[0], []byte("{"), 0o644))
	last(0, svc, bench.RuntimeDocker, "half a file")
}
