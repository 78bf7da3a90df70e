//go:build unix

package machine

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestBusy(t *testing.T) {
	dir := t.TempDir()
	open := func() *Busy {
		t.Helper()
		b, err := OpenBusy(dir)
		testenv.OK(t, err)
		return b
	}
	others := func(run string, b *Busy, want bool) {
		t.Helper()
		testenv.Equal(t, b.Others(), want, run)
	}
	first := open()
	others("the first", first, false)
	others("the first, again", first, false)
	second := open()
	others("the second", second, true)
	others("the first, with the second", first, true)
	testenv.Fails(t, first.Close(), "")
	third := open()
	others("the third", third, true) // the second is still in progress
	third.Close()
	others("the second, alone", second, false)
	second.Close()
	if info, err := os.Stat(filepath.Join(dir, "locbench.lock")); err != nil || info.Size() != 0 || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestOpenBusy_Hostile: a link, pipe or folder in place of the lock is an error, and never waited
// for.
func TestOpenBusy_Hostile(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"is a link":   func(path string) error { return os.Symlink("/etc/passwd", path) },
		"is a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"is a folder": func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			testenv.OK(t, put(filepath.Join(dir, "locbench.lock")))
			testenv.Fails(t, testenv.Err(OpenBusy(dir)), name)
		})
	}
	if _, err := OpenBusy(filepath.Join(t.TempDir(), "missing")); !os.IsNotExist(err) {
		t.Error(err)
	}
}
