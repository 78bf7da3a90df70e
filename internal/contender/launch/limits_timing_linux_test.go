//go:build acceptance && timing

package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/docker/dockertest"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
)

// TestHalfCPU runs a spinner with a quota of half a CPU: it gets that, within 5%, by its own
// counters. It measures the quota, not the speed of the machine: the kernel never grants more, and
// grants as much if half a CPU is available (see favor).
func TestHalfCPU(t *testing.T) {
	limits := bench.Limits{CPUs: 0.5, CPUSet: 2, Memory: 64 << 20, PIDs: 50}
	t.Run("process", func(t *testing.T) {
		g, err := cgroup.Tree{}.Create("locbench-probe-half", limits, cpuset.Of(0))
		if err != nil {
			t.Skip("no cgroup can be made here: ", err)
		}
		g.Remove()
		command := []string{dockertest.Helper(t), "spin", "2", "sleep"}
		judgeHalfCPU(t, Process{}, bench.LaunchSpec{RunID: runID(t), Name: "t", Artifact: bench.Artifact{Command: command}, Limits: limits})
	})
	t.Run("docker", func(t *testing.T) {
		e := dockertest.Engine(t)
		artifact := bench.Artifact{Image: dockertest.Image(t, e), Command: []string{"spin", "2", "sleep"}}
		d, err := NewDocker(t.Context(), e, runID(t), false)
		testenv.OK(t, err)
		t.Cleanup(func() {
			testenv.OK(t, d.Close(context.Background()))
		})
		judgeHalfCPU(t, d, bench.LaunchSpec{RunID: runID(t), Name: "t", Artifact: artifact, Limits: limits})
	})
}

// launches is the method of a launcher.
type launches interface {
	Launch(context.Context, bench.LaunchSpec) (bench.Instance, error)
}

func judgeHalfCPU(t *testing.T, launcher launches, spec bench.LaunchSpec) {
	t.Helper()
	testenv.Judge(t, 5, 100*time.Millisecond, func(t testing.TB) (err error) {
		inst, err := launcher.Launch(t.Context(), spec)
		if err != nil {
			return err
		}
		defer func() {
			_, e := inst.Stop(context.Background(), 0)
			err = errors.Join(err, e)
		}()
		favor(t, inst.Info().PID)
		time.Sleep(500 * time.Millisecond)
		before, err := inst.Usage(t.Context())
		if err != nil {
			return err
		}
		time.Sleep(3200 * time.Millisecond)
		after, err := inst.Usage(t.Context())
		if err != nil {
			return err
		}
		cpus := float64(after.CPU-before.CPU) / float64(after.At.Sub(before.At))
		t.Logf("%s: %.4f CPUs", after.Source, cpus)
		if cpus < 0.475 || cpus > 0.525 {
			return fmt.Errorf("%.3f CPUs used, want 0.5 ± 5%%", cpus)
		}
		return nil
	})
}

// favor gives the cgroups of a process the greatest weight during the test, so other processes do
// not prevent the spinner from using up its quota. It does not change the quota.
func favor(t testing.TB, pid int) {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	testenv.OK(t, err)
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		root, file, most := "", "", ""
		switch {
		case len(f) == 3 && slices.Contains(strings.Split(f[1], ","), "cpu"):
			root, file, most = "/sys/fs/cgroup/"+f[1], "cpu.shares", "262144"
		case len(f) == 3 && f[1] == "":
			root, file, most = "/sys/fs/cgroup", "cpu.weight", "10000"
		default:
			continue
		}
		for dir := f[2]; dir != "/"; dir = filepath.Dir(dir) {
			path := filepath.Join(root, dir, file)
			old, err := os.ReadFile(path)
			if err != nil || os.WriteFile(path, []byte(most), 0) != nil {
				continue
			}
			t.Cleanup(func() { os.WriteFile(path, bytes.TrimSpace(old), 0) })
		}
	}
}
