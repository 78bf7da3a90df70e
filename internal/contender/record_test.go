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

func TestBuildRecord(t *testing.T) {
	opts := contender.BuildOptions{Cache: t.TempDir()}
	svc := bench.Service{Name: "web", Variant: "lto"}
	if _, ok := contender.LastBuild(svc, bench.RuntimeDocker, opts); ok {
		t.Error("a record before any build")
	}
	a := bench.Artifact{Image: "locbench/web:lto-1", ImageSize: 7, BuildTime: time.Minute}
	testenv.OK(t, contender.RecordBuild(svc, bench.RuntimeDocker, a, opts))
	unchanged := bench.Artifact{Image: a.Image, ImageSize: 7, BuildCached: true}
	testenv.OK(t, contender.RecordBuild(svc, bench.RuntimeDocker, unchanged, opts))
	r, ok := contender.LastBuild(svc, bench.RuntimeDocker, opts)
	if !ok || r.BuildTime != time.Minute || r.NoCache || !r.Of(unchanged) || r.Of(bench.Artifact{Image: "locbench/web:lto-2"}) {
		t.Errorf("%+v, %v", r, ok)
	}
	whole := opts
	whole.Rebuild = true
	for _, step := range []struct {
		opts contender.BuildOptions
		took time.Duration
		want time.Duration
	}{{whole, time.Hour, time.Hour}, {opts, time.Second, time.Hour}} {
		a.BuildTime = step.took
		testenv.OK(t, contender.RecordBuild(svc, bench.RuntimeDocker, a, step.opts))
		if r, _ := contender.LastBuild(svc, bench.RuntimeDocker, opts); r.BuildTime != step.want || !r.NoCache {
			t.Errorf("after a build of %v: %+v", step.took, r)
		}
	}
	for name, other := range map[string]bench.Service{"variant": {Name: "web"}, "contender": {Name: "web-lto"}} {
		t.Run(name, func(t *testing.T) {
			if r, ok := contender.LastBuild(other, bench.RuntimeDocker, opts); ok {
				t.Errorf("another %s has the record %+v", name, r)
			}
		})
	}
	if _, ok := contender.LastBuild(svc, bench.RuntimeProcess, opts); ok {
		t.Error("a record of the other runtime")
	}
	files, err := filepath.Glob(filepath.Join(opts.Cache, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	testenv.OK(t, os.WriteFile(files[0], []byte("{"), 0o644))
	if _, ok := contender.LastBuild(svc, bench.RuntimeDocker, opts); ok {
		t.Error("half a file counts as a record")
	}
}
