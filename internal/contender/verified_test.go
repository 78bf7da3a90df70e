package contender_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/testenv"
)

func sources(more ...string) bench.Service {
	files := fstest.MapFS{
		"service.yaml": {Data: []byte("x")}, "Dockerfile": {Data: []byte("FROM scratch\n")}, "src/main.sh": {Data: []byte("#!/bin/sh\n")},
		".dockerignore": {Data: []byte("target\nservice.yaml\n")},
	}
	for i := 0; i+1 < len(more); i += 2 {
		files[more[i]] = &fstest.MapFile{Data: []byte(more[i+1])}
	}
	return bench.Service{Name: "web", Variant: "v", Files: files}
}

func TestSourceHash(t *testing.T) {
	hash := func(svc bench.Service) string {
		t.Helper()
		h, err := contender.SourceHash(svc)
		testenv.OK(t, err)
		return h
	}
	base := hash(sources())
	for _, same := range [][]string{{"target/out", "1"}, {"README.md", "words"}, {".gitignore", "target"}, {".git/index", "1"}, {".git", "gitdir: /x"}} {
		testenv.Equal(t, hash(sources(same...)), base, same)
	}
	for _, other := range [][]string{{"service.yaml", "y"}, {"Dockerfile", "FROM x"}, {"src/main.sh", "#!/bin/sh\necho"}, {"src/b", ""}} {
		if hash(sources(other...)) == base {
			t.Errorf("%v does not change the hash", other)
		}
	}
	// The hash is the same on disk, with x bits and folders, as in the binary.
	dir := t.TempDir()
	testenv.OK(t, os.CopyFS(dir, sources().Files))
	testenv.OK(t, os.Chmod(filepath.Join(dir, "src", "main.sh"), 0o755))
	testenv.OK(t, os.MkdirAll(filepath.Join(dir, "empty"), 0o755))
	testenv.Equal(t, hash(bench.Service{Files: os.DirFS(dir)}), base, "another hash on disk")
}

func TestVerifiedStates(t *testing.T) {
	svc, opts := sources(), contender.BuildOptions{Cache: t.TempDir()}
	hash, err := contender.SourceHash(svc)
	testenv.OK(t, err)
	if s, err := contender.KnownStates(opts); err != nil || len(s.Contenders) > 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	keep := func(key string, v contender.Verified) contender.States {
		t.Helper()
		testenv.OK(t, contender.KeepStates("", map[string]contender.Verified{key: v}, opts))
		s, err := contender.KnownStates(opts)
		testenv.OK(t, err)
		return s
	}
	keep("other", contender.Verified{Sources: "x", When: day(1)})
	mine := keep("web:v", contender.Verified{Sources: hash, When: day(2)})
	testenv.Equal(t, len(mine.Contenders), 2, mine)
	v, changed, ok := contender.VerifiedState(svc, contender.States{}, mine)
	if !ok || changed || v.String() != "yes 2026-11-02" {
		t.Errorf("%+v %v %v", v, changed, ok)
	}
	later := contender.States{Contenders: map[string]contender.Verified{"web:v": {Sources: "older sources", When: day(9), Failure: "it hung"}}}
	for _, order := range [][]contender.States{{mine, later}, {later, mine}} {
		if v, changed, ok := contender.VerifiedState(svc, order...); !ok || changed || v.When != day(2) {
			t.Errorf("a state of other sources wins: %+v %v %v", v, changed, ok)
		}
	}
	if v, changed, ok := contender.VerifiedState(sources("src/new", "1"), later, mine); !ok || !changed || v.String() != "failed 2026-11-09" {
		t.Errorf("after a change: %+v %v %v", v, changed, ok)
	}
	if _, _, ok := contender.VerifiedState(bench.Service{Name: "unknown", Files: svc.Files}, mine); ok {
		t.Error("a contender without a state is verified")
	}
	file := filepath.Join(opts.Cache, contender.VerifiedName)
	testenv.OK(t, os.WriteFile(file, []byte(`{"schema":2}`), 0o644))
	if err := contender.KeepStates("", nil, opts); err == nil {
		t.Error("a file of another schema was overwritten")
	}
}
