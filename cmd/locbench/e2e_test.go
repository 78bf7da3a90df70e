//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/elastic/store"
	"locbench/internal/locations/dataset"
	"locbench/internal/locations/seed"
	"locbench/internal/testenv"
	"locbench/internal/verdict"
)

// runtimes calls f for every runtime of this machine, beside other tests.
func runtimes(t *testing.T, f func(t *testing.T, runtime string)) {
	t.Parallel()
	for _, runtime := range []string{"process", "docker"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			if runtime == "docker" {
				testenv.Docker(t)
			}
			f(t, runtime)
		})
	}
}

// takesTurn says whether the nth case of a matrix runs in a runtime: every second one in each, and
// all in both where testenv.Full asks for it. Without Docker all are processes.
func takesTurn(n int, runtime string) bool {
	return testenv.Full() || !testenv.HasDocker() || n%2 == 0 == (runtime == "docker")
}

func TestQuickProfileInFull(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		dir := t.TempDir()
		code, stdout, stderr := locbench(t, dir, "run", "--headless", "--runtime", runtime, "-o", "out")
		if code != 0 {
			t.Fatalf("exit code %d:\n%s", code, stderr)
		}
		if !strings.Contains(stdout, "go-nethttp") || !strings.Contains(stderr, "results  out") {
			t.Errorf("no table or no results folder:\n%s%s", stdout, stderr)
		}
		run, legs := read(t, filepath.Join(dir, "out"))
		nothingLeft(t, run.ID)
		if run.State != bench.RunComplete || len(legs) != 1 {
			t.Fatalf("run %s, %d legs", run.State, len(legs))
		}
		leg := legs[0]
		if string(leg.Instance.Runtime) != runtime {
			t.Errorf("it ran in %s", leg.Instance.Runtime)
		}
		if os.Getuid() == 0 && !leg.Instance.LimitsEnforced {
			t.Errorf("limits are not enforced: %s", leg.Instance.LimitsNote)
		}
		passed := 0
		for _, c := range leg.Checks {
			if c.Status == bench.CheckFailed {
				t.Errorf("check %s/%s failed: %s", c.Group, c.Name, c.Detail)
			} else if c.Status == bench.CheckPassed {
				passed++
			}
		}
		if passed < 50 {
			t.Errorf("only %d checks passed", passed)
		}
		for _, s := range leg.Steps {
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
		if leg.Stop == nil || !leg.Stop.Graceful {
			t.Errorf("stop %+v", leg.Stop)
		}
	})
}

// TestLimitsApply is about the figures in the results, not about what the engine was asked for. The
// quota is never exceeded; a machine that is busy with other tests may give less, so one
// undisturbed step out of a few runs of one step is what is asked for.
func TestLimitsApply(t *testing.T) {
	testenv.Docker(t)
	const quota, tolerance = 0.5, 0.05
	services, profile := faulty(t, "spin", 0), small(t, "faulty", "docker")
	var seen []float64
	for try := range 12 {
		dir := t.TempDir()
		code, _, stderr := locbench(t, dir, "run", "-p", profile, "--services", services, "--cpus", "0.5", "--rounds", "1", "--connections", "1", "--duration", "4s", "-o", "out")
		if code != 0 {
			t.Fatalf("exit code %d:\n%s", code, stderr)
		}
		run, legs := read(t, filepath.Join(dir, "out"))
		for i, s := range legs[0].Steps {
			cpu, _ := s.CPU()
			cpus := cpu.Seconds() / s.After.At.Sub(s.Before.At).Seconds()
			if cpus > quota*(1+tolerance) {
				t.Errorf("%s: two spinners under a quota of %v used %.3f CPUs", s.Step.Name, quota, cpus)
			}
			if th, ok := s.Throttling(); !ok || th.Throttled == 0 || th.Time <= 0 {
				t.Errorf("try %d, %s: throttling %+v %v", try, s.Step.Name, th, ok)
			}
			if cpus >= quota*(1-tolerance) && cpus <= quota*(1+tolerance) {
				if v := verdict.Leg(run.Machine.CPUs, legs[0])[i]; v.Bound != verdict.Quota {
					t.Errorf("%s", v)
				}
				return
			}
			seen = append(seen, cpus)
		}
	}
	t.Errorf("two spinners under a quota of %v used %.3f CPUs in the steps", quota, seen)
}

