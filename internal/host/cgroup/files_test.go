package cgroup

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// fake makes a tree of files, in place of the kernel's: it shows what is read and written where,
// without rights. A name that ends in a slash is a folder, a content such as "-> x" a link. A folder that is created in it has no files, as if the kernel had no controllers.
func fake(t testing.TB, files map[string]string) Tree {
	t.Helper()
	root, all := t.TempDir(), fstest.MapFS{}
	for path, content := range files {
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
	if err := os.CopyFS(root, all); err != nil {
		t.Fatal(err)
	}
	return Tree{Root: root}
}

// content returns the files below top with their contents, and the folders, whose names end in a slash.
func content(t testing.TB, top string) map[string]string {
	t.Helper()
	all := map[string]string{}
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

func with(files map[string]string, more ...map[string]string) map[string]string {
	files = maps.Clone(files)
	for _, m := range more {
		maps.Copy(files, m)
	}
	return files
}
