package safe

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFileKeepsTheOldContentWhenItCannotWrite(t *testing.T) {
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
