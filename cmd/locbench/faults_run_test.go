//go:build acceptance && faults && unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/store"
	"github.com/locbench/locbench/internal/store/dataset"
)

func TestContendersThatMisbehave(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault string
		steps int // recorded
		want  string
	}{
		{"exit", 1, "exit code 7"},
		{"oom", 1, "out of memory"},
		{"hang", 2, "no success in"},
		{"never", 0, "exit code 3"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			runtimes(t, func(t *testing.T, runtime string) {
				dir := t.TempDir()
				code, _, stderr := locbench(t, dir, "run", "-p", small(t, "faulty", runtime), "--services", faulty(t, c.fault, 20), "--rounds", "1", "-o", "out")
				if code != 3 {
					t.Errorf("exit code %d, want 3", code)
				}
				if !strings.Contains(stderr, c.want) {
					t.Errorf("standard error does not say %q:\n%s", c.want, stderr)
				}
				if strings.Contains(stderr, "\x1b[31mconfiguration") {
					t.Error("an escape sequence of the contender's log reached the terminal")
				}
				run, trials := read(t, filepath.Join(dir, "out"))
				nothingLeft(t, run.ID)
				trial := trials[0]
				if trial.State != bench.TrialFailed || len(trial.Steps) < c.steps || !strings.Contains(trial.Failure, c.want) {
					t.Errorf("state %s, %d steps, failure %q", trial.State, len(trial.Steps), trial.Failure)
				}
				if c.fault == "oom" && (trial.Exit == nil || !trial.Exit.OOMKilled) {
					t.Errorf("exit %+v", trial.Exit)
				}
				if c.fault == "exit" && (len(trial.LastLog) == 0 || !strings.Contains(trial.LastLog[len(trial.LastLog)-1].Text, "invariant broken")) {
					t.Errorf("last log lines %+v", trial.LastLog)
				}
			})
		})
	}
}

func TestStoreThatVanishes(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), bench.StoreSpec{Kind: bench.StoreEmbedded}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	data, err := dataset.Generated(200, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := []string{"run", "-p", small(t, "go-nethttp", "process"), "--elastic", s.URL(), "--rounds", "1", "-o"}

	// Without data, the command that seeds is reported.
	if code, _, stderr := locbench(t, dir, append(args, "empty")...); code != 1 || !strings.Contains(stderr, "locbench seed --elastic "+s.URL()) {
		t.Errorf("exit code %d, without data it says:\n%s", code, stderr)
	}
	if err := s.Fill(t.Context(), data, nil); err != nil {
		t.Fatal(err)
	}
	c := startLocbench(t, dir, append(args, "out")...)
	c.waitEvent(filepath.Join(dir, "out"), stepStarted(1))
	s.Close()
	if code := c.wait(time.Minute); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	if !strings.Contains(c.stderr.String(), "lost the store") {
		t.Errorf("it says:\n%s", c.stderr.String())
	}
	_, trials := read(t, filepath.Join(dir, "out"))
	if len(trials) != 1 || len(trials[0].Steps) < 2 || trials[0].Steps[0].Load.Succeeded == 0 {
		t.Errorf("finished steps are lost: %+v", trials)
	}
}

func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small file system to fill")
	}
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", out).CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: %v: %s", err, text)
	}
	defer exec.Command("umount", "-l", out).Run()
	c := startLocbench(t, dir, "run", "-p", small(t, "go-nethttp", "process"), "--rounds", "5", "-o", "out")
	if code := c.wait(time.Minute); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	if !strings.Contains(c.stderr.String(), "no space left on device") {
		t.Errorf("it says:\n%s", c.stderr.String())
	}
	run, _ := read(t, out)
	nothingLeft(t, run.ID)
}
