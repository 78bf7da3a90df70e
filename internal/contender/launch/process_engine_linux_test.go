//go:build acceptance && engine

package launch

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/docker/dockertest"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
)

func processSpec(t testing.TB, helper string, args ...string) bench.LaunchSpec {
	return bench.LaunchSpec{RunID: runID(t), Name: "t", Artifact: bench.Artifact{Command: append([]string{helper}, args...)}}
}

func launchProcess(t *testing.T, spec bench.LaunchSpec) bench.Instance {
	t.Helper()
	inst := testenv.Must(Process{}.Launch(t.Context(), spec))(t)
	stopAtEnd(t, inst)
	return inst
}

// needsGroups skips the test if this user may not make cgroups with limits.
func needsGroups(t *testing.T) {
	t.Helper()
	g, err := cgroup.Tree{}.Create("locbench-probe-"+strconv.Itoa(os.Getpid()), bench.Limits{CPUs: 1, Memory: 1 << 30, PIDs: 100}, cpuset.Of(0))
	if err != nil {
		t.Skip("no cgroup can be made here: ", err)
	}
	defer g.Remove()
	if m, err := g.Missing(), g.NoCPUSet(); len(m) > 0 || err != nil {
		t.Skip("not every limit can be set here: ", m, err)
	}
}

func TestProcess(t *testing.T) {
	t.Parallel()
	helper := dockertest.Helper(t)
	t.Run("HalfCPU", func(t *testing.T) {
		needsGroups(t)
		spec := processSpec(t, helper, "spin", "2", "sleep")
		spec.Limits = bench.Limits{CPUs: 0.5, CPUSet: 2, Memory: 64 << 20, PIDs: 50}
		inst := launchProcess(t, spec)
		info := inst.Info()
		testenv.Check(t, info.LimitsEnforced && info.LimitsNote == "" && len(info.CPUSet) != 0 && info.PID != 0,
			"%+v", info)
		checkQuota(t, inst)
		u, err := inst.Usage(t.Context())
		if err != nil || u.Memory == nil || u.Memory.Limit != 64<<20 || u.Memory.Peak == 0 || *u.Processes != 1 || *u.Threads < 2 {
			t.Errorf("%+v %+v, %v", u, u.Memory, err)
		}
		status, _ := cgroup.ReadProc(info.PID, "status")
		testenv.Check(t, strings.Contains(string(status), "Cpus_allowed_list:\t"+info.CPUSet.String()+"\n"),
			"not held to CPU %s: %s", info.CPUSet, status)
	})
	t.Run("OOM", func(t *testing.T) {
		needsGroups(t)
		spec := processSpec(t, helper, "hog", "300", "sleep")
		spec.Limits = bench.Limits{Memory: 64 << 20}
		exit := ended(t, launchProcess(t, spec))
		testenv.Check(t, exit.OOMKilled && exit.Signal == "SIGKILL" && exit.Code == 137, "%+v", exit)
	})
	t.Run("ServeAndStop", func(t *testing.T) {
		port, err := FreePort()
		testenv.OK(t, err)
		spec := processSpec(t, helper, "env", "serve", strconv.Itoa(port))
		spec.Port, spec.Env = port, map[string]string{"GREETING": "hello world", "PATH": "/nowhere"}
		inst := launchProcess(t, spec)
		waitLog(t, inst, "listening")
		get(t, inst)
		for _, want := range []string{"GREETING=hello world", "PATH=/nowhere", envRun + "=" + runID(t)} {
			waitLog(t, inst, want)
		}
		for _, l := range inst.Logs() {
			testenv.Check(t, !strings.HasPrefix(l.Text, "GOMAXPROCS=") && !strings.HasPrefix(l.Text, "PWD="),
				"environment has %s", l.Text)
		}
		r, err := inst.Stop(t.Context(), 10*time.Second)
		testenv.Check(t, err == nil && r.Graceful && !r.Killed && !r.ExitedBeforeStop && r.Exit.Code == 0,
			"%+v, %v", r, err)
		waitLog(t, inst, "stopping")
		again, err := inst.Stop(t.Context(), 0)
		testenv.Check(t, err == nil && again == r, "again %+v, %v", again, err)
	})
	t.Run("KilledParent", func(t *testing.T) { testKilledParent(t, helper) })
	// All cgroups are removed.
	left, err := cleanBeginning(groupPrefix + owner() + "-")
	testenv.Check(t, err == nil && len(left) == 0, "groups left: %v, %v", left, err)
}

// testKilledParent kills a process that has launched another, like a locbench: the kernel kills the
// main process too, and Clean finds the rest, but not before the owner is dead.
func testKilledParent(t *testing.T, helper string) {
	self, err := os.Executable()
	testenv.OK(t, err)
	parent := exec.Command(self, "-test.run=^TestBeKilledParent$", "-test.v")
	parent.Env = append(os.Environ(), "LOCBENCH_TEST_HELPER="+helper, "LOCBENCH_TEST_RUN="+runID(t))
	out := testenv.Must(parent.StdoutPipe())(t)
	testenv.OK(t, parent.Start())
	defer func() { parent.Process.Kill(); parent.Wait() }()
	var main, child int
	buf := make([]byte, 0, 4096)
	for main == 0 || child == 0 {
		n, err := out.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if i := strings.Index(string(buf), "LAUNCHED"); i >= 0 && strings.Contains(string(buf[i:]), "\n") {
			fmt.Sscanf(string(buf[i:]), "LAUNCHED %d %d", &main, &child)
		}
		testenv.Need(t, err == nil, "%v: %s", err, buf)
	}
	testenv.Need(t, exists(main) && exists(child), "nothing to kill")
	if c, err := Clean(t.Context(), nil, CleanOptions{Run: runID(t)}); err != nil || len(c.Removed) > 0 || len(c.Kept) < 2 || !exists(child) {
		t.Errorf("cleaned although the owner is alive: %q, %v", c, err)
	}
	parent.Process.Kill()
	io.Copy(io.Discard, out)
	parent.Wait()
	gone(t, main)
	if !exists(child) {
		t.Log("the child went with its parent") // it is in its own session: only Clean finds it
	}
	c, err := Clean(t.Context(), nil, CleanOptions{Run: runID(t)})
	if err != nil || len(c.Removed) < 1 || len(c.Kept) > 0 || !strings.Contains(c.Removed[0], strconv.Itoa(child)) {
		t.Errorf("%q, %v; want the child, %d", c, err, child)
	}
	gone(t, child)
	left, err := cleanBeginning(groupPrefix + strconv.Itoa(parent.Process.Pid) + ".")
	testenv.Check(t, err == nil && len(left) == 0, "its groups are left: %v, %v", left, err)
}

func cleanBeginning(prefix string) (removed []string, err error) {
	return cgroup.Tree{}.CleanLeft(func(name string) bool { return strings.HasPrefix(name, prefix) })
}

// TestBeKilledParent is the process that testKilledParent kills, not a test.
func TestBeKilledParent(t *testing.T) {
	helper := os.Getenv("LOCBENCH_TEST_HELPER")
	if helper == "" {
		t.Skip("run by TestProcess/KilledParent in its own process")
	}
	spec := processSpec(t, helper, "child", "deaf", "sleep")
	spec.RunID = os.Getenv("LOCBENCH_TEST_RUN")
	inst := testenv.Must(Process{}.Launch(context.Background(), spec))(t)
	var child int
	fmt.Sscanf(waitLog(t, inst, "child"), "child %d", &child)
	fmt.Printf("\nLAUNCHED %d %d\n", inst.Info().PID, child)
	time.Sleep(time.Minute)
}
