package results

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

func readTrial(t *testing.T, dir, name string, trial *bench.TrialResult) error {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return readJSON(root, name, name, maxFile, trial)
}

// readFiles reads a results folder with these files.
func readFiles(t *testing.T, run, trial []byte) (bench.Run, []bench.TrialResult, error) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string][]byte{RunFile: run, "go-nethttp-1.json": trial} {
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
