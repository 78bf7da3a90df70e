package cgroup

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
	"github.com/locbench/locbench/internal/testenv"
)

var all = bench.Limits{CPUs: 1.5, Memory: 64 << 20, PIDs: 100}

// Limits are written in the form of the kernel's documentation; what is not requested is not
// written.
func TestGroup_Limits(t *testing.T) {
	v1 := files{
		"cpu/": "", "cpu/cpu.cfs_period_us": "", "cpu/cpu.cfs_quota_us": "", "cpuset.mems": "0-1\n",
		"set/": "", "set/cpuset.mems": "", "set/cpuset.cpus": "", "memory/": "", "memory/memory.limit_in_bytes": "",
		"memory/memory.memsw.limit_in_bytes": "", "pids/": "", "pids/pids.max": "",
	}
	v2 := files{"cpu.max": "", "cpuset.cpus": "", "memory.max": "", "memory.swap.max": "", "pids.max": ""}
	for name, test := range map[string]struct {
		version int
		limits  bench.Limits
		cpus    cpuset.Set
		swaps   bool
		want    files // contents that are written
	}{
		"all, v1": {1, all, cpuset.Of(0, 2), true, files{
			"cpu/cpu.cfs_period_us": "100000", "cpu/cpu.cfs_quota_us": "150000",
			"set/cpuset.mems": "0-1", "set/cpuset.cpus": "0,2",
			"memory/memory.limit_in_bytes": "67108864", "memory/memory.memsw.limit_in_bytes": "67108864",
			"pids/pids.max": "100",
		}},
		"all, v2": {2, all, cpuset.Of(0, 2), true, files{
			"cpu.max": "150000 100000", "cpuset.cpus": "0,2", "memory.max": "67108864", "memory.swap.max": "0",
			"pids.max": "100",
		}},
		"without swap, v1": {1, bench.Limits{Memory: 1}, nil, false, files{"memory/memory.limit_in_bytes": "1"}},
		"without swap, v2": {2, bench.Limits{Memory: 1}, nil, false, files{"memory.max": "1"}},
		"none, v1":         {1, bench.Limits{}, nil, true, nil},
		"none, v2":         {2, bench.Limits{}, nil, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if test.version == 1 {
				root := fake(t, v1).Root
				g := Group{dirs: files{}}
				for controller, dir := range map[string]string{
					"cpu": "cpu", "cpuset": "set", "memory": "memory", "pids": "pids",
				} {
					g.dirs[controller] = filepath.Join(root, dir)
				}
				g.limitV1(test.limits, test.cpus, test.swaps, nil)
				got := content(t, root)
				testenv.Check(t, g.missing == nil && g.noSet == nil && maps.Equal(got, with(v1, test.want)),
					"%q; %q, %v", got, g.missing, g.noSet)
				return
			}
			root := fake(t, v2).Root
			g := Group{dirs: files{"": root}}
			g.limitV2(test.limits, test.cpus, test.swaps)
			if got := content(t, root); g.missing != nil || g.noSet != nil || !maps.Equal(got, with(v2, test.want)) {
				t.Errorf("%q; %q, %v", got, g.missing, g.noSet)
			}
		})
	}
}

