//go:build acceptance && engine && unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker/dockertest"
	"github.com/locbench/locbench/internal/testenv"
)

func TestRun_Quick(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		dir := t.TempDir()
		stdout, stderr := succeeds(t, dir, "run", "--headless", "--runtime", runtime, "-o", "out")
		testenv.Check(t, strings.Contains(stdout, "go-nethttp") && strings.Contains(stderr, "results  out"),
			"no table or no results folder:\n%s%s", stdout, stderr)
		run, trials := readClean(t, filepath.Join(dir, "out"))
		testenv.Need(t, run.State == bench.RunComplete && len(trials) == 1, "run %s, %d trials", run.State, len(trials))
		trial := trials[0]
		testenv.Check(t, string(trial.Instance.Runtime) == runtime, "it ran in %s", trial.Instance.Runtime)
		passed := 0
		for _, n := range wentWell(t, trial) {
			passed += n
		}
		testenv.Check(t, passed >= 50, "only %d checks passed", passed)
		for _, s := range trial.Steps {
			cpu, ok := s.CPUPerRequest()
			testenv.Check(t, ok && cpu > 0, "%s: CPU time per request is not known", s.Step.Name)
		}
		testenv.Check(t, trial.Stop != nil && trial.Stop.Graceful, "stop %+v", trial.Stop)
	})
}

// TestRun_ClosedPipe is "locbench run --json | head -1": locbench still stops what it started.
func TestRun_ClosedPipe(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		dir := t.TempDir()
		cmd := exec.Command("sh", "-c", `"$0" "$@" | head -1`, testenv.Locbench(t), "run", "--json", "-p", small(t, "go-nethttp", runtime), "-o", "out")
		cmd.Dir = dir
		line, err := cmd.Output()
		testenv.Check(t, err == nil && strings.Contains(string(line), "run_started"), "%v: %s", err, line)
		run, _ := readClean(t, filepath.Join(dir, "out"))
		testenv.Check(t, run.State == bench.RunInterrupted, "run %s", run.State)
	})
}

// Two images, commits or limits of one service are compared in one run, interleaved or not. Each trial
// ran its own version, and the text and the report say which is which. The commits are a
// repository and a worktree next to it, as docs/profiles.md makes them.
func TestRun_TwoVersions(t *testing.T) {
	testenv.Docker(t)
	folder := faulty(t, "", 0)
	services := filepath.Dir(folder)
	git := func(args ...string) {
		t.Helper()
		all := append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)
		out, err := exec.Command("git", all...).CombinedOutput()
		testenv.Need(t, err == nil, "git %v: %v\n%s", args, err, out)
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "one")
	git("tag", "v1.4")
	editFile(t, filepath.Join(folder, "service.yaml"), `"version":"1"`, `"version":"2"`)
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
			"limits", folder, "[faulty, {faulty: {cpus: 0.5, as: half}}]", "docker", []string{"faulty:half under 0.5 CPUs, faulty under 1 CPU"},
			func(r bench.TrialResult) bool {
				return r.Instance.Limits.CPUs == map[string]float64{"": 1, "half": .5}[r.Trial.Variant]
			},
		},
		{
			"commits", services, "[faulty, {faulty: {dir: " + services + "/faulty-before, as: before}}]", "docker",
			[]string{"faulty:before with folder ../"},
			func(r bench.TrialResult) bool { return (r.Service.Version == "1") == (r.Trial.Variant == "before") },
		},
		{
			"commits as processes", services, "[faulty, {faulty: {dir: " + services + "/faulty-before, as: before}}]", "process",
			[]string{"faulty:before with folder ../"},
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
				testenv.Need(t, err == nil && len(trials) == 2, "%v, %d trials", err, len(trials))
				for _, said := range c.says {
					if _, version, _ := strings.Cut(said, " "); !strings.Contains(stdout, said) || !strings.Contains(string(report), version) {
						t.Errorf("text or report do not say %q\n%s", said, stdout)
					}
				}
				for _, trial := range trials {
					testenv.Check(t, c.right(trial),
						"%s ran version %s, image %s", trial.Trial.Label(), trial.Service.Version, trial.Instance.ImageID)
				}
			})
		}
	}
}

// TestSecrets runs contenders that write their whole environment to their log, one of which dies,
// and searches all output: both streams, every file of the results, every report, export and
// comparison. The plain suite has the secrets of targets, stores and responses.
func TestSecrets(t *testing.T) {
	t.Parallel()
	secrets := []string{"correct-horse-battery", "bearer-of-good-news", "open-sesame-by-pwd", "swordfish-of-the-dsn"}
	dir, services := t.TempDir(), t.TempDir()
	for name, command := range map[string]string{"talks": `obey, "{{.Port}}"`, "dies": `exit, "3"`} {
		writeFile(t, filepath.Join(services, name, "service.yaml"), `name: `+name+`
language: Go
framework: none
version: "1"
endpoints: [get]
port: 8080
env: {DB_PASSWORD: `+secrets[0]+`, MYSQL_PWD: `+secrets[2]+`, DATABASE: "root:`+secrets[3]+`@tcp(10.0.0.5:3306)/x", GREETING: hello}
ready: {path: /spent, timeout: 10s}
process: {command: [`+dockertest.Helper(t)+`, env, `+command+`]}
`)
	}
	profile := profileFile(t, `contenders: [talks, dies]
runtime: process
requests: [{path: "/yield?n=1", header: {Authorization: Bearer `+secrets[1]+`}}]
checks: {lifecycle: none, suites: []}
steps: [{connections: 2}]
`)
	shown := map[string]string{}
	run := func(want int, args ...string) string {
		t.Helper()
		code, stdout, stderr := locbench(t, dir, args...)
		testenv.Need(t, code == want, "%q: exit code %d\n%s%s", args, code, stdout, stderr)
		shown[strings.Join(args, " ")] = stdout + stderr
		return stdout + stderr
	}
	run(3, "run", "--headless", "-v", "--services", services, "-p", profile, "--duration", "1s", "-o", "out")
	lines := run(3, "run", "--json", "--services", services, "-p", profile, "--duration", "300ms", "-o", "again")
	testenv.Check(t, strings.Contains(lines, "DB_PASSWORD=***") && strings.Contains(lines, "GREETING=hello"),
		"the log of the contender is not in the events, or lost more than its password")
	for _, format := range []string{"md", "csv", "json"} {
		run(0, "report", "out", "--format", format)
	}
	for _, format := range []string{"csv", "json"} {
		run(0, "export", "out", "--format", format, "-o", "export-"+format)
	}
	run(0, "compare", "out", "again")
	run(2, "run", "--resume", "out", "--services", services, "--headless") // its header was not saved
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			shown[path] = readFile(t, path)
		}
		return err
	})
	testenv.Need(t, err == nil && len(shown) >= 20, "%d outputs, %v", len(shown), err)
	for name, text := range shown {
		for _, s := range secrets {
			if i := strings.Index(text, s); i >= 0 {
				t.Errorf("%s shows %s: …%s", name, s, text[max(0, i-200):min(len(text), i+len(s)+100)])
			}
		}
	}
}
