//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/testenv"
)

// TestPipesAndDevicesAreRefused: a command that gets a pipe, a device or a folder instead of a file
// reports it, and does not wait for a writer or an end.
func TestPipesAndDevicesAreRefused(t *testing.T) {
	for kind, place := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			in := func(parts ...string) string {
				path := filepath.Join(append([]string{dir}, parts...)...)
				testenv.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
				testenv.OK(t, place(path))
				return path
			}
			file, resultsDir, contender, dump := in("file.yaml"), filepath.Dir(in("results", results.RunFile)), filepath.Dir(in("mine", "service.yaml")), filepath.Dir(in("dump", "city.ndjson"))
			testenv.OK(t, os.WriteFile(filepath.Join(dump, "city.mapping.json"), []byte(`{"properties":{}}`), 0o600))
			for _, args := range [][]string{
				{"run", "--headless", "--profile", file}, {"profiles", "show", file}, {"check", "http://127.0.0.1:1", "--suite", file},
				{"services", "validate", contender}, {"report", resultsDir}, {"run", "--resume", resultsDir}, {"compare", resultsDir, resultsDir},
				{"history", resultsDir}, {"export", resultsDir, "--format", "csv"},
				{"seed", "--elastic", "http://127.0.0.1:1", "--from", dump}, {"compare", resultsDir, resultsDir, "--floor", file},
				{"run", "--headless", "--target", "https://127.0.0.1:1", "--cacert", file, "--out", filepath.Join(dir, "out")},
				// as the folder itself
				{"report", file}, {"compare", file, file}, {"compare", resultsDir, file}, {"export", file, "--format", "csv"},
				{"history", file}, {"run", "--resume", file}, {"capacity", "--resume", file}, {"report", filepath.Join(file, results.RunFile)},
				{"services", "validate", file}, {"services", "list", "--services", file},
				{"seed", "--elastic", "http://127.0.0.1:1", "--from", file},
			} {
				said := make(chan string, 1)
				go func() { said <- saying(t, args...) }()
				select {
				case text := <-said:
					if strings.TrimSpace(text) == "" {
						t.Errorf("%q says nothing", args)
					}
				case <-time.After(30 * time.Second):
					t.Errorf("%q hangs", args)
				}
			}
		})
	}
}
