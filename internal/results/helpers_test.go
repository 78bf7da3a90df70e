package results

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func readTrial(t *testing.T, dir, name string, trial *bench.TrialResult) error {
	t.Helper()
	root := testenv.Must(os.OpenRoot(dir))(t)
	defer root.Close()
	return readJSON(root, name, name, maxFile, trial)
}

// readFiles reads a results folder with these files.
func readFiles(t *testing.T, run, trial []byte) (bench.Run, []bench.TrialResult, error) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string][]byte{RunFile: run, "go-nethttp-1.json": trial} {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	root := testenv.Must(os.OpenRoot(dir))(t)
	defer root.Close()
	return read(root)
}
