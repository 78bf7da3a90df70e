package launch

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestNeighbours(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	t.Setenv(RunsVariable, dir)
	files := func() (names []string) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	seen := func(want ...string) {
		t.Helper()
		all, err := Neighbours()
		if err != nil || len(all) != len(want) {
			t.Errorf("%v, %v, want %q", all, err, want)
			return
		}
		for i, n := range all {
			if n.String() != want[i] {
				t.Errorf("%q, want %q", n, want[i])
			}
		}
	}
	seen() // no folder
	withdraw, err := Announce("own", time.Now(), "")
	if err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o777 || st.Mode()&os.ModeSticky == 0 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	seen() // not itself
	if data, err := os.ReadFile(filepath.Join(dir, files()[0])); err != nil || !strings.Contains(string(data), `{"owner":"`+owner()+`","run":"own","started":"`) {
		t.Errorf("it is announced by %s, %v", data, err)
	}
	// Another locbench, for which a process stands that only waits.
	other := exec.Command("sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	living := self()
	living.pid = other.Process.Pid
	living.start, _ = present(living.pid)
	data, err := json.Marshal(Neighbour{Owner: living.String(), Run: "20261122-0001", Started: time.Now(), CPUs: "2-3"})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "6-000000000000.json"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("run 20261122-0001, process %d, on CPUs 2-3", other.Process.Pid)
	seen(name)
	// What anybody may have put there.
	alien, before := self(), self()
	alien.space, before.boot, before.start = "1", otherBoot, "1"
	record := func(owner, run string) string {
		data, err := json.Marshal(Neighbour{Owner: owner, Run: run})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	hour := time.Now().Add(-2 * time.Hour)
	for i, content := range []string{
		record(before.String(), "earlier"), record(deadOwner(), "dead"), // removed
		"", "{", strings.Repeat("x", 1<<20), record("nobody", "r"), record(owner()+"x\n", "r"), record(parentOwner(t), "a\x1b[2Jb"), // passed over
	} {
		path := filepath.Join(dir, fmt.Sprintf("7-00000000000%d.json", i))
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if i == 3 {
			if err := os.Chtimes(path, hour, hour); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "8-000000000000.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "8-000000000001.json")); err != nil {
		t.Fatal(err)
	}
	seen(name)
	if got := len(files()); got != 9 { // own, other, five of no use, pipe, link
		t.Errorf("%d files: %v", got, files())
	}
	if err := os.WriteFile(filepath.Join(dir, "9-000000000000.json"), []byte(record(alien.String(), "alien")), 0o600); err != nil {
		t.Fatal(err)
	}
	seen(fmt.Sprintf("run alien, process %d, which cannot be seen from here and may have ended", os.Getpid()), name) // it does not say since when
	if err := os.Remove(filepath.Join(dir, "9-000000000000.json")); err != nil {
		t.Fatal(err)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	seen()
	withdraw()
	if got := len(files()); got != 7 {
		t.Errorf("%d files: %v", got, files())
	}
}

// parentOwner is a locbench that lives: the parent of this process stands for it.
func parentOwner(t *testing.T) string {
	t.Helper()
	i := self()
	i.pid = os.Getppid()
	i.start, _ = present(i.pid)
	return i.String()
}

// TestNeighboursBehindALink: what is written must not land elsewhere.
func TestNeighboursBehindALink(t *testing.T) {
	elsewhere := t.TempDir()
	link := filepath.Join(t.TempDir(), "runs")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	t.Setenv(RunsVariable, link)
	if _, err := Announce("r", time.Now(), ""); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Error(err)
	}
	if _, err := Neighbours(); err == nil {
		t.Error("a link was followed")
	}
	if entries, _ := os.ReadDir(elsewhere); len(entries) > 0 {
		t.Errorf("written there: %v", entries)
	}
}
