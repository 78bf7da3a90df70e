//go:build acceptance && linux

package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/verdict"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// truth is a contender of which it is known whether it sends unexpected bodies or leaks memory.
type truth struct {
	name    string
	command []string // in the folder testdata/truths
	env     map[string]string
	is      bool // it does what the benchmark looks for
}

// BenchmarkUnexpected runs services that mix up one response in 50 with three or more requests in
// flight, and right ones, at default settings and with the load of `quick`. It reports in how many
// runs they were excluded with exit code 3, and in how many the 95% interval (Wilson's) of the
// share has the share that the service counted. RUNS is the number of runs of each.
//
//	make bench-truths
func BenchmarkUnexpected(b *testing.B) {
	steps := "step_duration: 3s\nsteps: [1 warm-up for 2s, 1, 4, 16, 64]\n"
	expect := `requests: [{get: "/items/{item}", expect: {json_includes: {id: "{item}"}}}]` + "\n"
	mixes := map[string]string{"MIX": "50"}
	dir := truths(b)
	for _, c := range []truth{
		{"go", []string{"./service"}, mixes, true},
		{"node", []string{"node", "service.js"}, mixes, true},
		{"right", []string{"./service"}, nil, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			excluded, within, runs := 0, 0, number("RUNS", 20)
			for range runs {
				counts := filepath.Join(b.TempDir(), "counts.json")
				run, trials, code := c.run(b, dir, counts, expect+steps)
				unexpected := trials[0].Excluded(run.Profile.ErrorsAllowed(), run.Profile.MaxUnexpected)
				if code == console.ExitContender && unexpected != nil && unexpected.Unexpected != nil {
					excluded++
				}
				if at, ok := sharesAgree(b, counts, trials[0]); ok {
					within++
				} else {
					b.Log(at)
				}
			}
			count(b, map[string]int{"excluded": excluded, "within": within, "runs": runs})
		})
	}
}

// sharesAgree reports whether the 95% interval of the share of unexpected bodies, of the steps with
// more than two connections, has the share that the service counted in them.
func sharesAgree(b *testing.B, counts string, trial bench.TrialResult) (at string, ok bool) {
	var truth struct{ Wrong int64 }
	data, err := os.ReadFile(counts)
	if err == nil {
		err = json.Unmarshal(data, &truth)
	}
	testenv.OK(b, err)
	var sent, wrong, compared int64
	for _, s := range trial.Steps {
		if s.Step.Connections > 2 {
			sent += s.Load.AllSucceeded() + s.Load.FailedTotal() + s.Load.Cut
			wrong += s.Load.Failed[bench.ErrWrong]
			compared += s.Load.Checked
		}
	}
	low, high := bench.Unexpected{Count: wrong, Compared: compared}.Interval()
	is := float64(truth.Wrong) / float64(max(1, sent))
	text, _ := json.Marshal(map[string]any{"wrong": wrong, "compared": compared, "truth": is})
	return string(text), is >= low-1e-9 && is <= high
}

// BenchmarkLeak runs a service that keeps 2 KiB per request, and four that do not, for 30 s under a
// limit of 256 MiB, and reports in how many runs growing memory was found. RUNS is the number of
// runs of each.
//
//	make bench-truths
func BenchmarkLeak(b *testing.B) {
	load := "requests: [{get: \"/items/{item}\"}]\nsteps: [16 warm-up for 5s, 16 for 25s]\nlimits: {cpus: 0.5, memory: 256MiB}\n"
	dir := truths(b)
	java := []string{"java", "-Xmx192m", "-cp", ".", "Service"}
	for _, c := range []truth{
		{"leak", []string{"./service"}, map[string]string{"LEAK": "2048"}, true},
		{"go", []string{"./service"}, nil, false},
		{"node", []string{"node", "service.js"}, nil, false},
		{"java", java, nil, false},
		{"cache", []string{"./service"}, map[string]string{"CACHE": "64"}, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			found, runs := 0, number("RUNS", 10)
			for range runs {
				_, trials, _ := c.run(b, dir, filepath.Join(b.TempDir(), "counts.json"), load)
				grows := trials[0].Exit != nil && trials[0].Exit.OOMKilled
				for _, s := range trials[0].Steps {
					grows = grows || s.Warnings.Has(bench.WarnMemoryGrowth)
				}
				if grows {
					found++
				}
				if grows != c.is {
					b.Log(trials[0].Failure, trials[0].Warnings)
					for _, s := range trials[0].Steps {
						b.Log(s.Load.Succeeded, s.Warnings)
					}
				}
			}
			count(b, map[string]int{"found": found, "runs": runs})
		})
	}
}

