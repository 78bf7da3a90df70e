//go:build unix

package machine

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// TestBusy: a run sees the others that are in progress, with process and folder, from the time when
// they have begun until they have ended, however they end.
func TestBusy(t *testing.T) {
	dir := t.TempDir()
	open := func(pid int, results string) *Busy {
		t.Helper()
		return testenv.Must(OpenBusy(dir, Active{pid, results}))(t)
	}
	first := open(11, "/a")
	testenv.Equal(t, first.Others(), nil)
	second := open(22, "/b")
	testenv.Equal(t, second.Others(), []Active{{11, "/a"}})
	testenv.Equal(t, first.Others(), []Active{{22, "/b"}})
	testenv.OK(t, first.Close())
	third := open(33, "/c")
	testenv.Equal(t, third.Others(), []Active{{22, "/b"}})
	third.file.Close() // as if killed: its file is left
	testenv.Equal(t, second.Others(), nil)
	left := testenv.Must(os.ReadDir(dir))(t)
	testenv.Check(t, len(left) == 1 && left[0].Name() == filepath.Base(second.path), "%v", left)
	testenv.Equal(t, testenv.Must(os.Stat(second.path))(t).Mode().Perm(), 0o644)
	testenv.OK(t, second.Close())
	testenv.OK(t, (*Busy)(nil).Close())
	testenv.Equal(t, (*Busy)(nil).Others(), nil)
}

// TestBusy_Hostile: what others have put there is no run, is left alone, and is never waited for.
func TestBusy_Hostile(t *testing.T) {
	dir := t.TempDir()
	b := testenv.Must(OpenBusy(dir, Active{1, "/a"}))(t)
	defer b.Close()
	at := func(name string) string { return filepath.Join(dir, activePrefix+name) }
	testenv.OK(t, os.Symlink("/etc/passwd", at("link")))
	testenv.OK(t, syscall.Mkfifo(at("pipe"), 0o600))
	testenv.OK(t, os.Mkdir(at("folder"), 0o755))
	for name, text := range map[string]string{
		"empty": "", "text": "x", "large": `{"pid":1,"dir":"` + strings.Repeat("x", maxActive) + `"}`, "without a process": `{"pid":0,"dir":"/x"}`, "nowhere": `{"pid":3}`,
	} {
		testenv.OK(t, os.WriteFile(at(name), []byte(text), 0o600))
	}
	testenv.Equal(t, b.Others(), nil)
	testenv.Equal(t, len(testenv.Must(os.ReadDir(dir))(t)), 9)
	_, err := OpenBusy(filepath.Join(t.TempDir(), "missing"), Active{})
	testenv.Check(t, os.IsNotExist(err), "%v", err)
}
