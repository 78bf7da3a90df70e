//go:build acceptance && linux

package main

import (
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
)

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
			return made(t, faultyBinary, "faulty", map[string]string{"FAULT": by, "MEMORY": memory}, nil)
		}
	}
	return []bound{
		{name: "quota", services: misbehaving("spin"), args: []string{"faulty", "--cpus", "0.3", "--connections", "4"}, want: verdict.Quota},
		{name: "memory/heap", services: built("heap", "128"), args: []string{"faulty", "--cpus", "2", "--memory", "128MiB", "--connections", "8"}, want: verdict.Memory},
		{name: "memory/cache", services: built("cache", "64"), args: []string{"faulty", "--cpus", "2", "--memory", "64MiB", "--connections", "8"}, want: verdict.Memory},
		{name: "contender's lock", services: misbehaving("lock"), args: []string{"faulty", "--connections", "2,16"}, at: 1, want: verdict.Contender},
		{name: "store", args: []string{"go-nethttp", "--store-latency", "30ms", "--connections", "4,32"}, at: 1, want: verdict.Store},
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
	if len(trials) != n {
		b.Fatalf("exit code %d:\n%s", code, running.stderr.String())
	}
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
		if err := g.Remove(); err != nil {
			b.Error(err)
		}
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
		if err := leave(); err != nil {
			b.Error(err)
		}
	}()
	return begin(b, cmd)
}