func count(b *testing.B, counts map[string]int) {
	for name, n := range counts {
		b.ReportMetric(float64(n), name)
	}
	b.ReportMetric(0, "ns/op")
}

// truths returns a folder with the services of testdata/truths, ready to start.
func truths(b *testing.B) string {
	dir := b.TempDir()
	for _, args := range [][]string{
		{"go", "build", "-o", filepath.Join(dir, "service"), "./testdata/truths"},
		{"cp", "testdata/truths/service.js", dir},
		{"javac", "-d", dir, "testdata/truths/Service.java"},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// run runs the contender once, as a process, with the rest of a profile.
func (c truth) run(b *testing.B, dir, counts, more string) (bench.Run, []bench.TrialResult, int) {
	env := map[string]string{"PORT": "{{.Port}}", "TRUTH": counts}
	maps.Copy(env, c.env)
	settings, err := json.Marshal(map[string]any{
		"name": c.name, "env": env, "port": 8080, "ready": map[string]string{"path": "/healthz"},
		"process": map[string]any{"command": append([]string{"sh", "-c", `cd "$0" && exec "$@"`, dir}, c.command...)},
	})
	services := filepath.Join(b.TempDir(), c.name)
	if err == nil {
		err = os.Mkdir(services, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(services, "service.yaml"), settings, 0o600)
	}
	testenv.OK(b, err)
	profile := profileFile(b, "contenders: ["+c.name+"]\nruntime: process\nvariables: {item: {from: 1, to: 100000}}\n"+more)
	out := filepath.Join(b.TempDir(), "out")
	running := startLocbench(b, services, "run", "--headless", "--profile", profile, "--services", services, "-o", out)
	code := running.wait(3 * time.Minute)
	run, trials := read(b, out)
	testenv.Need(b, len(trials) == 1, "exit code %d:\n%s", code, running.stderr.String())
	return run, trials, code
}

// bound is a contender with one known bottleneck.
type bound struct {
	name     string
	services func(testing.TB) string // folder of the contender; nil: go-nethttp
	args     []string
	client   float64 // CPUs that locbench itself may use; 0: all
	at       int     // the step whose bottleneck is checked
	want     verdict.Bound
}

func bounds() []bound {
	misbehaving := func(fault string) func(testing.TB) string {
		return func(t testing.TB) string { return faulty(t, fault, 0) }
	}
	built := func(by, memory string) func(testing.TB) string {
		return func(t testing.TB) string {
			return made(t, "faulty", map[string]string{"FAULT": by, "MEMORY": memory}, nil)
		}
	}
	return []bound{
		{name: "quota", services: misbehaving("spin"), args: []string{"faulty", "--cpus", "0.3", "--connections", "4"}, want: verdict.Quota},
		{name: "memory/heap", services: built("heap", "128"), args: []string{"faulty", "--cpus", "2", "--memory", "128MiB", "--connections", "8"}, want: verdict.Memory},
		{name: "memory/cache", services: built("cache", "64"), args: []string{"faulty", "--cpus", "2", "--memory", "64MiB", "--connections", "8"}, want: verdict.Memory},
		{name: "contender's lock", services: misbehaving("lock"), args: []string{"faulty", "--connections", "2,16"}, at: 1, want: verdict.Contender},
		{name: "store", args: []string{"go-nethttp", "--store-latency", "30ms", "--connections", "4,32"}, at: 1, want: "elasticsearch"},
		{name: "client", services: built("client", "64"), args: []string{"faulty", "--connections", "16"}, client: 0.4, want: verdict.Client},
		{name: "too few connections", services: misbehaving("wait"), args: []string{"faulty", "--connections", "2,16"}, want: verdict.Connections},
		{name: "errors", services: misbehaving("hang"), args: []string{"faulty", "--connections", "2"}, want: verdict.Errors},
	}
}

// BenchmarkVerdict runs contenders with one known bottleneck each, and reports in how many trials
// locbench found it. It asserts nothing: on a busy machine the machine itself may be the
// bottleneck.
//
//	make bench-verdict
func BenchmarkVerdict(b *testing.B) {
	testenv.Docker(b)
	runs := number("RUNS", 20)
	for _, c := range bounds() {
		b.Run(c.name, func(b *testing.B) {
			right, others := 0, map[verdict.Bound]int{}
			run, trials := c.run(b, runs)
			for _, trial := range trials {
				if len(trial.Steps) <= c.at {
					b.Logf("round %d: %s", trial.Trial.Round, trial.Failure)
					continue
				}
				v := verdict.Trial(run.Machine.CPUs, trial)[c.at]
				if v.Bound == c.want {
					right++
					if right == 1 {
						b.Logf("such as %s", v)
					}
				} else {
					others[v.Bound]++
					b.Logf("round %d: %s", trial.Trial.Round, v)
				}
			}
			b.ReportMetric(float64(right), "right")
			b.ReportMetric(float64(runs), "runs")
			b.ReportMetric(0, "ns/op")
			if len(others) > 0 {
				b.Logf("instead: %v", others)
			}
		})
	}
}

// run gives the contender n trials, each in its own container.
func (c bound) run(b *testing.B, n int) (bench.Run, []bench.TrialResult) {
	dir := b.TempDir()
	args := []string{"run", c.args[0], "-p", small(b, c.args[0], "docker"), "--rounds", strconv.Itoa(n), "--duration", "1500ms", "--no-checks", "-o", "out"}
	args = append(args, c.args[1:]...)
	if c.services != nil {
		args = append(args, "--services", c.services(b))
	}
	cmd := exec.Command(testenv.Locbench(b), args...)
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
	var running *command
	if c.client > 0 {
		running = limited(b, cmd, c.client)
	} else {
		running = begin(b, cmd)
	}
	code := running.wait(time.Minute + time.Duration(n)*20*time.Second)
	run, trials := read(b, filepath.Join(dir, "out"))
	testenv.Need(b, len(trials) == n, "exit code %d:\n%s", code, running.stderr.String())
	return run, trials
}

// limited starts a locbench in a cgroup with a CPU quota, like a container or a unit with limits.
func limited(b *testing.B, cmd *exec.Cmd, cpus float64) *command {
	b.Helper()
	g, err := cgroup.Tree{}.Create("locbench-test-"+strconv.Itoa(os.Getpid()), bench.Limits{CPUs: cpus}, nil)
	if err != nil {
		b.Skipf("no CPU quota for the client: %v", err)
	}
	b.Cleanup(func() {
		testenv.OK(b, g.Remove())
	})
	if missing := g.Missing(); len(missing) > 0 {
		b.Skipf("no CPU quota for the client: %v", missing)
	}
	if fd, ok := g.FD(); ok {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, fd
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	leave, err := g.Enter()
	if err != nil {
		b.Skipf("no CPU quota for the client: %v", err)
	}
	defer func() {
		testenv.OK(b, leave())
	}()
	return begin(b, cmd)
}
