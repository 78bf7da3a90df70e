//go:build acceptance && engine

package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/testenv"
)

// inNamespace runs the calling test in a new process, the first of a new PID namespace with its own
// mounts, so the test cleans only what it has made. It returns true there, and false here after
// that process has exited.
func inNamespace(t *testing.T, env ...string) bool {
	t.Helper()
	if os.Getenv("LOCBENCH_TEST_NAMESPACE") != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(append(os.Environ(), "LOCBENCH_TEST_NAMESPACE=1"), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if os.IsPermission(err) {
		t.Skip("this user may not make namespaces: ", err)
	}
	testenv.Check(t, err == nil && !strings.Contains(string(out), "--- SKIP"), "%v\n%s", err, out)
	return false
}

// ownMounts makes later mounts private to this process, and mounts the /proc of its PID namespace.
func ownMounts(t *testing.T) {
	t.Helper()
	testenv.OK(t, unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	testenv.OK(t, unix.Mount("proc", "/proc", "proc", 0, ""))
}

// hierarchies returns the folders at which cgroups are mounted.
func hierarchies(t *testing.T) (points []string) {
	t.Helper()
	mounts := testenv.Must(os.ReadFile("/proc/self/mounts"))(t)
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 2 && (f[2] == "cgroup" || f[2] == "cgroup2") {
			points = append(points, f[1])
		}
	}
	return points
}

// zoneEnv names the cgroup that replaces each hierarchy in a test.
const zoneEnv = "LOCBENCH_TEST_ZONE"

// zones replaces each hierarchy by a new cgroup, and returns those that accept processes.
func zones(t *testing.T) (points []string) {
	t.Helper()
	for _, p := range hierarchies(t) {
		zone := filepath.Join(p, os.Getenv(zoneEnv))
		if err := os.Mkdir(zone, 0o755); err != nil {
			t.Logf("%s is left out: %v", p, err)
			testenv.OK(t, unix.Unmount(p, unix.MNT_DETACH))
			continue
		}
		testenv.OK(t, unix.Mount(zone, p, "", unix.MS_BIND, ""))
		if !strings.HasSuffix(p, "/cpuset") { // on v1 it accepts no process before it has CPUs and memory
			points = append(points, p)
		}
	}
	if len(points) == 0 {
		t.Skip("no cgroup can be made here")
	}
	return points
}

// removeZones removes what zones has made, once its processes have exited.
func removeZones(t *testing.T, zone string) {
	t.Helper()
	for _, p := range hierarchies(t) {
		var dirs []string
		_ = filepath.WalkDir(filepath.Join(p, zone), func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
		for _, dir := range slices.Backward(dirs) {
			err := os.Remove(dir)
			for try := 0; err != nil && try < 100; try++ {
				time.Sleep(10 * time.Millisecond)
				err = os.Remove(dir)
			}
			testenv.Check(t, err == nil, "%v", err)
		}
	}
}

// put moves a process into the cgroups of a name.
func put(t *testing.T, points []string, name string, pid int) {
	t.Helper()
	for _, p := range points {
		dir := filepath.Join(p, name)
		testenv.OK(t, os.MkdirAll(dir, 0o755))
		testenv.OK(t, os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0))
	}
}

// sleeper starts a process that only sleeps.
func sleeper(t *testing.T, env ...string) int {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.Env = append(os.Environ(), env...)
	testenv.OK(t, cmd.Start())
	done := make(chan struct{})
	go func() { defer close(done); _ = cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-done })
	return cmd.Process.Pid
}

// TestCleanTouchesNothingElse: with real cgroups and processes, clean kills, even with --all, only
// what is in cgroups whose names have locbench's exact form, and never its own.
func TestCleanTouchesNothingElse(t *testing.T) {
	zone := fmt.Sprintf("test-zone-%d", os.Getpid())
	if !inNamespace(t, zoneEnv+"="+zone) {
		removeZones(t, zone)
		return
	}
	ownMounts(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // the folders of processes of other runs are there
	points := zones(t)
	elsewhere := self()
	elsewhere.space = "1"
	dead, alien := deadOwner(), elsewhere.String()
	const random = "-0123456789ab"
	type thing struct {
		name string
		pid  int
	}
	group := func(name string) thing {
		th := thing{name, sleeper(t)}
		put(t, points, name, th.pid)
		return th
	}
	left, living, far := group(groupName(dead+random, "")), group(groupName(owner()+random, "")), group(groupName(alien+random, ""))
	below := group("some.slice/" + groupName(dead+"-aaaaaaaaaaaa", ""))
	foreign := []thing{}
	for _, name := range []string{
		"locbench-nightly.service", "locbench-ci.slice", "locbench-", "locbench-" + dead, "locbench-" + dead + random, groupName(dead+random, "") + ".scope",
		groupName(dead+"-0123456789", ""), groupName(dead+"-0123456789AB", ""), groupName("x"+random, ""), groupName("1.2"+random, ""),
		"my-" + groupName(dead+random, ""),
	} {
		foreign = append(foreign, group(name))
	}
	ours := groupName(dead+"-bbbbbbbbbbbb", "")
	mate := group(ours)
	put(t, points, ours, os.Getpid())
	marked := func(name string, env ...string) thing { return thing{name, sleeper(t, env...)} }
	killed := marked("marked", envRun+"=r1", envInstance+"="+dead+random)
	for _, env := range [][]string{
		{envRun + "=r1"}, {envRun + "=r1", envInstance + "=1"}, {envRun + "=r1", envInstance + "=nightly" + random},
		{envRun + "=r1", envInstance + "=" + dead},
	} {
		foreign = append(foreign, marked(strings.Join(env, " "), env...))
	}
	var running []string
	check := func(all bool, gone, there []thing, kept ...string) {
		t.Helper()
		c, err := Clean(t.Context(), nil, CleanOptions{All: all})
		testenv.Check(t, err == nil, "%v", err)
		for _, th := range gone {
			testenv.Check(t, !exists(th.pid), "all %v: process %d of %s is alive", all, th.pid, th.name)
		}
		for _, th := range slices.Concat(there, foreign, []thing{mate}) {
			testenv.Check(t, exists(th.pid), "all %v: process %d of %s was killed", all, th.pid, th.name)
			for _, p := range points {
				if _, err := os.Stat(filepath.Join(p, th.name)); strings.Contains(th.name, "locbench-") && !strings.HasPrefix(th.name, envRun) && err != nil {
					t.Error(err)
				}
			}
		}
		for _, line := range c.Removed {
			if strings.HasSuffix(line, "(its locbench is running)") {
				running = append(running, line)
			}
		}
		testenv.Check(t, len(c.Removed) == len(gone) && len(c.Kept) == len(kept), "all %v: %q", all, c)
		for _, k := range kept {
			testenv.Check(t, slices.ContainsFunc(c.Kept, func(line string) bool { return strings.Contains(line, k) }),
				"all %v: %q does not say %q", all, c.Kept, k)
		}
	}
	check(false, []thing{left, below, killed}, []thing{living, far}, "is running", "another PID namespace")
	check(true, []thing{living, far}, nil)
	testenv.Equal(t, running, []string{"cgroup " + living.name + " (its locbench is running)"})
}
