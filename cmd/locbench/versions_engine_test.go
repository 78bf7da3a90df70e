//go:build acceptance && engine

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// Two images or two commits of one service are compared in one run, interleaved or not. Each trial
// ran its own version, and the text and the report say which is which. The commits are a
// repository and a worktree next to it, as docs/profiles.md makes them.
func TestRun_TwoVersions(t *testing.T) {
	testenv.Docker(t)
	folder := faulty(t, "", 0)
	services := filepath.Dir(folder)
	git := func(args ...string) {
		t.Helper()
		all := append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)
		if out, err := exec.Command("git", all...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "one")
	git("tag", "v1.4")
	editFile(t, filepath.Join(folder, "service.yaml"), `version: "1"`, `version: "2"`)
	git("commit", "-q", "-a", "-m", "two")
	git("worktree", "add", "-q", "../faulty-before", "v1.4")
	ids := map[string]string{}
	for _, version := range []string{"1", "2"} {
		image := "locbench-versions-test:v" + version
		dockerDo(t, "build", "-q", "-t", image, "--label", "version="+version, folder)
		ids["faulty:v"+version] = dockerDo(t, "image", "inspect", "-f", "{{.Id}}", image)
		defer dockerDo(t, "image", "rm", "-f", image)
	}
	for _, c := range []struct {
		name, services, contenders, runtime string
		says                                []string
		right                               func(bench.TrialResult) bool
	}{
		{
			"images", folder, "[{faulty: {image: 'locbench-versions-test:v2', as: v2}}, {faulty: {image: 'locbench-versions-test:v1', as: v1}}]",
			"docker", []string{"faulty:v1 with image locbench-versions-test:v1", "faulty:v2 with image locbench-versions-test:v2"},
			func(r bench.TrialResult) bool { return r.Instance.ImageID == ids[r.Trial.Label()] },
		},
		{
			"commits", services, "[faulty, {faulty: {dir: " + services + "/faulty-before, as: before}}]", "docker",
			[]string{"faulty:before with folder faulty-before"},
			func(r bench.TrialResult) bool { return (r.Service.Version == "1") == (r.Trial.Variant == "before") },
		},
		{
			"commits as processes", services, "[faulty, {faulty: {dir: " + services + "/faulty-before, as: before}}]", "process",
			[]string{"faulty:before with folder faulty-before"},
			func(r bench.TrialResult) bool { return (r.Service.Version == "1") == (r.Trial.Variant == "before") },
		},
	} {
		for _, interleave := range []string{"off", "100ms"} {
			t.Run(c.name+", interleave "+interleave, func(t *testing.T) {
				dir := t.TempDir()
				p := profileFile(t, fmt.Sprintf("contenders: %s\nruntime: %s\ninterleave: %s\nrounds: 1\n"+
					"limits: {cpus: 1, memory: 64MiB}\nchecks: {lifecycle: none, suites: []}\n"+
					"requests: [{get: /}]\nsteps: [2 for 300ms]\n", c.contenders, c.runtime, interleave))
				stdout, _ := succeeds(t, dir, "run", "--headless", "-p", p, "--services", c.services, "-o", "out")
				_, trials := readClean(t, filepath.Join(dir, "out"))
				report, err := os.ReadFile(filepath.Join(dir, "out", "report.html"))
				if err != nil || len(trials) != 2 {
					t.Fatalf("%v, %d trials", err, len(trials))
				}
				for _, said := range c.says {
					if _, version, _ := strings.Cut(said, " "); !strings.Contains(stdout, said) || !strings.Contains(string(report), version) {
						t.Errorf("text or report do not say %q\n%s", said, stdout)
					}
				}
				for _, trial := range trials {
					if !c.right(trial) {
						t.Errorf("%s ran version %s, image %s", trial.Trial.Label(), trial.Service.Version, trial.Instance.ImageID)
					}
				}
			})
		}
	}
}
