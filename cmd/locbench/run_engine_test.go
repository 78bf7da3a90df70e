//go:build acceptance && engine && unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/testenv"
)

func TestRun_Quick(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		dir := t.TempDir()
		stdout, stderr := succeeds(t, dir, "run", "--headless", "--runtime", runtime, "-o", "out")
		if !strings.Contains(stdout, "go-nethttp") || !strings.Contains(stderr, "results  out") {
			t.Errorf("no table or no results folder:\n%s%s", stdout, stderr)
		}
		run, trials := readClean(t, filepath.Join(dir, "out"))
		if run.State != bench.RunComplete || len(trials) != 1 {
			t.Fatalf("run %s, %d trials", run.State, len(trials))
		}
		trial := trials[0]
		if string(trial.Instance.Runtime) != runtime {
			t.Errorf("it ran in %s", trial.Instance.Runtime)
		}
		passed := 0
		for _, n := range wentWell(t, trial) {
			passed += n
		}
		if passed < 50 {
			t.Errorf("only %d checks passed", passed)
		}
		for _, s := range trial.Steps {
			if cpu, ok := s.CPUPerRequest(); !ok || cpu <= 0 {
				t.Errorf("%s: CPU time per request is not known", s.Step.Name)
			}
		}
		if trial.Stop == nil || !trial.Stop.Graceful {
			t.Errorf("stop %+v", trial.Stop)
		}
	})
}

// TestRun_ClosedPipe is "locbench run --json | head -1": locbench still stops what it started.
func TestRun_ClosedPipe(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		dir := t.TempDir()
		cmd := exec.Command("sh", "-c", `"$0" "$@" | head -1`, testenv.Locbench(t), "run", "--json", "-p", small(t, "go-nethttp", runtime), "-o", "out")
		cmd.Dir = dir
		line, err := cmd.Output()
		if err != nil || !strings.Contains(string(line), "run_started") {
			t.Errorf("%v: %s", err, line)
		}
		run, _ := readClean(t, filepath.Join(dir, "out"))
		if run.State != bench.RunInterrupted {
			t.Errorf("run %s", run.State)
		}
	})
}

// TestRun_NextToAnother: the second run warns from its start, the first from its next trial on; a
// killed run is forgotten.
func TestRun_NextToAnother(t *testing.T) {
	t.Parallel()
	dir, env := t.TempDir(), []string{machine.RunsVariable + "=" + t.TempDir()}
	begin := func(out string, rounds string) *command {
		return startIn(t, dir, env, "run", "--headless", "-p", small(t, "go-nethttp", "process"), "--no-checks", "--rounds", rounds, "-o", out)
	}
	first := begin("first", "100")
	first.waitEvent(filepath.Join(dir, "first"), func(r bench.Record) bool { _, ok := r.Event.(bench.StepEnded); return ok })
	second := begin("second", "100")
	second.waitEvent(filepath.Join(dir, "second"), func(r bench.Record) bool { _, ok := r.Event.(bench.StepEnded); return ok })
	first.waitEvent(filepath.Join(dir, "first"), when(func(n bench.Notice) bool { return n.Kind == bench.WarnOtherRun }))
	first.signal(syscall.SIGINT)
	if code := first.wait(2 * time.Minute); code != 130 {
		t.Fatalf("exit code %d\n%s", code, first.stderr.String())
	}
	second.signal(syscall.SIGKILL)
	second.wait(time.Minute)
	third := begin("third", "1")
	third.succeeds(2 * time.Minute)
	for out, want := range map[string]bool{"first": true, "second": true, "third": false} {
		run, _ := read(t, filepath.Join(dir, out))
		if run.Warnings.Has(bench.WarnOtherRun) != want {
			t.Errorf("the %s run: %q", out, run.Warnings)
		}
		if out == "second" {
			succeeds(t, dir, "clean", "--run", run.ID)
		}
	}
}

