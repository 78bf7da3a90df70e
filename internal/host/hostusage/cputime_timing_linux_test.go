//go:build acceptance && timing

package hostusage_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/hostusage"
	"github.com/locbench/locbench/internal/load"
	"github.com/locbench/locbench/internal/testenv"
)

// byHand finds a counter of a container without the code of locbench.
func byHand(t testing.TB, inst bench.Instance) func() time.Duration {
	t.Helper()
	for _, pattern := range []string{"/sys/fs/cgroup/cpuacct*/%s", "/sys/fs/cgroup/cpu,cpuacct/%s", "/sys/fs/cgroup/%s"} {
		for _, path := range []string{"docker/" + inst.Info().ID, "system.slice/docker-" + inst.Info().ID + ".scope"} {
			dirs, _ := filepath.Glob(fmt.Sprintf(pattern, path))
			if len(dirs) == 0 {
				continue
			}
			if _, err := os.Stat(filepath.Join(dirs[0], "cpuacct.usage")); err == nil {
				return func() time.Duration { return handNumber(t, filepath.Join(dirs[0], "cpuacct.usage"), "") }
			}
			return func() time.Duration {
				return 1000 * handNumber(t, filepath.Join(dirs[0], "cpu.stat"), "usage_usec ")
			}
		}
	}
	t.Fatal("no counter of CPU time found by hand")
	return nil
}

func handNumber(t testing.TB, file, key string) time.Duration {
	data := testenv.Must(os.ReadFile(file))(t)
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			n := testenv.Must(strconv.ParseInt(strings.TrimSpace(rest), 10, 64))(t)
			return time.Duration(n)
		}
	}
	t.Fatalf("no %q in %s", key, file)
	return 0
}

// TestCPUTimeAgainstTheGroupsOwnCounter reads the counter by hand right before and right after each
// of the two readings of a step. Counters only grow: each reading lies between its neighbors,
// whatever else the machine does. On an idle machine they are close enough to know the CPU time to
// 1%.
func TestCPUTimeAgainstTheGroupsOwnCounter(t *testing.T) {
	o := newObedient(t)
	for _, tt := range []struct {
		name   string
		cpus   float64
		during func(t testing.TB, inst bench.Instance)
	}{
		{"1.5 CPUs, two spinners", 1.5, func(t testing.TB, inst bench.Instance) { ask(t, inst, "spin", 2); time.Sleep(3 * time.Second) }},
		{"0.5 CPUs", 0.5, func(t testing.TB, inst bench.Instance) { ask(t, inst, "spin", 1); time.Sleep(3 * time.Second) }},
		{"a fixed number of loops", 1, func(t testing.TB, inst bench.Instance) { ask(t, inst, "burn", 10_000_000) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cpus := min(tt.cpus, float64(runtime.NumCPU()))
			inst := o.start(t, bench.Limits{CPUs: cpus, Memory: 64 << 20})
			hand := byHand(t, inst)
			testenv.Judge(t, 10, 10*time.Millisecond, func(t testing.TB) error {
				defer ask(t, inst, "spin", 0)
				b1 := hand()
				before, err1 := hostusage.BeginInstance(t.Context(), inst)
				b2 := hand()
				tt.during(t, inst)
				a1 := hand()
				after, err2 := hostusage.ReadInstance(t.Context(), inst)
				a2 := hand()
				if err := errors.Join(err1, err2); err != nil {
					return err
				}
				testenv.Check(t, before.CPU >= b1 && before.CPU <= b2 && after.CPU >= a1 && after.CPU <= a2,
					"%v outside %v to %v, or %v outside %v to %v", before.CPU, b1, b2, after.CPU, a1, a2)
				step := bench.StepResult{Before: before, After: after}
				cpu, ok := step.CPU()
				testenv.Check(t, ok && cpu > 0, "CPU time %v, %v", cpu, ok)
				p := step.Pressure()
				testenv.Check(t, before.Pressure == nil || (p != nil && p.CPU != nil), "pressure %+v", p)
				least, most := a1-b2, a2-b1
				t.Logf("%v, by hand %v to %v; %v by the clock", cpu, least, most, after.At.Sub(before.At))
				if quota := time.Duration(cpus * float64(after.At.Sub(before.At)+200*time.Millisecond)); cpu > quota {
					return fmt.Errorf("%v of CPU time under a quota of %v", cpu, quota)
				}
				if user, system, ok := step.CPUSplit(); !ok || user <= system {
					return fmt.Errorf("a spinner: user %v, system %v, %v", user, system, ok)
				}
				if float64(most-least) > .01*float64(most) {
					return fmt.Errorf("%v to %v by hand: not precise enough", least, most)
				}
				return nil
			})
		})
	}
}

