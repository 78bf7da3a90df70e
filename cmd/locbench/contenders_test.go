//go:build acceptance && contenders && unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/testenv"
)

// bundled returns the default variant of each bundled contender that is not unverified, and the one
// of go-nethttp that is built from its Dockerfile.
func bundled(t *testing.T) (names []string) {
	t.Helper()
	all := testenv.Must(contender.Discover(contender.Folder("../../services")))(t)
	for _, svc := range all {
		if first := contender.Resolved(svc)[0]; first.Unverified == "" {
			names = append(names, bench.Selection{Contender: first.Name, Variant: first.Variant}.String())
		}
	}
	return append(names, "go-nethttp:release")
}

// baseImages returns the base images of a contender's Dockerfile, without its own stages.
func baseImages(t *testing.T, name string) (images []string) {
	t.Helper()
	name, _, _ = strings.Cut(name, ":")
	data := readFile(t, filepath.Join("../../services", name, "Dockerfile"))
	stages := []string{"scratch"}
	for _, from := range regexp.MustCompile(`(?im)^FROM (\S+)(?: AS (\S+))?`).FindAllStringSubmatch(data, -1) {
		if !slices.Contains(stages, from[1]) {
			images = append(images, from[1])
		}
		stages = append(stages, from[2])
	}
	return images
}

// TestContenders builds each bundled contender from its Dockerfile and runs the lifecycle checks,
// the checks of its endpoints and a short load, under the limits of the profiles. The engine keeps
// earlier builds.
func TestContenders(t *testing.T) {
	testenv.Docker(t)
	names := bundled(t)
	for _, name := range names {
		images(t, baseImages(t, name)...)
	}
	dir := t.TempDir()
	profile := filepath.Join(dir, "short.yaml")
	writeFile(t, profile, `contenders: ["`+strings.Join(names, `", "`)+`"]
rounds: 1
runtime: docker
limits: {cpus: 1.5, memory: 512MiB}
needs: {elasticsearch: {from: embedded}}
requests:
  - path: /city/v1/get?id={id}&language={language}
    ids: uniform
timeout: 30s
checks: {lifecycle: [no-environment, no-store, logs-port, logs-requests, still-responds, stops], suites: [locations]}
step_duration: 1s
steps: [1 warm-up, 16]
`)
	c := startLocbench(t, dir, "run", "-p", profile, "-o", "out")
	code := c.wait(55 * time.Minute) // compilers without caches
	_, trials := readClean(t, filepath.Join(dir, "out"))
	testenv.Check(t, code == 0 && len(trials) == len(names),
		"exit code %d, %d trials of %d\n%s", code, len(trials), len(names), c.stderr.String())
	for _, trial := range trials {
		t.Run(trial.Trial.Label(), func(t *testing.T) {
			passed := wentWell(t, trial)
			testenv.Check(t, passed["lifecycle"] == 6,
				"%d of 6 lifecycle checks passed, artifact %+v", passed["lifecycle"], trial.Artifact)
			for _, group := range trial.Service.Endpoints {
				testenv.Check(t, passed[group] != 0, "no passing check in %s", group)
			}
		})
	}
}

// TestVerify_Faults verifies a contender that starts without its environment, logs no requests,
// and takes all memory at the first request for cities.
func TestVerify_Faults(t *testing.T) {
	got, _ := verifyFails(t, faulty(t, "oom", 5))
	for _, want := range []string{
		"faulty: killed out of memory at 512 MiB (limits.memory)", "faulty: check lifecycle no-environment: still running after 15s",
		"faulty: check lifecycle logs-requests: ", "faulty: check get ",
	} {
		testenv.Check(t, strings.Contains(got, want), "it does not say %q", want)
	}
}

// verifyFails verifies the faulty contender.
func verifyFails(t *testing.T, services string) (stdout string, trials []bench.TrialResult) {
	t.Helper()
	testenv.Docker(t)
	t.Parallel()
	testenv.Program(t, "docker", "jq")
	dir := t.TempDir()
	testenv.OK(t, os.Symlink(testenv.Locbench(t), filepath.Join(dir, "locbench")))
	cmd := exec.Command(testenv.Must(filepath.Abs("../../services/verify"))(t), "faulty", "--services", services, "-o", "out")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	c := begin(t, cmd)
	code := c.wait(10 * time.Minute)
	_, trials = readClean(t, filepath.Join(dir, "out"))
	testenv.Need(t, code == 3 && len(trials) == 1, "exit code %d, %d trials\n%s", code, len(trials), c.stderr.String())
	t.Cleanup(func() { _ = exec.Command("docker", "rmi", "-f", trials[0].Artifact.Image).Run() })
	t.Logf("it said\n%s%s", c.stdout.String(), c.stderr.String())
	return c.stdout.String(), trials
}
