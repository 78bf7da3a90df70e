package cgroup

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/locbench/locbench/internal/testenv"
)

// files are paths with contents.
type files = map[string]string

// fake makes a tree of files, in place of the kernel's: it shows what is read and written where,
// without rights. A name that ends in a slash is a folder, a content such as "-> x" a link. A
// folder that is created in it has no files, as if the kernel had no controllers.
func fake(t testing.TB, in files) Tree {
	t.Helper()
	root, all := t.TempDir(), fstest.MapFS{}
	for path, content := range in {
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(path, "/") {
			mode = fs.ModeDir | 0o755
		}
		to, link := strings.CutPrefix(content, "-> ")
		if link {
			mode = fs.ModeSymlink | 0o777
		}
		all[strings.TrimSuffix(path, "/")] = &fstest.MapFile{Data: []byte(to), Mode: mode}
	}
	testenv.OK(t, os.CopyFS(root, all))
	return Tree{Root: root}
}

// content returns the files below top with their contents, and the folders, whose names end in a
// slash.
func content(t testing.TB, top string) files {
	t.Helper()
	all := files{}
	if err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(top, path)
		switch {
		case err != nil || rel == ".":
			return err
		case e.IsDir():
			all[rel+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(path)
		all[rel] = string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func with(in files, more ...files) files {
	in = maps.Clone(in)
	for _, m := range more {
		maps.Copy(in, m)
	}
	return in
}
