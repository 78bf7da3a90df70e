package testenv

import (
	"os"
	"path/filepath"
	"testing"
)

// Folder returns a new folder with files, by their names in it.
func Folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		Write(t, text, dir, name)
	}
	return dir
}

// Write writes a file, with its folders, and returns its path, of which elements are joined.
func Write(t testing.TB, text string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
	OK(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}
