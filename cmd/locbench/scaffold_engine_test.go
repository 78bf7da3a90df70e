//go:build acceptance && engine && unix

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestServicesNew creates a contender outside the repository, with the binary alone,
// and benchmarks it from its Dockerfile.
func TestServicesNew(t *testing.T) {
	testenv.Docker(t)
	images(t, "golang:1.26-bookworm")
	t.Parallel()
	dir := t.TempDir()
	code, stdout, stderr := locbench(t, dir, "services", "new", "go-mine", "--from", "go-nethttp", "mine")
	if code != 0 || strings.TrimSpace(stdout) != filepath.Join("mine", "go-mine") || !strings.Contains(stderr, "locbench run go-mine --services mine/go-mine") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, _, stderr := locbench(t, dir, "services", "new", "go-mine", "--from", "go-nethttp", "mine"); code != 2 || !strings.Contains(stderr, "already exists") {
		t.Errorf("a second time: exit code %d\n%s", code, stderr)
	}
	c := startLocbench(t, dir, "run", "-p", small(t, "go-mine", "docker"), "--services", "mine", "--rounds", "1", "-o", "out")
	c.succeeds(8 * time.Minute) // a compiler on a busy machine
	_, trials := readClean(t, filepath.Join(dir, "out"))
	t.Cleanup(func() { _ = exec.Command("docker", "rmi", "-f", trials[0].Artifact.Image).Run() })
	trial := trials[0]
	if trial.State != bench.TrialComplete || trial.Service.Builtin || !strings.HasPrefix(trial.Artifact.Image, "locbench/go-mine:") {
		t.Fatalf("%s, artifact %+v", trial.State, trial.Artifact)
	}
	if s := trial.Steps[len(trial.Steps)-1]; s.Load.Succeeded == 0 || s.Load.FailedTotal() > 0 {
		t.Errorf("%d successes, errors %v", s.Load.Succeeded, s.Load.Failed)
	}
}
