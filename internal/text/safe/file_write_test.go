package safe

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.json")
	testenv.OK(t, WriteFile(path, []byte("old")))
	err := WriteFile(filepath.Join(dir, "no", "such", "f.json"), []byte("x"))
	testenv.Check(t, errors.Is(err, os.ErrNotExist), "error %v", err)
	got, _ := os.ReadFile(path)
	testenv.Check(t, string(got) == "old", "content %q", got)
}

func TestCreateFile(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "f.json"), filepath.Join(dir, "link")
	testenv.OK(t, CreateFile(path, []byte("first")))
	testenv.OK(t, os.Symlink("nowhere", link))
	for _, there := range []string{path, link, dir} {
		err := CreateFile(there, []byte("second"))
		testenv.Check(t, errors.Is(err, os.ErrExist), "%s: %v", there, err)
	}
	got, _ := os.ReadFile(path)
	testenv.Check(t, string(got) == "first", "content %q", got)
	entries, _ := os.ReadDir(dir)
	testenv.Check(t, len(entries) == 2, "left: %v", entries)
}
