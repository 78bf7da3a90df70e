//go:build acceptance && engine && unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
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
		if os.Getuid() == 0 && !trial.Instance.LimitsEnforced {
			t.Errorf("limits are not enforced: %s", trial.Instance.LimitsNote)
		}
		passed := 0
		for _, c := range trial.Checks {
			if c.Status == bench.CheckFailed {
				t.Errorf("check %s/%s failed: %s", c.Group, c.Name, c.Detail)
			} else if c.Status == bench.CheckPassed {
				passed++
			}
		}
		if passed < 50 {
			t.Errorf("only %d checks passed", passed)
		}
		for _, s := range trial.Steps {
			if s.Load.Succeeded == 0 || s.Load.FailedTotal() > 0 {
				t.Errorf("%s: %d successes, errors %v %v", s.Step.Name, s.Load.Succeeded, s.Load.Failed, s.Load.Examples)
			}
			if cpu, ok := s.CPUPerRequest(); !ok || cpu <= 0 {
				t.Errorf("%s: CPU time per request is not known", s.Step.Name)
			}
			if s.After == nil || s.After.Memory == nil || s.After.Memory.Peak < s.After.Memory.Used/2 {
				t.Errorf("%s: memory %+v", s.Step.Name, s.After)
			}
		}
		if trial.Stop == nil || !trial.Stop.Graceful {
			t.Errorf("stop %+v", trial.Stop)
		}
	})
}

func TestRun_FailingContender(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code, stdout, stderr := locbench(t, dir, "run", "-p", small(t, "faulty, go-nethttp", "process"), "--services", faulty(t, "exit", 20), "-o", "out")
	if code != 3 {
		t.Fatalf("exit code %d:\n%s", code, stderr)
	}
	run, trials := read(t, filepath.Join(dir, "out"))
	states := map[string]int{}
	for _, l := range trials {
		states[l.Trial.Contender+" "+string(l.State)]++
	}
	if states["faulty failed"] != 2 || states["go-nethttp complete"] != 2 || run.State != bench.RunComplete || run.OutcomeText() != "complete; failed: faulty" {
		t.Errorf("trials %v, run %s", states, run.OutcomeText())
	}
	if !strings.Contains(stdout, "exit code 7") {
		t.Errorf("the table does not say what happened:\n%s", stdout)
	}
}

func TestRun_Target(t *testing.T) {
	t.Parallel()
	binary, err := faultyBinary()
	testenv.OK(t, err)
	service := exec.Command(binary)
	service.Env = []string{"PORT=18473"}
	testenv.OK(t, service.Start())
	defer service.Wait()
	defer service.Process.Kill()
	dir := t.TempDir()
	stdout, stderr := succeeds(t, dir, "run", "--target", "http://127.0.0.1:18473", "--connections", "1,2", "--duration", "1s", "-o", "out")
	if !strings.Contains(stdout, "target") || !strings.Contains(stderr, "runs     target at 127.0.0.1:18473") {
		t.Errorf("output:\n%s%s", stdout, stderr)
	}
	run, trials := read(t, filepath.Join(dir, "out"))
	trial := trials[0]
	if len(trial.Steps) != 2 || trial.Steps[1].Load.Succeeded == 0 || trial.Steps[1].Before != nil || trial.Steps[1].Load.FailedTotal() > 0 {
		t.Errorf("steps %+v", trial.Steps)
	}
	// locbench has not started, limited or stopped it, and does not know its responses.
	if trial.StartUp != nil || trial.Stop != nil || run.Profile.Limits != (bench.Limits{}) || len(trial.Checks) > 0 || trial.Steps[1].Load.Checked > 0 || len(trial.Warnings) > 0 {
		t.Errorf("start-up %v, stop %v, limits %+v, %d checks, %d bodies compared, warnings %q", trial.StartUp, trial.Stop, run.Profile.Limits, len(trial.Checks), trial.Steps[1].Load.Checked, trial.Warnings)
	}
	if len(run.Profile.Requests) != 1 || run.Profile.Requests[0].Path != "/" {
		t.Errorf("requests %+v", run.Profile.Requests)
	}
	summary := readFile(t, filepath.Join(dir, "out", "summary.md"))
	for _, untrue := range []string{"from process start", "LIMITS", "imits not enforced", "stopped ", "1.5 CPU", "512 MiB", "readings in between failed"} {
		if strings.Contains(stderr+stdout+string(summary), untrue) {
			t.Errorf("it says %q:\n%s%s%s", untrue, stderr, stdout, summary)
		}
	}
	for _, flag := range []string{"--cpus=1", "--memory=1GiB", "--cpu-set=1"} {
		if code, _, stderr := locbench(t, dir, "run", "--target", "http://127.0.0.1:18473", flag); code != 2 || !strings.Contains(stderr, "not with --target") {
			t.Errorf("%s: exit code %d, %s", flag, code, stderr)
		}
	}
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
