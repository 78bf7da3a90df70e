//go:build acceptance && faults && linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestFullDisk fills the file system of the results in the second step of the first trial, and
// frees space for --resume.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small file system to fill")
	}
	runtimes(t, func(t *testing.T, runtime string) {
		dir := t.TempDir()
		if text, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", dir).CombinedOutput(); err != nil {
			t.Skipf("no file system can be mounted here: %v: %s", err, text)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		d := disturbIn(t, dir, []string{"TMPDIR=" + t.TempDir()}, "run", "--headless", "-p", quiet(t, runtime, 2, 1, 1, 2, 4))
		d.loaded(1)
		filler := filepath.Join(dir, "filler")
		fill(t, filler)
		run, trials := d.ends(3, "cannot save results", "no space left on device; free space in "+d.out, "--resume out")
		if strings.Count(d.stderr.String(), "no space left") > 6 {
			t.Errorf("the error is printed more than six times")
		}
		if run.State != bench.RunRunning || len(trials) != 1 || len(trials[0].Steps) != 1 || trials[0].Steps[0].Load.Succeeded == 0 {
			t.Errorf("run %s, %s", run.State, states(trials))
		}
		testenv.OK(t, os.Remove(filler))
		d.resumes()
	})
}

// fill writes to path until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	testenv.OK(t, err)
	defer f.Close()
	for block := make([]byte, 64<<10); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2] // to the last byte
		}
	}
}