// A machine with v1, one with v2, and parts of them that are missing.
func TestTree_Create(t *testing.T) {
	const v1 = "30 25 0:1 / /cpu rw - cgroup cgroup rw,cpu,cpuacct\n31 25 0:2 / /set rw - cgroup cgroup rw,cpuset\n" +
		"32 25 0:3 / /memory rw - cgroup cgroup rw,memory\n33 25 0:4 / /pids rw - cgroup cgroup rw,pids\n" +
		"34 25 0:5 / /other rw - cgroup cgroup rw,freezer\n"
	machine := func(mounts, groups string) files {
		return files{"proc/self/mountinfo": mounts, "proc/self/cgroup": groups}
	}
	first := machine(v1, "1:cpu,cpuacct:/user\n2:cpuset:/\n3:memory:/user\n4:pids:/user\n5:freezer:/user\n")
	second := machine("30 25 0:1 / /top rw - cgroup2 cgroup2 rw\n", "0::/user\n")
	no := func(what string, files ...string) string {
		return what + ": the kernel has no " + strings.Join(files, "\nthe kernel has no ")
	}
	noFiles := []string{
		no("CPU quota", "cpu.cfs_period_us", "cpu.cfs_quota_us"), no("memory", "memory.limit_in_bytes"),
		no("processes", "pids.max"),
	}
	homes := files{"cpu/user/": "", "memory/user/": "", "pids/user/": "", "set/cpuset.mems": "0"}
	for name, test := range map[string]struct {
		files   files
		cpus    cpuset.Set
		made    []string // folders
		missing []string // without those about swap, which a machine need not have; nil: not looked at
		noSet   string
		err     string
	}{
		"at the top": {with(first, homes), nil, []string{"cpu/g/", "memory/g/", "pids/g/"}, noFiles, "<nil>", ""},
		"with a set": {with(first, homes), cpuset.UpTo(2), []string{"cpu/g/", "memory/g/", "pids/g/"}, noFiles,
			"the kernel has no cpuset.mems\nthe kernel has no cpuset.cpus", ""},
		"where it may": {with(first, homes, files{"cpu/g/": "", "memory/g": "a file"}), nil,
			[]string{"cpu/g/", "cpu/user/g/", "memory/user/g/", "pids/g/"}, noFiles, "<nil>", ""},
		"of some controllers": {with(first, files{"memory/user/": ""}), cpuset.UpTo(2),
			[]string{"memory/g/"}, nil,
			"controller cpuset: stat ROOT/set: no such file or directory", ""},
		"without a controller": {with(machine(v1, "1:memory:/\n"), files{"memory/": ""}), nil,
			[]string{"memory/g/"},
			[]string{"CPU quota: controller cpu: no cgroup", noFiles[1], "processes: controller pids: no cgroup"},
			"<nil>", ""},
		"without a home": {first, nil, nil, nil, "",
			"create cgroup: controller cpu: stat ROOT/cpu/user: no such file or directory"},
		"nowhere": {with(machine(v1, "1:cpu:/\n"), files{"cpu/g/": ""}), nil, []string{"cpu/g/"}, nil, "",
			"create cgroup: controller cpu: mkdir ROOT/cpu/g: file exists"},
		"without a hierarchy": {machine("", ""), nil, nil, nil, "", "create cgroup: no cgroup"},
		"without /proc": {nil, nil, nil, nil, "",
			"read mounts: open ROOT/proc/self/mountinfo: no such file or directory"},
		"v2": {with(second, files{"top/user/": "", "top/cgroup.subtree_control": ""}), cpuset.UpTo(2),
			[]string{"top/g/", "top/g/contender/"},
			[]string{no("CPU quota", "cpu.max"), no("memory", "memory.max"), no("processes", "pids.max")},
			"the kernel has no cpuset.cpus", ""},
		"v2, where it may": {with(second, files{"top/user/": "", "top/g": "a file"}), nil,
			[]string{"top/user/g/", "top/user/g/contender/"}, nil, "<nil>", ""},
		"v2, nowhere": {with(second, files{"top/user/g/": "", "top/g/": ""}), nil,
			[]string{"top/g/", "top/user/g/"}, nil, "", "create cgroup: mkdir ROOT/top/user/g: file exists"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := fake(t, test.files)
			g, err := tree.Create("g", all, test.cpus)
			var made []string
			for path := range content(t, tree.Root) {
				if strings.HasSuffix(path, "g/") || strings.HasSuffix(path, "contender/") {
					made = append(made, path)
				}
			}
			slices.Sort(made)
			text := func(err error) string { return strings.ReplaceAll(fmt.Sprint(err), tree.Root, "ROOT") }
			testenv.Need(t, slices.Equal(made, test.made) && text(err) == cmp.Or(test.err, "<nil>"),
				"%q, %v", made, err)
			if err != nil {
				return
			}
			missing := slices.DeleteFunc(g.Missing(), func(s string) bool { return strings.HasPrefix(s, "no swap: ") })
			testenv.Check(t, (test.missing == nil || slices.Equal(missing, test.missing)) && text(g.NoCPUSet()) == test.noSet,
				"missing %q, want %q; %v", g.Missing(), test.missing, g.NoCPUSet())
			_, v2 := g.FD()
			testenv.Check(t, v2 == strings.HasPrefix(name, "v2"), "FD: %t", v2)
			testenv.OK(t, g.Remove())
		})
	}
	for _, name := range []string{"", "..", "a/b", ".hidden"} {
		testenv.Check(t, testenv.Err((Tree{}).Create(name, all, nil)) != nil, "created a group called %q", name)
	}
}

func TestGroup_Enter(t *testing.T) {
	tree := fake(t, files{"home/tasks": "", "cpu/tasks": "", "memory/": ""})
	at := func(name string) string { return filepath.Join(tree.Root, name) }
	g := Group{dirs: files{"cpu": at("cpu")},
		home: files{"cpu": at("home"), "cpuset": at("home")}}
	leave, err := g.Enter()
	entered := content(t, tree.Root)
	testenv.Check(t, err == nil && entered["cpu/tasks"] == "0" && entered["home/tasks"] == "" && leave() == nil && content(t, tree.Root)["home/tasks"] == "0",
		"%q, %v", entered, err)
	g = Group{dirs: files{"memory": at("memory")}, home: files{"memory": at("none")}}
	const want = "enter cgroup: the kernel has no tasks\nthe kernel has no tasks"
	_, err = g.Enter()
	testenv.Check(t, err != nil && err.Error() == want, "%v", err)
}

func TestGroup_PIDs(t *testing.T) {
	never := func(n int) int { return 1<<22 + n } // the kernel has no higher number than 1<<22
	tree := fake(t, files{
		"g/cgroup.procs":       fmt.Sprintf("1\n0\n%d\nx\n%d\n", os.Getpid(), never(1)),
		"g/below/cgroup.procs": fmt.Sprintf("%d\n%d\n2\n", never(1), never(2)),
	})
	g := Group{dirs: files{"cpu": filepath.Join(tree.Root, "g"), "memory": filepath.Join(tree.Root, "g")}}
	got := g.PIDs()
	testenv.Check(t, slices.Equal(got, []int{never(1), never(2), 2}), "%v", got)
}

