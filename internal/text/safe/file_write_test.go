package safe

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFileKeepsTheOldContentAfterAnError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.json")
	if err := WriteFile(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(dir, "no", "such", "f.json"), []byte("x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("content %q", got)
	}
}

func TestCreateFileKeepsAnExistingFile(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "f.json"), filepath.Join(dir, "link")
	if err := CreateFile(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
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
