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
	if err := WriteFile(filepath.Join(dir, "no", "such", "f.json"), []byte("x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("content %q", got)
	}
}

func TestCreateFile(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "f.json"), filepath.Join(dir, "link")
	testenv.OK(t, CreateFile(path, []byte("first")))
	testenv.OK(t, os.Symlink("nowhere", link))
	for _, there := range []string{path, link, dir} {
		if err := CreateFile(there, []byte("second")); !errors.Is(err, os.ErrExist) {
			t.Errorf("%s: %v", there, err)
		}
	}
	if got, _ := os.ReadFile(path); string(got) != "first" {
		t.Errorf("content %q", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("left: %v", entries)
	}
}