func TestGroup_Remove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tree := fake(t, files{"g/contender/below/": "", "kept/": "", "full/cgroup.kill": ""})
		testenv.OK(t, (&Group{outer: filepath.Join(tree.Root, "g"), dirs: files{"": "not looked at"}}).Remove())
		// A folder that cannot be removed; in the kernel's file system its files go with it.
		began := time.Now()
		err := (&Group{dirs: files{"": filepath.Join(tree.Root, "full")}}).Remove()
		took := time.Since(began) // 1 ms, 2 ms, … and then 50 ms between a hundred attempts
		testenv.Check(t, err != nil && strings.HasPrefix(err.Error(), "remove cgroup: ") && took == 3775*time.Millisecond, "%v after %v", err, took)
		want := files{"full/": "", "full/cgroup.kill": "1", "kept/": ""}
		got := content(t, tree.Root)
		testenv.Check(t, maps.Equal(got, want), "%q, want %q", got, want)
	})
}

// Only groups with chosen names go, and none in which this process or an ancestor is.
func TestTree_CleanLeft(t *testing.T) {
	tree := fake(t, files{
		"proc/self/mountinfo": "30 25 0:1 / /cpu rw - cgroup cgroup rw,cpu\n" +
			"31 25 0:2 / /memory rw - cgroup cgroup rw,memory\n",
		"proc/self/cgroup": "1:cpu:/lb-self/inner\n", "proc/self/status": "Name:\tx\nPPid:\t42\n",
		"proc/42/cgroup": "1:cpu:/lb-parent\n", "proc/42/status": "PPid:\t0\n", "proc/0/cgroup": "1:cpu:/lb-zero\n",
		"cpu/lb-self/inner/lb-a/": "", "cpu/lb-parent/": "", "cpu/lb-b/lb-c/": "", "cpu/kept/": "", "cpu/lb-file": "",
		"memory/lb-b/": "", "memory/lb-zero/": "",
	})
	gone, err := tree.CleanLeft(func(name string) bool { return strings.HasPrefix(name, "lb-") || name == "cpu" })
	slices.Sort(gone)
	left := content(t, tree.Root)
	maps.DeleteFunc(left, func(path, _ string) bool { return strings.HasPrefix(path, "proc") })
	want := files{
		"cpu/": "", "cpu/lb-self/": "", "cpu/lb-self/inner/": "", "cpu/lb-parent/": "", "cpu/kept/": "",
		"cpu/lb-file": "", "memory/": "",
	}
	testenv.Check(t, err == nil && reflect.DeepEqual(gone, []string{"lb-a", "lb-b", "lb-zero"}) && maps.Equal(left, want),
		"%v, %v; left %q", gone, err, left)
	testenv.Check(t, testenv.Err((Tree{Root: t.TempDir()}).CleanLeft(nil)) != nil, "no error without /proc")
	missing, noSet, err := fake(t, files{
		"proc/self/mountinfo": "30 25 0:1 / /pids rw - cgroup cgroup rw,pids\n",
		"proc/self/cgroup":    "1:pids:/\n", "pids/": "",
	}).Probe("p")
	testenv.Check(t, len(missing) == 3 && missing[2] == "processes: the kernel has no pids.max" && noSet != nil && err == nil,
		"%q, %v, %v", missing, noSet, err)
	_, _, err = (Tree{Root: t.TempDir()}).Probe("p")
	testenv.Check(t, err != nil, "no error without /proc")
}

// BenchmarkSamplingThreads is a reading of 300 threads, of which some have run since the last one: CPU time for each.
// One a second may take 3 ms, 0.3% of a CPU.
func BenchmarkSamplingThreads(b *testing.B) {
	wake, ids := make(chan bool), make(chan int)
	defer close(wake)
	var all []int
	for range 300 {
		go func() {
			runtime.LockOSThread()
			for ok := true; ok; ok = <-wake {
				ids <- syscall.Gettid()
			}
		}()
		all = append(all, <-ids)
	}
	used := func() time.Duration {
		var r syscall.Rusage
		testenv.OK(b, syscall.Getrusage(unix.RUSAGE_THREAD, &r))
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	for _, ran := range []int{0, 30, 300} {
		b.Run(strconv.Itoa(ran)+"-ran", func(b *testing.B) {
			runtime.LockOSThread() // its CPU time is that of the readings
			defer runtime.UnlockOSThread()
			threads, took := &threadTimes{}, time.Duration(0)
			defer threads.close()
			var u bench.Usage
			threads.read(&u, all) // the first reading opens the files
			for b.Loop() {
				for range ran {
					wake <- true
					<-ids
				}
				before := used()
				threads.read(&u, all)
				took += used() - before
				testenv.Equal(b, len(u.ThreadCPU), len(all))
			}
			b.ReportMetric(float64(took)/float64(b.N)/1e3, "CPU-us/reading")
			b.ReportMetric(0, "ns/op")
		})
	}
}
