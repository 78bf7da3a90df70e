//go:build acceptance && engine

package cgroup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/testenv"
)

func create(t *testing.T, l bench.Limits, cpus ...int) *Group {
	t.Helper()
	g, err := Tree{}.Create(fmt.Sprintf("locbench-test-%d-%s", os.Getpid(), t.Name()), l, cpuset.Of(cpus...))
	if err != nil {
		t.Skip("no cgroup can be made here: ", err)
	}
	t.Cleanup(func() {
		testenv.OK(t, g.Remove())
	})
	return g
}

// sh starts a shell in the group that waits on its standard input.
func sh(t *testing.T, g *Group, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if fd, ok := g.FD(); ok {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, fd
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	leave, err := g.Enter()
	testenv.OK(t, err)
	err = cmd.Start()
	e := leave()
	testenv.Need(t, e == nil, "%v", e)
	testenv.OK(t, err)
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

func TestGroupOnThisMachine(t *testing.T) {
	g := create(t, all, 0)
	if m, err := g.Missing(), g.NoCPUSet(); len(m) > 0 || err != nil {
		t.Skip("not every limit can be set here: ", m, err)
	}
	home := testenv.Must(os.ReadFile("/proc/self/cgroup"))(t)
	cmd := sh(t, g, "sleep 60 & wait")
	testenv.Until(t, time.Minute, "two processes in the group", func() bool { return len(g.PIDs()) == 2 })
	now, _ := os.ReadFile("/proc/self/cgroup")
	testenv.Check(t, string(now) == string(home), "this process has moved to\n%s", now)
	threads, _ := filepath.Glob("/proc/self/task/*/cgroup")
	for _, path := range threads {
		if data, _ := os.ReadFile(path); strings.Contains(string(data), "locbench-test-") {
			t.Errorf("a thread of this process has stayed in the group:\n%s", data)
		}
	}
	theirs := testenv.Must(Tree{}.membership(strconv.Itoa(cmd.Process.Pid)))(t)
	for c, dir := range g.dirs {
		testenv.Check(t, filepath.Base(theirs[c]) == filepath.Base(dir),
			"controller %q: the child is in %s", c, theirs[c])
	}
	for _, r := range readers(t, g, cmd.Process.Pid) {
		u, err := r.Read()
		if err != nil || u.CPU == 0 || u.Memory == nil || u.Memory.Limit != 64<<20 || u.Memory.Peak == 0 ||
			u.Threads == nil {
			t.Errorf("%+v %+v, %v", u, u.Memory, err)
		}
		r.Close()
	}
	if err := g.Remove(); err != nil { // with two processes in it
		t.Error(err)
	}
	testenv.Check(t, cmd.Wait() != nil, "it ended by itself")
	testenv.OK(t, g.Remove())
}

// readers returns two readers of the same counters.
func readers(t *testing.T, g *Group, pid int) (rs []*Reader) {
	t.Helper()
	a := testenv.Must(g.Reader())(t)
	b := testenv.Must(Tree{}.Process(pid))(t)
	return []*Reader{a, b}
}

// TestBornInV2Group tries the v2 way on any v2 hierarchy, with or without controllers: the kernel
// starts a child in a folder of it.
func TestBornInV2Group(t *testing.T) {
	mounts := testenv.Must(Tree{}.mounts())(t)
	for _, m := range mounts {
		if !m.v2 {
			continue
		}
		name := fmt.Sprintf("locbench-test-%d-v2", os.Getpid())
		in, err := Tree{}.membership("self")
		testenv.OK(t, err)
		g, err := createV2(place{in: m, path: in[""]}, name, bench.Limits{}, nil)
		if err != nil {
			t.Skip("no group can be made here: ", err)
		}
		defer func() {
			testenv.OK(t, g.Remove())
		}()
		cmd := sh(t, g, "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 60")
		if pids := g.PIDs(); len(pids) != 1 || pids[0] != cmd.Process.Pid {
			t.Errorf("in the group: %v, want %d", pids, cmd.Process.Pid)
		}
		r := testenv.Must(g.Reader())(t)
		defer r.Close()
		testenv.Until(t, time.Minute, "CPU time of the child", func() bool {
			u, err := r.Read()
			testenv.Need(t, err == nil && u.Source == "cgroup v2", "%+v, %v", u, err)
			return u.CPU > 0
		})
		return
	}
	t.Skip("no cgroup v2 is mounted")
}

// TestRemoveTakesGroupsBelow: a contender may have created groups in its group.
func TestRemoveTakesGroupsBelow(t *testing.T) {
	g := create(t, all)
	cmd := sh(t, g, "exec sleep 60")
	for _, dir := range g.dirs {
		below := filepath.Join(dir, "one", "two")
		testenv.OK(t, os.MkdirAll(below, 0o755))
		testenv.OK(t, os.WriteFile(filepath.Join(below, "cgroup.procs"), []byte(strconv.Itoa(cmd.Process.Pid)), 0))
	}
	pids := g.PIDs()
	testenv.Check(t, len(pids) == 1 && pids[0] == cmd.Process.Pid, "in the group: %v, want %d", pids, cmd.Process.Pid)
	testenv.OK(t, g.Remove())
	for _, dir := range g.dirs {
		testenv.Check(t, testenv.Err(os.Stat(dir)) != nil, "%s is left", dir)
	}
	testenv.Check(t, cmd.Wait() != nil, "it ended by itself")
}

func TestCleanLeft(t *testing.T) {
	g := create(t, all)
	prefix := fmt.Sprintf("locbench-test-%d-", os.Getpid())
	if gone, err := (Tree{}).CleanLeft(func(string) bool { return false }); err != nil || len(gone) > 0 {
		t.Errorf("kept: %v, %v", gone, err)
	}
	cmd := sh(t, g, "sleep 60")
	gone, err := Tree{}.CleanLeft(func(name string) bool { return strings.HasPrefix(name, prefix) })
	testenv.Check(t, err == nil && len(gone) == 1 && gone[0] == prefix+t.Name(), "%v, %v", gone, err)
	testenv.Check(t, cmd.Wait() != nil, "the process in it is still running")
}

func TestProbe(t *testing.T) {
	probe := fmt.Sprintf("probe-%d", os.Getpid())
	missing, noSet, err := Tree{}.Probe(probe)
	t.Logf("missing: %q, %v, %v", missing, noSet, err)
	left, _ := (Tree{}).CleanLeft(func(name string) bool { return name == probe })
	testenv.Check(t, len(left) <= 0, "left: %v", left)
	testenv.Check(t, os.Geteuid() != 0 || (Tree{}).Version() != 1 || err == nil, "%v", err)
}