func TestContendersThatMisbehave(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault string
		steps int // that are on record
		want  string
	}{
		{"exit", 1, "exit code 7"},
		{"oom", 1, "out of memory"},
		{"hang", 2, "hangs"},
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
				run, legs := read(t, filepath.Join(dir, "out"))
				nothingLeft(t, run.ID)
				leg := legs[0]
				if leg.State != bench.LegFailed || len(leg.Steps) < c.steps || !strings.Contains(leg.Failure, c.want) {
					t.Errorf("state %s, %d steps, failure %q", leg.State, len(leg.Steps), leg.Failure)
				}
				if c.fault == "oom" && (leg.Exit == nil || !leg.Exit.OOMKilled) {
					t.Errorf("exit %+v", leg.Exit)
				}
				if c.fault == "exit" && (len(leg.LastLog) == 0 || !strings.Contains(leg.LastLog[len(leg.LastLog)-1].Text, "invariant broken")) {
					t.Errorf("last log lines %+v", leg.LastLog)
				}
			})
		})
	}
}

func TestOneFailingContenderDoesNotEndTheRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code, stdout, stderr := locbench(t, dir, "run", "-p", small(t, "faulty, go-nethttp", "process"), "--services", faulty(t, "exit", 20), "-o", "out")
	if code != 3 {
		t.Fatalf("exit code %d:\n%s", code, stderr)
	}
	run, legs := read(t, filepath.Join(dir, "out"))
	states := map[string]int{}
	for _, l := range legs {
		states[l.Leg.Contender+" "+string(l.State)]++
	}
	if states["faulty failed"] != 2 || states["go-nethttp complete"] != 2 || run.State != bench.RunComplete || run.StandingText() != "complete; failed: faulty" {
		t.Errorf("legs %v, run %s", states, run.StandingText())
	}
	if !strings.Contains(stdout, "exit code 7") {
		t.Errorf("the table does not say what happened:\n%s", stdout)
	}
}

func TestResumeRepeatsNothingThatIsWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	c := startLocbench(t, dir, "run", "-p", small(t, "go-nethttp", "process"), "-o", "out")
	c.waitEvent(out, func(r bench.Record) bool { return r.Leg != nil && r.Leg.Round == 2 && stepStarted(1)(r) })
	c.signal(syscall.SIGKILL)
	c.wait(10 * time.Second)
	_, before := read(t, out)
	first, err := os.ReadFile(filepath.Join(out, "go-nethttp-1.json"))
	if err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := locbench(t, dir, "run", "--resume", "out"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	again, _ := os.ReadFile(filepath.Join(out, "go-nethttp-1.json"))
	if string(first) != string(again) {
		t.Error("a leg that was whole has changed")
	}
	if len(before) != 2 || len(before[1].Steps) != 1 {
		t.Fatalf("before: %d legs", len(before))
	}
	if _, err := os.Stat(filepath.Join(out, "go-nethttp-2.partial1.json")); err != nil {
		t.Errorf("the finished step of the killed leg is lost: %v", err)
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

	// Before there is data, the way to get it is reported.
	if code, _, stderr := locbench(t, dir, append(args, "empty")...); code != 1 || !strings.Contains(stderr, "locbench seed --elastic "+s.URL()) {
		t.Errorf("exit code %d, without data it says:\n%s", code, stderr)
	}
	if _, err := seed.Run(t.Context(), seed.Options{URL: s.URL(), Set: data}); err != nil {
		t.Fatal(err)
	}
	c := startLocbench(t, dir, append(args, "out")...)
	c.waitEvent(filepath.Join(dir, "out"), stepStarted(1))
	s.Close()
	if code := c.wait(time.Minute); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	if !strings.Contains(c.stderr.String(), "the store is gone") {
		t.Errorf("it says:\n%s", c.stderr.String())
	}
	_, legs := read(t, filepath.Join(dir, "out"))
	if len(legs) != 1 || len(legs[0].Steps) < 2 || legs[0].Steps[0].Load.Succeeded == 0 {
		t.Errorf("finished steps are lost: %+v", legs)
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

func TestTarget(t *testing.T) {
	t.Parallel()
	binary, err := faultyBinary()
	if err != nil {
		t.Fatal(err)
	}
	service := exec.Command(binary)
	service.Env = []string{"PORT=18473"}
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	defer service.Wait()
	defer service.Process.Kill()
	dir := t.TempDir()
	code, stdout, stderr := locbench(t, dir, "run", "--target", "http://127.0.0.1:18473", "--connections", "1,2", "--duration", "1s", "-o", "out")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if !strings.Contains(stdout, "target") || !strings.Contains(stderr, "runs     already, at 127.0.0.1:18473") {
		t.Errorf("output:\n%s%s", stdout, stderr)
	}
	run, legs := read(t, filepath.Join(dir, "out"))
	leg := legs[0]
	if len(leg.Steps) != 2 || leg.Steps[1].Load.Succeeded == 0 || leg.Steps[1].Before != nil || leg.Steps[1].Load.FailedTotal() > 0 {
		t.Errorf("steps %+v", leg.Steps)
	}
	// Nobody has started, limited or stopped it, and nothing is known of what it should answer.
	if leg.StartUp != nil || leg.Stop != nil || run.Profile.Limits != (bench.Limits{}) || len(leg.Checks) > 0 || leg.Steps[1].Load.Checked > 0 || len(leg.Warnings) > 0 {
		t.Errorf("start-up %v, stop %v, limits %+v, %d checks, %d bodies compared, warnings %q", leg.StartUp, leg.Stop, run.Profile.Limits, len(leg.Checks), leg.Steps[1].Load.Checked, leg.Warnings)
	}
	if len(run.Profile.Requests) != 1 || run.Profile.Requests[0].Path != "/" {
		t.Errorf("requests %+v", run.Profile.Requests)
	}
	summary, err := os.ReadFile(filepath.Join(dir, "out", "summary.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pretence := range []string{"from process start", "LIMITS", "imits not enforced", "stopped ", "1.5 CPU", "512 MiB", "readings in between failed"} {
		if strings.Contains(stderr+stdout+string(summary), pretence) {
			t.Errorf("it says %q:\n%s%s%s", pretence, stderr, stdout, summary)
		}
	}
	for _, flag := range []string{"--cpus=1", "--memory=1GiB", "--cpu-set=1"} {
		if code, _, stderr := locbench(t, dir, "run", "--target", "http://127.0.0.1:18473", flag); code != 2 || !strings.Contains(stderr, "with limits of its own") {
			t.Errorf("%s: exit code %d, %s", flag, code, stderr)
		}
	}
}

// TestStoreInAContainer starts an image of a real Elasticsearch beside the contender, fills it, and
// asks all of the checks.
func TestStoreInAContainer(t *testing.T) {
	testenv.Docker(t)
	image := testenv.ElasticsearchImage(t)
	runtimes(t, func(t *testing.T, runtime string) {
		if !takesTurn(0, runtime) {
			t.Skip("it takes a minute: in both runtimes with LOCBENCH_TEST_FULL=1 only")
		}
		dir := t.TempDir()
		profile := filepath.Join(dir, "container.yaml")
		text := `contenders: [go-nethttp]
runtime: ` + runtime + `
limits: {cpus: 1, memory: 128MiB}
store: {kind: container, image: "` + image + `"}
requests:
  - path: /city/v1/get?id={id}&language={language}
    languages: [cs]
validate: 50%
checks: {lifecycle: [no-store], suites: [locations]}
step_duration: 1s
steps: [1, 4]
`
		if err := os.WriteFile(profile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := locbench(t, dir, "run", "-p", profile, "-o", "out")
		if code != 0 {
			t.Fatalf("exit code %d:\n%s", code, stderr)
		}
		run, legs := read(t, filepath.Join(dir, "out"))
		nothingLeft(t, run.ID)
		last := legs[0].Steps[1]
		if run.Store.Kind != bench.StoreContainer || last.Load.Succeeded == 0 {
			t.Errorf("store %+v, steps %+v", run.Store, legs[0].Steps)
		}
		if cpus, ok := last.StoreCPUs(); !ok || cpus <= 0 {
			t.Errorf("the store's CPU time is not known: %+v", last.BesideAfter)
		}
		if last.Load.Checked == 0 || last.Load.Failed[bench.ErrWrong] > 0 {
			t.Errorf("%d bodies were compared with the known answers, failed %v %v", last.Load.Checked, last.Load.Failed, last.Load.Examples)
		}
		for _, c := range legs[0].Checks {
			if c.Status == bench.CheckFailed {
				t.Errorf("check %s/%s failed: %s", c.Group, c.Name, c.Detail)
			}
		}
	})
}

// TestAReaderThatGoesAway is "locbench run --json | head -1": what was launched is stopped all the
// same.
func TestAReaderThatGoesAway(t *testing.T) {
	runtimes(t, func(t *testing.T, runtime string) {
		dir := t.TempDir()
		cmd := exec.Command("sh", "-c", `"$0" "$@" | head -1`, testenv.Locbench(t), "run", "--json", "-p", small(t, "go-nethttp", runtime), "-o", "out")
		cmd.Dir = dir
		line, err := cmd.Output()
		if err != nil || !strings.Contains(string(line), "run_started") {
			t.Errorf("%v: %s", err, line)
		}
		run, _ := read(t, filepath.Join(dir, "out"))
		nothingLeft(t, run.ID)
		if run.State != bench.RunInterrupted {
			t.Errorf("run %s", run.State)
		}
	})
}
