//go:build acceptance && engine

package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/contender/docker/dockertest"
	"github.com/locbench/locbench/internal/host/cgroup"
)

func processSpec(t testing.TB, helper string, args ...string) bench.LaunchSpec {
	return bench.LaunchSpec{RunID: runID(t), Name: "t", Artifact: bench.Artifact{Command: append([]string{helper}, args...)}}
}

func launchProcess(t *testing.T, spec bench.LaunchSpec) bench.Instance {
	t.Helper()
	inst, err := Process{}.Launch(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
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
		if !info.LimitsEnforced || info.LimitsNote != "" || len(info.CPUSet) == 0 || info.PID == 0 {
			t.Errorf("%+v", info)
		}
		checkQuota(t, inst)
		u, err := inst.Usage(t.Context())
		if err != nil || u.Memory == nil || u.Memory.Limit != 64<<20 || u.Memory.Peak == 0 || *u.Processes != 1 || *u.Threads < 2 {
			t.Errorf("%+v %+v, %v", u, u.Memory, err)
		}
		status, _ := readProc(info.PID, "status")
		if !strings.Contains(string(status), "Cpus_allowed_list:\t"+info.CPUSet.String()+"\n") {
			t.Errorf("not held to CPU %s: %s", info.CPUSet, status)
		}
	})
	t.Run("OOM", func(t *testing.T) {
		needsGroups(t)
		spec := processSpec(t, helper, "hog", "300", "sleep")
		spec.Limits = bench.Limits{Memory: 64 << 20}
		exit := ended(t, launchProcess(t, spec))
		if !exit.OOMKilled || exit.Signal != "SIGKILL" || exit.Code != 137 {
			t.Errorf("%+v", exit)
		}
	})
	t.Run("WithoutGroup", func(t *testing.T) {
		spec := processSpec(t, helper, "hog", "40", "spin", "1", "serve", "0")
		spec.Limits = bench.Limits{CPUs: 0.5, CPUSet: 1, Memory: 64 << 20, PIDs: 50}
		withoutGroups(t, spec, func(inst bench.Instance) {
			info := inst.Info()
			if want := "CPU quota, memory, processes: this user may not"; info.LimitsEnforced || info.LimitsNote != want {
				t.Errorf("%v %q, want %q", info.LimitsEnforced, info.LimitsNote, want)
			}
			waitLog(t, inst, "listening")
			before, after := measure(t, inst, time.Second)
			if after.Source != "/proc" || after.CPU <= before.CPU || after.Memory.Used < 40<<20 || after.Memory.Peak < after.Memory.Used ||
				after.Memory.PeakSource != "VmHWM" || *after.Processes != 1 || *after.Threads < 2 || after.Throttling != nil {
				t.Errorf("%+v %+v", after, after.Memory)
			}
			status, _ := readProc(info.PID, "status")
			if !strings.Contains(string(status), "Cpus_allowed_list:\t"+info.CPUSet.String()+"\n") {
				t.Errorf("not held to CPU %s", info.CPUSet)
			}
		})
	})
	t.Run("GroupRefused", func(t *testing.T) {
		// A folder that looks like a v2 hierarchy, in which the kernel refuses to start a process.
		root := t.TempDir()
		for path, content := range map[string]string{
			"proc/self/mountinfo":            "25 24 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			"proc/self/cgroup":               "0::/\n",
			"sys/fs/cgroup/cgroup.procs":     "",
			"sys/fs/cgroup/user/cpu.weight":  "100",
			"sys/fs/cgroup/user/cgroup.type": "domain",
		} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, path), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		spec := processSpec(t, helper, "print", "hello", "sleep")
		spec.Limits = bench.Limits{CPUs: 0.5, CPUSet: 1}
		p := newProcess(newSandbox(cgroup.Tree{}, spec, nil), spec)
		if err := p.box.close(); err != nil {
			t.Fatal(err)
		}
		p.box = newSandbox(cgroup.Tree{Root: root}, spec, nil)
		if _, ok := p.box.group.FD(); !ok {
			t.Fatal("not taken for v2")
		}
		if err := p.launch(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		stopAtEnd(t, p)
		waitLog(t, p, "hello")
		if note := p.Info().LimitsNote; !strings.Contains(note, "CPU quota: start in the group: ") || strings.Contains(note, "CPU set") {
			t.Errorf("%q", note)
		}
		if u, err := p.Usage(t.Context()); err != nil || u.Source != "/proc" {
			t.Errorf("%+v, %v", u, err)
		}
	})
	t.Run("GroupWithoutMemory", func(t *testing.T) {
		// A real hierarchy of cgroup v2 without controllers, as in a container whose own processes
		// prevent them.
		root, v2 := t.TempDir(), ""
		for _, p := range hierarchies(t) {
			if names, err := os.ReadFile(filepath.Join(p, "cgroup.controllers")); err == nil && !strings.Contains(string(names), "memory") {
				v2 = p
			}
		}
		if v2 == "" {
			t.Skip("no cgroup v2 without controllers is mounted here")
		}
		in, err := os.ReadFile("/proc/self/cgroup")
		if err != nil {
			t.Fatal(err)
		}
		for path, content := range map[string]string{"mountinfo": "25 24 0:22 / /v2 rw - cgroup2 cgroup2 rw\n", "cgroup": string(in)} {
			if err := errors.Join(os.MkdirAll(filepath.Join(root, "proc/self"), 0o755), os.WriteFile(filepath.Join(root, "proc/self", path), []byte(content), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(v2, filepath.Join(root, "v2")); err != nil {
			t.Fatal(err)
		}
		spec := processSpec(t, helper, "hog", "40", "child", "serve", "0")
		spec.Limits = bench.Limits{Memory: 64 << 20}
		p := newProcess(newSandbox(cgroup.Tree{}, spec, nil), spec)
		if err := p.box.close(); err != nil {
			t.Fatal(err)
		}
		if p.box = newSandbox(cgroup.Tree{Root: root}, spec, nil); p.box.group == nil || p.box.reader == nil {
			t.Skip("no group can be made here: ", p.box.missing)
		}
		if err := p.launch(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		stopAtEnd(t, p)
		waitLog(t, p, "listening")
		u, err := p.Usage(t.Context())
		if err != nil || u.CPU == 0 || u.Source != "cgroup v2; memory and threads of /proc" || u.Processes == nil || *u.Processes != 2 || u.Threads == nil || *u.Threads < 2 {
			t.Errorf("%+v, %v", u, err)
		}
		if m := u.Memory; m == nil || m.Used < 40<<20 || m.Peak < m.Used || m.PeakSource != "VmHWM" || m.PeakIsSample {
			t.Errorf("%+v", m)
		}
		if note := p.Info().LimitsNote; !strings.Contains(note, "memory: the kernel has no memory.max") {
			t.Errorf("%q", note)
		}
		if exit := p.box.oomKilled(); exit {
			t.Error("out of memory, without a limit")
		}
	})
	t.Run("ServeAndStop", func(t *testing.T) {
		port, err := FreePort()
		if err != nil {
			t.Fatal(err)
		}
		spec := processSpec(t, helper, "env", "serve", strconv.Itoa(port))
		spec.Port, spec.Env = port, map[string]string{"GREETING": "hello world", "PATH": "/nowhere"}
		inst := launchProcess(t, spec)
		waitLog(t, inst, "listening")
		get(t, inst)
		for _, want := range []string{"GREETING=hello world", "PATH=/nowhere", envRun + "=" + runID(t)} {
			waitLog(t, inst, want)
		}
		for _, l := range inst.Logs() {
			if strings.HasPrefix(l.Text, "GOMAXPROCS=") || strings.HasPrefix(l.Text, "PWD=") {
				t.Errorf("environment has %s", l.Text)
			}
		}
		r, err := inst.Stop(t.Context(), 10*time.Second)
		if err != nil || !r.Graceful || r.Killed || r.ExitedBeforeStop || r.Exit.Code != 0 {
			t.Errorf("%+v, %v", r, err)
		}
		waitLog(t, inst, "stopping")
		if again, err := inst.Stop(t.Context(), 0); err != nil || again != r {
			t.Errorf("again %+v, %v", again, err)
		}
	})
	t.Run("ExitCode", func(t *testing.T) {
		inst := launchProcess(t, processSpec(t, helper, "print", "last words", "exit", "3"))
		if exit := ended(t, inst); exit.Code != 3 || exit.Signal != "" || len(inst.Logs()) != 1 {
			t.Errorf("%+v %v", exit, inst.Logs())
		}
		if r, err := inst.Stop(t.Context(), time.Second); err != nil || !r.ExitedBeforeStop || r.Exit.Code != 3 {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("DeafWithChild", func(t *testing.T) {
		inst := launchProcess(t, processSpec(t, helper, "deaf", "child", "sleep"))
		var child int
		fmt.Sscanf(waitLog(t, inst, "child"), "child %d", &child)
		if child == 0 || !exists(child) {
			t.Fatalf("no child: %v", inst.Logs())
		}
		r, err := inst.Stop(t.Context(), 100*time.Millisecond)
		if err != nil || !r.Killed || r.Graceful || r.Exit.Signal != "SIGKILL" || r.Exit.OOMKilled {
			t.Errorf("%+v, %v", r, err)
		}
		gone(t, child)
		gone(t, inst.Info().PID)
	})
	t.Run("Noise", func(t *testing.T) {
		inst := launchProcess(t, processSpec(t, helper, "noise", "flood", "3000"))
		ended(t, inst)
		waitLog(t, inst, "line 2999") // what is in the pipe at the exit is read later
		logs := inst.Logs()
		if len(logs) > 500 || logs[len(logs)-1].Text != "line 2999" {
			t.Errorf("%d lines", len(logs))
		}
	})
	t.Run("CannotStart", func(t *testing.T) {
		for _, command := range [][]string{{"/absent/program"}, {os.DevNull}, {}} {
			spec := processSpec(t, helper)
			spec.Artifact.Command = command
			if _, err := (Process{}).Launch(t.Context(), spec); err == nil || !strings.HasPrefix(err.Error(), "start ") {
				t.Errorf("%v: %v", command, err)
			}
		}
	})
	t.Run("Canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := (Process{}).Launch(ctx, processSpec(t, helper, "sleep")); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if left := marked(envRun + "=" + runID(t)); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
	t.Run("KilledParent", func(t *testing.T) { testKilledParent(t, helper) })
	// All cgroups are removed.
	if left, err := cleanBeginning(groupPrefix + owner() + "-"); err != nil || len(left) > 0 {
		t.Errorf("groups left: %v, %v", left, err)
	}
}

// withoutGroups launches with a sandbox without a cgroup, as for a user without rights.
func withoutGroups(t *testing.T, spec bench.LaunchSpec, check func(bench.Instance)) {
	t.Helper()
	p := newProcess(newSandbox(cgroup.Tree{}, spec, nil), spec)
	p.box.dropGroup(errors.New("this user may not"))
	if err := p.launch(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	stopAtEnd(t, p)
	check(p)
}

// testKilledParent kills a process that has launched another, like a locbench: the kernel kills the
// main process too, and Clean finds the rest, but not before the owner is dead.
func testKilledParent(t *testing.T, helper string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self, "-test.run=^TestBeKilledParent$", "-test.v")
	parent.Env = append(os.Environ(), "LOCBENCH_TEST_HELPER="+helper, "LOCBENCH_TEST_RUN="+runID(t))
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { parent.Process.Kill(); parent.Wait() }()
	var main, child int
	buf := make([]byte, 0, 4096)
	for main == 0 || child == 0 {
		n, err := out.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if i := strings.Index(string(buf), "LAUNCHED"); i >= 0 && strings.Contains(string(buf[i:]), "\n") {
			fmt.Sscanf(string(buf[i:]), "LAUNCHED %d %d", &main, &child)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, buf)
		}
	}
	if !exists(main) || !exists(child) {
		t.Fatal("nothing to kill")
	}
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
	if left, err := cleanBeginning(groupPrefix + strconv.Itoa(parent.Process.Pid) + "."); err != nil || len(left) > 0 {
		t.Errorf("its groups are left: %v, %v", left, err)
	}
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
	inst, err := Process{}.Launch(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	var child int
	fmt.Sscanf(waitLog(t, inst, "child"), "child %d", &child)
	fmt.Printf("\nLAUNCHED %d %d\n", inst.Info().PID, child)
	time.Sleep(time.Minute)
}