// spent requests from the contender the CPU time that the kernel has counted for its process, and
// how many requests it has worked on.
func spent(t testing.TB, inst bench.Instance) (cpu time.Duration, requests int64) {
	t.Helper()
	resp, err := http.Get(inst.BaseURL() + "/spent")
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 100))
	if err == nil {
		_, err = fmt.Sscan(string(text), (*int64)(&cpu), &requests)
	}
	testenv.Check(t, err == nil, "%q: %v", text, err)
	return cpu, requests
}

// TestCPUPerRequestOfAStep loads a server that uses a known CPU time for each request, under a
// quota, with one connection and with a queue. The expected value is the time that the kernel
// counted for its process, divided by the requests that the process has worked on, both read by the
// process at the two ends.
func TestCPUPerRequestOfAStep(t *testing.T) {
	o := newObedient(t)
	for _, each := range []int{200, 2000} { // µs
		for _, connections := range []int{1, 64, 400} {
			t.Run(fmt.Sprintf("%d µs/%d connections", each, connections), func(t *testing.T) {
				inst := o.start(t, bench.Limits{CPUs: 0.5, Memory: 128 << 20})
				// Both sides read at the two ends, one after the other. In between, a busy machine
				// may let time pass: 20 ms are 1.3% of what the quota gives.
				testenv.Judge(t, 5, 20*time.Millisecond, func(t testing.TB) error {
					return cpuPerRequest(t, inst, each, connections)
				})
			})
		}
	}
}

// cpuPerRequest makes one attempt. Whatever the machine does, every request sent must be worked on.
func cpuPerRequest(t testing.TB, inst bench.Instance, each, connections int) error {
	var before, after *bench.Usage
	var beforeErr, afterErr error
	var cpuFrom, cpuTo time.Duration
	var from, to int64
	_, first := spent(t, inst)
	l, err := load.Engine{}.Run(t.Context(), load.Plan{
		BaseURL:  inst.BaseURL(),
		Step:     bench.Step{Name: "cpu", Connections: connections, Duration: 3 * time.Second},
		Requests: []bench.Request{{Name: "cpu", Path: fmt.Sprintf("/cpu?n=%d", each), ExpectStatus: 200}},
		OnStart: func() {
			before, beforeErr = hostusage.BeginInstance(t.Context(), inst)
			cpuFrom, from = spent(t, inst)
		},
		OnEnd: func() {
			after, afterErr = hostusage.ReadInstance(t.Context(), inst)
			cpuTo, to = spent(t, inst)
		},
	}, nil)
	_, last := spent(t, inst)
	if err := errors.Join(err, beforeErr, afterErr); err != nil {
		return err
	}
	testenv.Check(t, l.AllSucceeded() == last-first && l.FailedTotal() == 0,
		"%d succeeded, the contender worked for %d; failed %v", l.AllSucceeded(), last-first, l.Failed)
	got, ok := bench.StepResult{Load: l, Before: before, After: after}.CPUPerRequest()
	if !ok || to <= from {
		return fmt.Errorf("CPU time known: %v; %d requests between the ends", ok, to-from)
	}
	truth := (cpuTo - cpuFrom) / time.Duration(to-from)
	ratio := float64(got) / float64(truth)
	t.Logf("%.0f/s, CPU per request %s, by the process %s: %.4f", l.Throughput(), got, truth, ratio)
	if ratio < .98 || ratio > 1.02 {
		return fmt.Errorf("CPU per request %s, by the kernel's account of the process %s: ratio %.3f", got, truth, ratio)
	}
	return nil
}
