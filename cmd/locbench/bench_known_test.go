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

// each runs every contender RUNS times, as a process, and reports how often each thing that found names was found.
func each(b *testing.B, runs int, all []truth, load string, found func(run bench.Run, trial bench.TrialResult, code int, counts string) map[string]bool) {
	dir := b.TempDir()
	for _, args := range [][]string{
		{"go", "build", "-o", filepath.Join(dir, "service"), "./testdata/truths"},
		{"cp", "testdata/truths/service.js", dir},
		{"javac", "-d", dir, "testdata/truths/Service.java"},
	} {
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		testenv.Need(b, err == nil, "%v: %v\n%s", args, err, out)
	}
	for _, c := range all {
		b.Run(c.name, func(b *testing.B) {
			times, n := map[string]int{}, number("RUNS", runs)
			for range n {
				counts := filepath.Join(b.TempDir(), "counts.json")
				run, trials, code := c.run(b, dir, counts, load)
				for what, is := range found(run, trials[0], code, counts) {
					if times[what] += 0; is {
						times[what]++
					}
					if is != (c.is || what == "within") {
						b.Log(what, trials[0].Failure, trials[0].Warnings)
						for _, s := range trials[0].Steps {
							b.Log(s.Load.Succeeded, s.Warnings)
						}
					}
				}
			}
			for what, n := range times {
				b.ReportMetric(float64(n), what)
			}
			b.ReportMetric(float64(n), "runs")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkUnexpected runs services that mix up one response in 50 with three or more requests in
// flight, and right ones, at default settings and with the load of `quick`. It reports in how many
// runs they were excluded with exit code 3, and in how many the 95% interval (Wilson's) of the
// share has the share that the service counted. RUNS is the number of runs of each.
//
//	make bench-truths
func BenchmarkUnexpected(b *testing.B) {
	load := `requests: [{get: "/items/{item}", expect: {json_includes: {id: "{item}"}}}]
step_duration: 3s
steps: [1 warm-up for 2s, 1, 4, 16, 64]
`
	mixes := map[string]string{"MIX": "50"}
	each(b, 20, []truth{
		{"go", []string{"./service"}, mixes, true},
		{"node", []string{"node", "service.js"}, mixes, true},
		{"right", []string{"./service"}, nil, false},
	}, load, func(run bench.Run, trial bench.TrialResult, code int, counts string) map[string]bool {
		unexpected := trial.Excluded(run.Profile.ErrorsAllowed(), run.Profile.MaxUnexpected)
		return map[string]bool{
			"excluded": code == console.ExitContender && unexpected != nil && unexpected.Unexpected != nil,
			"within":   sharesAgree(b, counts, trial),
		}
	})
}

// sharesAgree reports whether the 95% interval of the share of unexpected bodies, of the steps with
// more than two connections, has the share that the service counted in them.
func sharesAgree(b *testing.B, counts string, trial bench.TrialResult) bool {
	var truth struct{ Wrong int64 }
	testenv.OK(b, json.Unmarshal([]byte(readFile(b, counts)), &truth))
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
	return is >= low-1e-9 && is <= high
}

// BenchmarkLeak runs a service that keeps 2 KiB per request, and four that do not, for 30 s under a
// limit of 256 MiB, and reports in how many runs growing memory was found. RUNS is the number of
// runs of each.
//
//	make bench-truths
func BenchmarkLeak(b *testing.B) {
	load := "requests: [{get: \"/items/{item}\"}]\nsteps: [16 warm-up for 5s, 16 for 25s]\nlimits: {cpus: 0.5, memory: 256MiB}\n"
	each(b, 10, []truth{
		{"leak", []string{"./service"}, map[string]string{"LEAK": "2048"}, true},
		{"go", []string{"./service"}, nil, false},
		{"node", []string{"node", "service.js"}, nil, false},
		{"java", []string{"java", "-Xmx192m", "-cp", ".", "Service"}, nil, false},
		{"cache", []string{"./service"}, map[string]string{"CACHE": "64"}, false},
	}, load, func(_ bench.Run, trial bench.TrialResult, _ int, _ string) map[string]bool {
		grows := trial.Exit != nil && trial.Exit.OOMKilled
		for _, s := range trial.Steps {
			grows = grows || s.Warnings.Has(bench.WarnMemoryGrowth)
		}
		return map[string]bool{"found": grows}
	})
}

// run runs the contender once, as a process, with the rest of a profile.
func (c truth) run(b *testing.B, dir, counts, more string) (bench.Run, []bench.TrialResult, int) {
	env := map[string]string{"PORT": "{{.Port}}", "TRUTH": counts}
	maps.Copy(env, c.env)
	settings, err := json.Marshal(map[string]any{
		"name": c.name, "env": env, "port": 8080, "ready": map[string]string{"path": "/healthz"},
		"process": map[string]any{"command": append([]string{"sh", "-c", `cd "$0" && exec "$@"`, dir}, c.command...)},
	})
	testenv.OK(b, err)
	services := filepath.Join(b.TempDir(), c.name)
	writeFile(b, filepath.Join(services, "service.yaml"), string(settings))
	profile := profileFile(b, "contenders: ["+c.name+"]\nruntime: process\nvariables: {item: {from: 1, to: 100000}}\n"+more)
	out := filepath.Join(b.TempDir(), "out")
	code, _, stderr := bounded(b, services, 3*time.Minute, "run", "--headless", "--profile", profile, "--services", services, "-o", out)
	run, trials := read(b, out)
	testenv.Need(b, len(trials) == 1, "exit code %d:\n%s", code, stderr)
	return run, trials, code
}

// bound is a contender with one known bottleneck.
type bound struct {
	name   string
	fault  string   // of the contender faulty; "": go-nethttp
	memory string   // its limit in MiB, for the fault
	args   []string // of the run
	client float64  // CPUs that locbench itself may use; 0: all
	at     int      // the step whose bottleneck is checked
	want   verdict.Bound
}

func bounds() []bound {
	return []bound{
		{name: "quota", fault: "spin", args: []string{"--cpus", "0.3", "--connections", "4"}, want: verdict.Quota},
		{name: "memory/heap", fault: "heap", memory: "128", args: []string{"--cpus", "2", "--memory", "128MiB", "--connections", "8"}, want: verdict.Memory},
		{name: "memory/cache", fault: "cache", memory: "64", args: []string{"--cpus", "2", "--memory", "64MiB", "--connections", "8"}, want: verdict.Memory},
		{name: "contender's lock", fault: "lock", args: []string{"--connections", "2,16"}, at: 1, want: verdict.Contender},
		{name: "store", args: []string{"--store-latency", "30ms", "--connections", "4,32"}, at: 1, want: "elasticsearch"},
		{name: "client", fault: "client", memory: "64", args: []string{"--connections", "16"}, client: 0.4, want: verdict.Client},
		{name: "too few connections", fault: "wait", args: []string{"--connections", "2,16"}, want: verdict.Connections},
		{name: "errors", fault: "hang", args: []string{"--connections", "2"}, want: verdict.Errors},
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
	dir, contender := b.TempDir(), "go-nethttp"
	if c.fault != "" {
		contender = "faulty"
		c.args = append(c.args, "--services", made(b, contender, map[string]string{"FAULT": c.fault, "AFTER": "0", "MEMORY": c.memory}, nil))
	}
	args := append([]string{"run", contender, "-p", small(b, contender, "docker"), "--rounds", strconv.Itoa(n), "--duration", "1500ms", "--no-checks", "-o", "out"}, c.args...)
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
