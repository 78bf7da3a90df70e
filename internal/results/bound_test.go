package results

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestRead_TooLarge checks that a file that is too large is an error.
func TestRead_TooLarge(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, RunFile)
	testenv.OK(t, os.WriteFile(file, nil, 0o600))
	if err := os.Truncate(file, maxFile+1); err != nil { // a hole: nothing is on disk
		t.Skip(err)
	}
	if _, _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "run.json is larger than the 128 MiB allowed") {
		t.Error(err)
	}
}
