package contender_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

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
		h := testenv.Must(contender.SourceHash(svc))(t)
		return h
	}
	base := hash(sources())
	for _, same := range [][]string{{"target/out", "1"}, {"README.md", "words"}, {".gitignore", "target"}, {".git/index", "1"}, {".git", "gitdir: /x"}} {
		testenv.Equal(t, hash(sources(same...)), base, same)
	}
	for _, other := range [][]string{{"service.yaml", "y"}, {"Dockerfile", "FROM x"}, {"src/main.sh", "#!/bin/sh\necho"}, {"src/b", ""}} {
		testenv.Check(t, hash(sources(other...)) != base, "%v does not change the hash", other)
	}
	// The hash is the same on disk, with x bits and folders, as in the binary.
	dir := t.TempDir()
	testenv.OK(t, os.CopyFS(dir, sources().Files))
	testenv.OK(t, os.Chmod(filepath.Join(dir, "src", "main.sh"), 0o755))
	testenv.OK(t, os.MkdirAll(filepath.Join(dir, "empty"), 0o755))
	testenv.Equal(t, hash(bench.Service{Files: os.DirFS(dir)}), base, "another hash on disk")
}