// One run has a contender under 0.5 and under 1 CPU, and records both limits.
func TestRun_TwoLimits(t *testing.T) {
	dir := t.TempDir()
	profile := "contenders: [go-nethttp, {go-nethttp: {cpus: 0.5, env: {GOGC: 50}, as: half}}]\n" +
		"limits: {cpus: 1, memory: 128MiB}\nrounds: 1\nruntime: docker\nneeds: {elasticsearch: {from: embedded}}\nchecks: {lifecycle: none, suites: []}\n" +
		"requests: [{path: '/city/v1/get?id={id}&language=en'}]\nsteps: [4 for 1s]\n"
	writeFile(t, filepath.Join(dir, "p.yaml"), profile)
	code, stdout, stderr := locbench(t, dir, "run", "--profile", "p.yaml", "--headless", "--out", "out")
	if code != 0 || !strings.Contains(stdout, "go-nethttp:half under 0.5 CPUs, go-nethttp under 1 CPU") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	_, trials := readClean(t, filepath.Join(dir, "out"))
	want := map[string]bench.Limits{
		"go-nethttp": {CPUs: 1, Memory: 128 << 20}, "go-nethttp:half": {CPUs: .5, Memory: 128 << 20},
	}
	for _, trial := range trials {
		if got := trial.Instance.Limits; got != want[trial.Trial.Label()] {
			t.Errorf("%s ran under %+v", trial.Trial.Label(), got)
		}
		delete(want, trial.Trial.Label())
	}
	if len(want) > 0 {
		t.Errorf("no trial of %v", want)
	}
}

// A binary of plain 'go build' where a C compiler is needs shared libraries. It runs in its own
// container, also far from Go and the sources; its image is not built again.
func TestRun_SharedLibraries(t *testing.T) {
	testenv.Docker(t)
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no C compiler here")
	}
	binary := filepath.Join(t.TempDir(), "locbench")
	build := exec.Command("go", "build", "-race=false", "-o", binary, ".")
	build.Env = append(build.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command("ldd", binary).CombinedOutput(); err != nil || !strings.Contains(string(out), "libc.so") {
		t.Skipf("it is static: %v %s", err, out)
	}
	dir, ids := t.TempDir(), map[string]string{}
	for _, out := range []string{"first", "second"} {
		run := exec.Command(binary, "run", "--headless", "--profile", "quick", "--runtime", "docker",
			"--connections", "1", "--duration", "500ms", "--out", out)
		run.Dir, run.Env = dir, append(run.Environ(), "PATH=/nowhere")
		if text, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		_, trials := read(t, filepath.Join(dir, out))
		if r := trials[0]; r.State != bench.TrialComplete || r.Steps[0].Load.AllSucceeded() == 0 {
			t.Errorf("%s: %s, %+v", out, r.State, r.Instance)
		}
		if ids[out] = trials[0].Instance.ImageID; out == "second" && ids[out] != ids["first"] {
			t.Errorf("images %q", ids)
		}
	}
	dockerDo(t, "image", "rm", "-f", ids["first"])
}

// TestRun_Metrics reads the metrics of a run in the middle of a step, as Prometheus does.
func TestRun_Metrics(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }))
	defer service.Close()
	run := startLocbench(t, t.TempDir(), "run", "--headless", "--target", service.URL, "--no-checks", "--connections", "1,2",
		"--duration", "4s", "-o", "out", "--threshold", "throughput>900000000", "--metrics-listen", "127.0.0.1:0")
	var address string
	testenv.Until(t, time.Minute, "the address of the metrics", func() bool {
		_, rest, found := strings.Cut(run.stderr.String(), "metrics  ")
		line, _, whole := strings.Cut(rest, "\n")
		address = strings.TrimSpace(line)
		return found && whole
	})
	testenv.Until(t, time.Minute, "throughput of the first step and what it missed", func() bool {
		resp, err := http.Get(address)
		if err != nil {
			t.Fatalf("ask for metrics at %q: %v\n%s", address, err, run.stderr.String())
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return strings.Contains(string(body), `locbench_throughput{contender="target",round="1",step="1"`) &&
			strings.Contains(string(body), `locbench_thresholds_missed_total{contender="target"} 1`)
	})
	if code := run.wait(time.Minute); code != 4 {
		t.Errorf("exit code %d, want 4: %s", code, run.stderr.String())
	}
	if _, err := http.Get(address); err == nil {
		t.Error("the metrics are served after the run")
	}
}

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
