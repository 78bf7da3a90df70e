package launch

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"locbench/internal/docker"
	"locbench/internal/docker/dockertest"
)

// announcing is a process of its own that has made a run known.
func announcing(t *testing.T, run, cpus string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestAnnounceAndWait$", "-test.v")
	cmd.Env = append(os.Environ(), "LOCBENCH_TEST_ANNOUNCE="+run+" "+cpus)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for s := bufio.NewScanner(out); s.Scan(); {
		if strings.HasPrefix(s.Text(), "KNOWN") {
			return cmd
		}
	}
	t.Fatal("it has not made itself known")
	return nil
}

// TestAnnounceAndWait is no test but what announcing starts.
func TestAnnounceAndWait(t *testing.T) {
	run, cpus, ok := strings.Cut(os.Getenv("LOCBENCH_TEST_ANNOUNCE"), " ")
	if !ok {
		t.Skip("run by TestNeighbours in a process of its own")
	}
	withdraw, err := Announce(run, time.Now(), cpus)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("\nKNOWN")
	io.Copy(io.Discard, os.Stdin)
	withdraw()
}

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
	other := announcing(t, "20261122-0001", "2-3")
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

// TestNeighboursOnAnEngine: a container that another run has started is that run's sign of life,
// also where its record cannot be seen, and is named as one that takes CPU time.
func TestNeighboursOnAnEngine(t *testing.T) {
	e := dockertest.Engine(t)
	alien := self()
	alien.space = "1"
	mine := runID(t)
	for kind, owner := range map[string]string{"mine": owner(), "theirs": alien.String(), "dead": deadOwner(), "none": "somebody"} {
		run := kind + "-" + mine
		labels := Labels(run, "t")
		labels[docker.LabelOwner] = owner
		c, _, err := e.Run(t.Context(), docker.ContainerSpec{Name: run, Image: dockertest.Image(t, e), Command: []string{"sleep"}, Labels: labels})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if _, err := c.Stop(context.Background(), 0); err != nil {
				t.Error(err)
			}
		})
	}
	all, err := NeighboursOn(t.Context(), e, "mine-"+mine)
	var found []string
	for _, n := range all {
		if strings.HasSuffix(n.Run, mine) { // this engine may have others
			found = append(found, n.String())
		}
	}
	want := fmt.Sprintf("run theirs-%s, process %d, which cannot be seen from here and may have ended", mine, os.Getpid())
	if err != nil || len(found) != 1 || found[0] != want {
		t.Errorf("%q, %v, want %q", found, err, want)
	}
	names, err := e.Running(t.Context(), "mine-"+mine)
	var running []string
	for _, n := range names {
		if rest, ok := strings.CutPrefix(n, "locbench-"); ok && strings.Contains(n, mine) {
			kind, _, _ := strings.Cut(rest, "-")
			running = append(running, kind)
		}
	}
	slices.Sort(running)
	if err != nil || strings.Join(running, " ") != "dead none theirs" {
		t.Errorf("%q of %q, %v", running, names, err)
	}
}
