package results

import (
	"os"
	"path/filepath"
	"testing"

	"locbench/internal/bench"
)

func readLeg(t *testing.T, dir, name string, leg *bench.LegResult) error {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return readJSON(root, name, name, maxFile, leg)
}

// readFiles reads a folder with these files.
func readFiles(t *testing.T, run, leg []byte) (bench.Run, []bench.LegResult, error) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string][]byte{RunFile: run, "go-nethttp-1.json": leg} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return read(root)
}
